"""The arithmetic of the public worked examples: profiles with their quantities must give their figures."""
import json

from bounds import analyze
from harness import check, equal, test
from made import Kernel, spread

US = 1000


def bound(report, name):
    return next(b for b in report["scopes"][0]["bounds"] if b["name"] == name)


def finding(report, name):
    return next(f for f in report["findings"] if f["name"] == name)


def figure(found, name):
    return next(f["value"] for f in found["figures"] if f["name"] == name)


def rows(found, table):
    return next((t["rows"] for t in found["tables"] if t["name"] == table), [])


def blocked_matmul(c, data, name, total, dma, tensor, vector, moved):
    """C = A B, 4096 x 4096 x 4096 in bf16; `moved` lists (tensor, transfers, bytes of each, partitions)."""
    kernel = Kernel()
    for tensor_name, kind in (("input0", "IN"), ("input1", "IN"), ("output0", "OUT")):
        kernel.tensor(tensor_name, kind, 4096 * 4096 * 2)
    todo = [(t, size) for t, count, size in moved for _ in range(count)]
    for (start, length), (t, size) in zip(spread(len(todo), dma * US, total * US), todo):
        ends = ("[[INPUT]]", "[SB]") if t != "output0" else ("[[SB]]", "[OUTPUT]")
        kernel.transfer(start, length, size, *ends, variable=t, line="matmul.py:%d" % {"input0": 20, "input1": 21, "output0": 30}[t])
    for start, length in spread(8192, tensor * US, total * US):
        kernel.matmul(start, length, line="matmul.py:25")
    for start, length in spread(256, vector * US, total * US):
        kernel.run("Vector", "COPY", start, length, "matmul.py:28")
    kernel.write(c, data, name)
    return analyze(c, data, name)


V0 = [("input0", 8192, 131072), ("input1", 3068, 32768), ("output0", 255, 131072)]
HALVED = [("input0", 1024, 131072), ("input1", 1024, 32768), ("output0", 256, 131072)]


@test
def blocked_matmul_v0_v1_v2(c):
    data = c.folder("data")
    reports = {
        "V0": blocked_matmul(c, data, "V0", 8602, 7906, 4806, 176, V0),
        "V1": blocked_matmul(c, data, "V1", 2451, 1325, 2163, 174, HALVED),
        "V2": blocked_matmul(c, data, "V2", 1801, 819, 1781, 172, HALVED),
    }
    published = {  # microseconds
        "total_time": (8602, 2451, 1801),
        "memory_bound": (7906, 1325, 819),
        "memory_bound_ideal": (2776, 463, 463),
        "memory_bound_ideal_no_reloads": (231, 231, 231),
        "compute_bound": (4806, 2163, 1781),
        "compute_bound_ideal_flops": (1748, 1748, 1748),
        "compute_bound_ideal_useful_flops": (1748, 1748, 1748),
        "perfect_pipeline": (7906, 2163, 1781),
    }
    gaps = {  # microseconds, percent of total
        "memory_bound": ((696, 8.1), (1126, 46.0), (982, 54.5)),
        "memory_bound_ideal": ((5130, 59.6), (862, 35.2), (356, 19.8)),
        "memory_bound_ideal_no_reloads": ((2545, 29.6), (231, None), (231, None)),
        "compute_bound": ((3796, 44.1), (288, 11.8), (20, 1.1)),
        "compute_bound_ideal_flops": ((3058, 35.6), (416, 17.0), (33, 1.8)),
        "compute_bound_ideal_useful_flops": ((0, 0.0), (0, 0.0), (0, 0.0)),
    }
    for at, version in enumerate(("V0", "V1", "V2")):
        report = reports[version]
        equal(report["window"]["total_ns"], published["total_time"][at] * US, version + ": total time")
        for name, values in published.items():
            if name != "total_time":
                equal(round(bound(report, name)["ns"] / US), values[at], "%s: %s" % (version, name))
        for name, values in gaps.items():
            found, (us, percent) = bound(report, name), values[at]
            check(abs(found["gap_ns"] / US - us) <= 1, "%s: gap of %s" % (version, name), found)
            if percent is not None:
                check(abs(100 * found["gap_share"] - percent) < 0.06, "%s: share of the gap of %s" % (version, name), found)
        equal(report["scopes"][0]["bottleneck"], ("DMA", "Tensor", "Tensor")[at], version + ": bottleneck")
    equal(round(bound(reports["V0"], "memory_bound_ideal_no_reloads")["speedup"], 2), 1.79, "V0: speed-up")


@test
def blocked_matmul_v0_reloads(c):
    data = c.folder("data")
    found = finding(blocked_matmul(c, data, "V0", 8602, 7906, 4806, 176, V0), "dma_redundant")
    equal(figure(found, "transferred"), 1207697408, "transferred bytes")
    equal(figure(found, "necessary"), 100663296, "necessary bytes")
    equal(figure(found, "excess"), 1107034112, "excess bytes")
    equal(round(figure(found, "excess_ratio"), 1), 12.0, "excess ratio")
    equal(figure(found, "input_reloads"), 1107165184, "reloaded bytes")
    equal(figure(found, "spill_reloads"), 0, "spills")
    tensors = {r["variable"]: r for r in rows(found, "tensors")}
    equal([round(tensors[t]["repeat"], 1) for t in ("input0", "input1", "output0")], [32.0, 3.0, 1.0], "repeats")
    equal([tensors[t]["again"] for t in ("input0", "input1", "output0")], [True, True, False], "what was loaded again")
    loads = rows(found, "loads")
    equal([(r["line"], r["variable"], r["transfers"]) for r in loads],
          [("matmul.py:20", "input0", 8192), ("matmul.py:21", "input1", 3068)], "lines that load")


@test
def rates_of_the_blocked_matmul(c):
    data = c.folder("data")
    v1 = blocked_matmul(c, data, "V1", 2451, 1325, 2163, 174, HALVED)
    v2 = blocked_matmul(c, data, "V2", 1801, 819, 1781, 172, HALVED)
    equal(round(figure(finding(v1, "dma_efficiency"), "achieved") / 1e9, 1), 151.9, "V1: GB/s")
    equal(round(figure(finding(v2, "dma_efficiency"), "achieved") / 1e9, 1), 245.8, "V2: GB/s")
    tiles = finding(v1, "tensor_efficiency")
    equal(round(figure(tiles, "achieved") / 1e12, 1), 63.5, "V1: TFLOP/s")
    equal(round(figure(tiles, "used"), 2), 0.81, "V1: of peak")
    equal([(r["line"], r["tiles"], r["k"], r["m"], r["n"], r["small"]) for r in rows(tiles, "lines")],
          [("matmul.py:25", 8192, 128, 128, 512, "none")], "V1: tiles")
    equal(finding(v2, "tensor_efficiency")["outcome"], "nothing", "V2 is near its peak")


@test
def mixed_tiles(c):
    data = c.folder("data")
    kernel = Kernel()
    sections = [(30, 128, 32, 512), (35, 128, 128, 64), (40, 32, 128, 512), (45, 128, 128, 512)]
    todo = [s for s in sections for _ in range(512)]
    kernel.packet(0, 1000, 131072)
    for (start, length), (line, k, m, n) in zip(spread(2048, 453000, 460000, 1000), todo):
        kernel.matmul(start, length, k, m, n, line="v0_mixed_tiles.py:%d" % line)
    kernel.packet(461000, 1000, 131072)
    kernel.tensor("out", "OUT", 262144)
    kernel.write(c, data, "mixed")
    found = finding(analyze(c, data, "mixed"), "tensor_efficiency")
    equal(round(figure(found, "achieved") / 1e12, 1), 30.8, "TFLOP/s")
    equal(round(100 * figure(found, "used")), 39, "percent of peak")
    lines = {r["line"]: r for r in rows(found, "lines")}
    equal({line: (round(100 * r["share"]), r["tiles"], r["small"]) for line, r in lines.items()},
          {"v0_mixed_tiles.py:30": (15, 512, "M"), "v0_mixed_tiles.py:35": (8, 512, "N"),
           "v0_mixed_tiles.py:40": (15, 512, "K"), "v0_mixed_tiles.py:45": (62, 512, "none")}, "the four lines")
    equal((lines["v0_mixed_tiles.py:30"]["m"], lines["v0_mixed_tiles.py:35"]["n"], lines["v0_mixed_tiles.py:40"]["k"]),
          (32, 64, 32), "the small sizes")


@test
def transposes(c):
    data = c.folder("data")
    kernel = Kernel()
    for i, (start, length) in enumerate(spread(2048, 503 * US, 802 * US)):
        if i % 2:
            kernel.matmul(start, length, n=512, line="v0_with_transpose.py:40")
        else:
            kernel.matmul(start, length, n=128, kind="TRANSPOSE", flops=128**3, line="v0_with_transpose.py:34")
    kernel.packet(0, 1000, 131072)
    kernel.packet(801 * US, 1000, 131072)
    kernel.write(c, data, "turned")
    report = analyze(c, data, "turned")
    found = finding(report, "tensor_transposes")
    equal(round(figure(found, "flops") / 1e9, 2), 19.33, "GFLOP")
    equal(round(figure(found, "transpose_flops") / 1e9, 2), 2.15, "GFLOP of transposes")
    equal(round(100 * figure(found, "transpose_share"), 1), 11.1, "percent of FLOPs")
    equal(round(figure(found, "transposes_at_peak") / US, 1), 27.3, "us at peak")
    equal([(r["line"], r["transposes"], round(r["at_peak"] / US, 1), r["share"]) for r in rows(found, "lines")],
          [("v0_with_transpose.py:34", 1024, 27.3, 1)], "the line that transposes")
    equal([round(bound(report, n)["ns"] / US) for n in ("compute_bound", "compute_bound_ideal_flops", "compute_bound_ideal_useful_flops")],
          [503, 246, 218], "bounds")


@test
def mixed_dge(c):
    """50 % of the bytes are of transfers that DmaPacketAggregated knows."""
    data = c.folder("data")
    kernel = Kernel()
    known = [(21, "read", 131072, 128), (22, "write", 131072, 128), (35, "read", 131072, 128), (36, "write", 131072, 128), (51, "write", 4096, 16)]
    todo = [k for k in known for _ in range(4)] + [None] * 16
    for (start, length), what in zip(spread(len(todo), 16447, 20000), todo):
        if what:
            line, op, size, partitions = what
            ends = ("[[INPUT]]", "[SB]", "input0") if op == "read" else ("[[SB]]", "[OUTPUT]", "output0")
            kernel.transfer(start, length, size, ends[0], ends[1], ends[2], partitions, "dge_mixed.py:%d" % line)
        else:
            kernel.packet(start, length, 134144, "software_dynamic")
    kernel.write(c, data, "dge")
    report = analyze(c, data, "dge")
    found = finding(report, "dma_efficiency")
    equal(found["outcome"], "found", "outcome")
    equal(round(figure(found, "achieved") / 1e9), 259, "GB/s")
    equal(figure(found, "peak"), 435e9, "peak")
    equal([round(bound(report, n)["ns"] / US) for n in ("memory_bound", "memory_bound_ideal")], [16, 10], "bounds")
    equal(round(figure(found, "efficiency_gap") / US), 7, "gap")
    equal(round(100 * figure(found, "coverage")), 50, "percent covered")
    check(any("covers 49.6 %" in m for m in found["missing"]), "it says how much it lacks", found["missing"])
    equal({r["line"]: (r["transfers"], round(100 * r["share"], 1), r["shape"]) for r in rows(found, "lines")},
          dict({"dge_mixed.py:%d" % n: (4, 12.3, "128x1024B") for n in (21, 22, 35, 36)}, **{"dge_mixed.py:51": (4, 0.4, "16x256B")}),
          "lines")
