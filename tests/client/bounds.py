"""The bounds of `analyze`, computed a second time by pandas straight from the Parquet files.

Nothing here is shared with the program but the definitions (docs/analysis.md).
Integer arithmetic throughout; equality is to the nanosecond.
"""
import json, os

import pandas

from harness import Skip, check, equal, test

ENGINES = ["Tensor", "Vector", "Scalar", "GpSimd"]


def union(rows, t0, t1):
    """Nanoseconds of [t0, t1) that at least one row covers."""
    total, reach = 0, t0
    for start, end in sorted(zip(rows["start_ts"].tolist(), rows["end_ts"].tolist())):
        start, end = max(start, reach), min(end, t1)
        if end > start:
            total += end - start
            reach = end
    return total


def at_peak(amount, peak):
    """Whole nanoseconds, rounded half up, of an exact fraction."""
    amount, peak = int(amount), int(peak)
    return (2 * amount * 10**9 + peak) // (2 * peak)


class Tables:
    def __init__(self, data, name):
        self.folder = os.path.join(data, "profiles", "global", name + "@latest")

    def __getattr__(self, table):
        path = os.path.join(self.folder, table + ".parquet")
        frame = pandas.read_parquet(path) if os.path.exists(path) else None
        setattr(self, table, frame)
        return frame


def expected(t, t0, t1, core):
    """Bounds of one core, or of all (None), of the window [t0, t1)."""
    meta = t.Metadata.iloc[0]
    cores = int(meta.num_physical_cores)
    peaks = cores if core is None else 1

    def own(frame):
        return frame if core is None else frame[frame.pcore_idx == core]

    dma = own(t.DmaPacket)
    kernel = dma[(dma.queue_type != "instruction") & (dma.transfer_bytes > 4) & (dma.start_ts >= t0) & (dma.start_ts < t1)]
    work = own(t.ActiveTime)
    active = {e: union(work[work.engine == e.lower()], t0, t1) for e in ENGINES}
    active["DMA"] = union(dma, t0, t1)
    run = own(t.Instruction)
    matmul = run[(run.engine == "Tensor") & (run.opcode == "MATMUL") & (run.start_ts >= t0) & (run.start_ts < t1)]
    flops = int(matmul.adjusted_flops.fillna(0).sum())
    turned = int(matmul[matmul.tensor_instruction_type == "TRANSPOSE"].adjusted_flops.fillna(0).sum())
    needed = int(t.TensorInfo[t.TensorInfo.type.isin(["IN", "OUT"])]["size"].sum())
    tensor_peak = round(meta.tensor_engine_num_rows * meta.tensor_engine_num_cols * 2 * meta.tensor_engine_clock_freq * 1e9)
    dma_peak = round(meta.dma_ddr_bandwidth)
    slowest = max(active, key=lambda e: active[e])
    return {
        "total": t1 - t0,
        "active": active,
        "bottleneck": slowest,
        "memory_bound": active["DMA"],
        "memory_bound_ideal": at_peak(kernel.transfer_bytes.sum(), peaks * dma_peak),
        "memory_bound_ideal_no_reloads": at_peak(needed, peaks * dma_peak) if core is None or cores == 1 else None,
        "compute_bound": active["Tensor"],
        "compute_bound_ideal_flops": at_peak(flops, peaks * tensor_peak),
        "compute_bound_ideal_useful_flops": at_peak(flops - turned, peaks * tensor_peak),
        "perfect_pipeline": active[slowest],
    }


def compare(report, t, t0, t1, where):
    equal((report["window"]["t0"], report["window"]["t1"]), (t0, t1), "%s: window" % where)
    cores = int(t.Metadata.iloc[0].num_physical_cores)
    equal([s["core"] for s in report["scopes"]], [None] + (list(range(cores)) if cores > 1 else []), "%s: scopes" % where)
    for scope in report["scopes"]:
        want, place = expected(t, t0, t1, scope["core"]), "%s, core %s" % (where, scope["core"])
        equal(scope["quantities"]["total_ns"], want["total"], place + ": total")
        equal({e["engine"]: e["active_ns"] for e in scope["engines"]}, want["active"], place + ": engines")
        if max(want["active"].values()) > 0:
            equal(scope["bottleneck"], want["bottleneck"], place + ": bottleneck")
        previous = {}
        for bound in scope["bounds"]:
            equal(bound["ns"], want[bound["name"]], "%s: %s" % (place, bound["name"]))
            before = previous.get(bound["family"], want["total"])
            if bound["ns"] is not None:
                equal(bound["gap_ns"], before - bound["ns"], "%s: gap of %s" % (place, bound["name"]))
            previous[bound["family"]] = bound["ns"]


def first_to_last(t):
    kernel = t.DmaPacket[(t.DmaPacket.queue_type != "instruction") & (t.DmaPacket.transfer_bytes > 4)]
    return int(kernel.start_ts.min()), int(kernel.end_ts.max())


def windows(t):
    """Options of `analyze`, and the window that they mean."""
    t0, t1 = first_to_last(t)
    meta = t.Metadata.iloc[0]
    start, end = int(meta.first_hw_timestamp), int(meta.last_hw_timestamp)
    third = (t1 - t0) // 3
    inside = int(t.DmaPacket.start_ts.median()) + 1  # an edge that most likely cuts packets
    return [
        ([], (t0, t1)),
        (["--window", "first-dma:last-dma"], (t0, t1)),
        (["--window", "start:end"], (start, end)),
        (["--window", "%d:%d" % (t0 + third, t0 + 2 * third)], (t0 + third, t0 + 2 * third)),
        (["--window", "first-dma:%d" % inside], (t0, inside)),
        (["--window", "%d:end" % inside], (inside, end)),
    ]


def analyze(c, data, name, *options):
    result = c.run("analyze", name, "--data-path", data, "--format", "json", *options)
    equal(result.status, 0, "analyze %s %s: %s" % (name, options, result))
    return json.loads(result.out)


@test
def the_bounds_of_real_profiles_are_those_of_pandas(c):
    data = c.folder("data")
    for name in c.profiles():
        c.ingested(data, name, *c.pair(name))
        t = Tables(data, name)
        for options, (t0, t1) in windows(t):
            compare(analyze(c, data, name, *options), t, t0, t1, "%s %s" % (name, " ".join(options)))


@test
def the_bounds_of_a_generated_profile_are_those_of_pandas(c):
    data = c.folder("data")
    neff, ntff, _ = c.sample("--seed", "7")
    c.ingested(data, "made", neff, ntff)
    t = Tables(data, "made")
    for options, (t0, t1) in windows(t):
        compare(analyze(c, data, "made", *options), t, t0, t1, "made %s" % " ".join(options))
