"""Each investigation on a kernel that exhibits what it looks for and on one that does not; profiles that lack tables."""
from bounds import analyze
from harness import check, equal, test
from made import Kernel
from worked_examples import bound, figure, finding, rows

MB = 1 << 20


def made(c, data, name, build, cores=1, **how):
    kernel = Kernel(cores)
    build(kernel)
    kernel.write(c, data, name, **how)
    return analyze(c, data, name)


def full_rate(kernel, start, count):
    """Back-to-back loads at the peak of 435 bytes a nanosecond, 8 KiB descriptors."""
    for i in range(count):
        kernel.transfer(start + i * 2411, 2411, MB, "[[INPUT]]", "[SB]", "in%d" % i, line="load.py:1")
        kernel.tensor("in%d" % i, "IN", MB)
    return start + count * 2411


def both(c, name, build_bad, build_good):
    """The investigation's finding on a kernel that has it; on one that has not it must say so."""
    data = c.folder("data")
    good = finding(made(c, data, "good", build_good), name)
    equal(good["outcome"], "nothing", "%s on a kernel without it (%s)" % (name, good["headline"]))
    check(good["headline"] != "", "it says that it found nothing")
    equal((good["cost_ns"], good["leverage_ns"]), (None, 0), "nothing costs nothing")
    report = made(c, data, "bad", build_bad)
    bad = finding(report, name)
    equal(bad["outcome"], "found", "%s on a kernel with it (%s)" % (name, bad["headline"]))
    for statement in bad["statements"]:
        check(statement in analyze(c, data, "bad", "--show-sql")["sql"], "the evidence is shown: %s" % statement)
    return report, bad


@test
def dma_idle(c):
    def bad(k):
        """Three transfers; the second's trigger waited for Vector, the third's for nothing that is recorded."""
        k.transfer(100, 1000, MB, "[[INPUT]]", "[SB]", "a", line="k.py:5")
        vector = k.run("Vector", "COPY", 1100, 2900, "k.py:6")
        _, trigger = k.transfer(4100, 1000, MB, "[[INPUT]]", "[SB]", "b", line="k.py:7")
        k.flow("Instruction", vector, "Instruction", trigger, "FLOW_DEPENDENCE", 4090 - 4000)
        k.transfer(5600, 1000, MB, "[[INPUT]]", "[SB]", "c", line="k.py:8", engine="GpSimd")

    _, found = both(c, "dma_idle", bad, lambda k: full_rate(k, 100, 10))
    equal(found["cost_ns"], 3000 + 500, "idle time")
    equal([(r["starter"], r["who"], r["line"], r["ns"]) for r in rows(found, "pauses")],
          [("Sync", "Vector", "k.py:7", 3000), ("GpSimd", None, "k.py:8", 500)], "what ended the pauses")


@test
def dma_efficiency(c):
    def bad(k):
        for i in range(20):  # 64 KiB in descriptors of 512 bytes
            k.transfer(100 + i * 500, 500, 65536, "[[INPUT]]", "[SB]", "in", line="small.py:3")
        k.tensor("in", "IN", 20 * 65536)
        full_rate(k, 10100, 1)

    report, found = both(c, "dma_efficiency", bad, lambda k: full_rate(k, 100, 10))
    lines = {r["line"]: r for r in rows(found, "lines")}
    equal((lines["small.py:3"]["descriptor_bytes"], lines["load.py:1"]["descriptor_bytes"]), (512, 8192), "descriptors")
    equal(round(figure(found, "below_4_KiB"), 4), round(20 * 65536 / (20 * 65536 + MB), 4), "share of small descriptors")
    equal({r["size"]: r["packets"] for r in rows(found, "packet_sizes")}, {"65536 to 131071": 20, "1048576 to 2097151": 1}, "histogram")
    equal([r["queue_type"] for r in rows(found, "queue_types")], ["hardware_dynamic"], "who made the packets")
    equal(found["name"], report["findings"][0]["name"], "it comes first: DMA is the bottleneck")


@test
def redundant_loads_and_spills(c):
    def bad(k):
        at = 0
        for i in range(6):
            k.transfer(100 + at, 2411, MB, "[[INPUT]]", "[SB]", "a", line="again.py:9")
            at += 2411
        for i in range(2):
            k.transfer(100 + at, 2411, MB, "[[SB]]", "[VIRTUAL]", "spill_1", line="make.py:2")
            k.transfer(100 + at + 2411, 2411, MB, "[[VIRTUAL]]", "[SB]", "spill_1", line="make.py:2")
            at += 4822
        k.transfer(100 + at, 2411, MB, "[[SB]]", "[OUTPUT]", "out", line="store.py:1")
        k.tensor("a", "IN", MB)
        k.tensor("out", "OUT", MB)

    _, found = both(c, "dma_redundant", bad, lambda k: full_rate(k, 100, 10))
    equal(round(figure(found, "excess_ratio"), 2), 5.5, "excess")
    equal((figure(found, "input_reloads"), figure(found, "spill_reloads"), figure(found, "spill_cost")), (5 * MB, 2 * MB, 4 * MB), "parts")
    equal([(r["variable"], r["repeat"], r["again"]) for r in rows(found, "tensors") if r["again"]], [("a", 6, True)], "tensors")
    equal([(r["line"], r["variable"], r["transfers"]) for r in rows(found, "loads")], [("again.py:9", "a", 6)], "lines that load")
    equal([(r["line"], r["cost"], r["share"]) for r in rows(found, "spills")], [("make.py:2", 4 * MB, 1)], "lines that spill")


def tensor_at_work(kernel, start, count, **how):
    """MATMULs at 98 % of the peak rate, one after the other."""
    for i in range(count):
        kernel.matmul(start + i * 218, 218, **dict(dict(line="mm.py:4"), **how))
    return start + count * 218


@test
def tensor_idle(c):
    def bad(k):
        number, _ = k.transfer(0, 6000, MB, "[[INPUT]]", "[SB]", "a", line="k.py:1")
        tensor_at_work(k, 0, 10)
        waited = k.matmul(6100, 218, line="late.py:8")
        k.flow("DmaPacketAggregated", number, "Instruction", waited, "FLOW_DEPENDENCE", 100)
        vector = k.run("Vector", "COPY", 6500, 400, "v.py:2")
        again = k.matmul(7000, 218, line="late.py:9")
        k.flow("Instruction", vector, "Instruction", again, "FLOW_DEPENDENCE", 100)
        unlinked = k.matmul(8000, 218, line="late.py:10")
        k.flow("Instruction", vector, "Instruction", unlinked, "FLOW_DEPENDENCE", 1100)  # was finished before the pause
        k.packet(8218, 100, 4096)

    def good(k):
        k.packet(100, 100, 4096)
        k.packet(tensor_at_work(k, 100, 50) - 100, 100, 4096)

    _, found = both(c, "tensor_idle", bad, good)
    ended = {r["who"]: (r["pauses"], r["ns"]) for r in rows(found, "ended_by")}
    equal(ended, {"DMA": (1, 6100 - 2180), "Vector": (1, 7000 - 6318), "nothing linked": (1, 8000 - 7218),
                  "(after its last instruction)": (1, 8318 - 8218)}, "what ended the pauses")
    equal([(r["line"], r["who"]) for r in rows(found, "lines")],
          [("late.py:8", "DMA"), ("late.py:10", "nothing linked"), ("late.py:9", "Vector")], "lines that waited")
    check("DMA" in found["headline"], "the headline names the main cause", found["headline"])


@test
def a_wait_of_its_own_does_not_hide_what_it_waited_for(c):
    def build(k):
        number, _ = k.transfer(0, 6000, MB, "[[INPUT]]", "[SB]", "a")
        tensor_at_work(k, 0, 10)
        wait = k.run("Tensor", "EVENT_SEMAPHORE", 5900, 150)  # from before the transfer's end to after it
        first = k.matmul(6100, 218)
        k.flow("DmaPacketAggregated", number, "Instruction", wait, "SEMAPHORE", 5900 - 6000)
        k.flow("Instruction", wait, "Instruction", first, "ORDERED", 50)
        k.packet(6318, 100, 4096)

    found = finding(made(c, c.folder("data"), "waits", build), "tensor_idle")
    check({"DMA": 6100 - 2180}.items() <= {r["who"]: r["ns"] for r in rows(found, "ended_by")}.items(), "DMA ended the pause", found)


@test
def tensor_efficiency(c):
    def bad(k):
        k.packet(0, 100, 4096)
        end = tensor_at_work(k, 0, 10)
        end = tensor_at_work(k, end, 10, k=32, line="thin.py:7")
        k.packet(end - 100, 100, 4096)
        k.add("Throttle", timestamp=0, duration=end // 2, k=4, n=8, type="activity_1", pcore_idx=0)

    def good(k):
        k.packet(0, 100, 4096)
        k.packet(tensor_at_work(k, 0, 20) - 100, 100, 4096)

    _, found = both(c, "tensor_efficiency", bad, good)
    equal({r["line"]: (r["k"], r["small"]) for r in rows(found, "lines")}, {"mm.py:4": (128, "none"), "thin.py:7": (32, "K")}, "lines")
    equal((figure(found, "tiles_below_K_or_M"), figure(found, "throttled"), figure(found, "taken_by_throttling")), (0.5, 0.5, 0.25), "figures")


@test
def tensor_transposes(c):
    def bad(k):
        k.packet(0, 100, 4096)
        end = tensor_at_work(k, 0, 10)
        end = tensor_at_work(k, end, 5, n=128, kind="TRANSPOSE", line="turn.py:6")
        k.packet(end - 100, 100, 4096)

    def good(k):
        k.packet(0, 100, 4096)
        k.packet(tensor_at_work(k, 0, 20) - 100, 100, 4096)

    _, found = both(c, "tensor_transposes", bad, good)
    equal([(r["line"], r["transposes"]) for r in rows(found, "lines")], [("turn.py:6", 5)], "lines")


@test
def another_engine_is_the_slowest(c):
    def bad(k):
        """Vector runs at half an element a cycle and waits for Scalar; 0.96 GHz."""
        k.packet(0, 100, 4096)
        k.run("Vector", "TENSOR_TENSOR", 0, 2000, "v.py:1", sbuf_write_bytes=1920, sbuf_read_bytes=3840,
              operands="op=ADD src0=bf16@0x0[1,1,1][960,1,1] src1=bf16@0x0[1,1,1][960,1,1] dst=bf16@0x0[1,1,1][960,1,1] channels=128")
        scalar = k.run("Scalar", "ACTIVATE", 2000, 900, "s.py:1")
        late = k.run("Vector", "COPY", 3000, 2000, "v.py:2", sbuf_write_bytes=7680, sbuf_read_bytes=7680,
                     operands="src=fp32@0x0[1,1,1][1920,1,1] dst=fp32@0x0[1,1,1][1920,1,1] channels=128")
        k.flow("Instruction", scalar, "Instruction", late, "FLOW_DEPENDENCE", 100)
        k.packet(4900, 100, 4096)

    _, found = both(c, "other_engine", bad, lambda k: full_rate(k, 100, 10))
    equal(found["engine"], "Vector", "engine")
    work = {r["line"]: (r["opcode"], r["dtype"], round(r["elements_per_cycle"], 3)) for r in rows(found, "work")}
    equal(work, {"v.py:1": ("TENSOR_TENSOR", "bf16", 0.5), "v.py:2": ("COPY", "fp32", 1.0)}, "work by line")
    equal([(r["line"], r["who"], r["ns"]) for r in rows(found, "lines")], [("v.py:2", "Scalar", 1000)], "its pauses")


# ---------------------------------------------------------------- what is missing

def everything(k):
    k.tensor("a", "IN", MB)
    number, _ = k.transfer(100, 6000, MB, "[[INPUT]]", "[SB]", "a", line="k.py:1")
    k.transfer(6100, 6000, MB, "[[INPUT]]", "[SB]", "a", line="k.py:1")
    tensor_at_work(k, 100, 10, n=256)
    waited = k.matmul(7100, 218, line="late.py:8")
    k.flow("DmaPacketAggregated", number, "Instruction", waited, "FLOW_DEPENDENCE", 1000)
    k.add("Throttle", timestamp=0, duration=50, k=4, n=8, type="activity_1", pcore_idx=0)


@test
def what_is_missing_is_said_and_the_rest_is_told(c):
    data = c.folder("data")
    whole = made(c, data, "whole", everything)
    for table, name, word in (("DmaPacketAggregated", "dma_redundant", "DmaPacketAggregated"), ("Flow", "tensor_idle", "Flow"),
                              ("Throttle", "tensor_efficiency", "Throttle"), ("TensorInfo", "dma_redundant", "TensorInfo"),
                              ("DmaPacket", "dma_efficiency", "DmaPacket"), ("Instruction", "tensor_efficiency", "Instruction"),
                              ("ActiveTime", "tensor_idle", "ActiveTime")):
        report = made(c, data, "no" + table, everything, without=(table,))
        lacking = finding(report, name)
        check(any(word in m for m in lacking["missing"]), "without %s, %s says so" % (table, name), lacking)
        check(table in report["absent_tables"] or table == "Throttle", "%s is listed as absent" % table, report["absent_tables"])
        unknown = {"DmaPacket": ("memory_bound", "memory_bound_ideal"), "TensorInfo": ("memory_bound_ideal_no_reloads",),
                   "Instruction": ("compute_bound_ideal_flops", "compute_bound_ideal_useful_flops"), "ActiveTime": ("compute_bound",)}.get(table, ())
        for b in whole["scopes"][0]["bounds"]:
            if b["name"] in unknown:
                equal(bound(report, b["name"])["ns"], None, "without %s: %s" % (table, b["name"]))
            elif b["name"] != "perfect_pipeline" and table != "DmaPacket":
                equal(bound(report, b["name"])["ns"], b["ns"], "without %s: %s" % (table, b["name"]))
        for format in ("text", "markdown"):
            result = c.run("analyze", "no" + table, "--data-path", data, "--format", format)
            equal(result.status, 0, "%s without %s: %s" % (format, table, result))


@test
def without_source_lines_all_but_the_lines_is_told(c):
    data = c.folder("data")

    def build(k):
        everything(k)
        for row in k.rows["Instruction"]:
            row["bir_debug_info_source_location"] = None

    report = made(c, data, "nolines", build)
    for name in ("dma_efficiency", "tensor_idle"):
        found = finding(report, name)
        check(any("source lines" in m for m in found["missing"]), "%s says that lines are missing" % name, found["missing"])
    equal([r["variable"] for r in rows(finding(report, "dma_efficiency"), "lines")], ["a"], "transfers are shown all the same")


@test
def the_shown_sql_can_be_run_again(c):
    """By `query`, which is the same path as any user's, and by DuckDB itself over the files."""
    data = c.folder("data")
    report = made(c, data, "whole", everything, without=("Throttle",))
    for name, sql in analyze(c, data, "whole", "--show-sql")["sql"].items():
        result = c.run("query", "whole", sql, "--data-path", data, "--format", "json")
        equal(result.status, 0, "%s: %s" % (name, result))
    check(len(report["findings"]) == 7, "all investigations are there")
