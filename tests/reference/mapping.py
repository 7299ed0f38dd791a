"""The reference's export, in the names of the profile schema.

The export is of an older release of the closed tool: other names of tables and
fields, zeros and absent values left out, numbers of NEFF fields as text.  Each
function here makes rows of one table of the schema out of it.  What the schema
has no place for is in NO_COLUMN.
"""
import re

CORES = {"sg%02d" % i: i for i in range(64)}
ENGINES = {"TensorMatrix": "Tensor"}  # a track of its own, the same engine

NO_COLUMN = {
    "instruction": ["fully_qualified_subgraph", "is_psum_read_sbuf_write"],
    "dma": ["source", "dest", "op", "semaphore_id (of single packets)", "duplicate", "is_cc_dma"],
    "dma_queues_info": ["q_event_id"],
    "metadata": ["is_ext", "data_version", "num_subgraphs", "total_point_count"],
    "model_info": ["dma_queue_count, event_count, trace_count, neuroncore_cycle_count of one core"],
    "summary": ["nc_idx (a sum over cores)", "profiler_version (another program)"],
    "layer_summary": ["duration (end - start)"],
    "profile_info, terminology, summary_groups, summary_group_order": ["texts of the page, not of the profile"],
}


def fold(text):
    return " ".join(text.split()) if text else None


def integer(text):
    return int(text) if text not in (None, "") else None


def nonzero(number):
    return number or None


def told(text, filler):
    """NULL where the reference prints a word of its own for "the files do not say": ours has no value there."""
    return None if text in (filler, "") else text


# ------------------------------------------------------------------ Instruction and Flow
INSTRUCTION_KEY = ("pcore_idx", "engine", "pc", "start_ts")
BYTES = ("hbm_read_bytes", "hbm_write_bytes", "sbuf_read_bytes", "sbuf_write_bytes", "psum_read_bytes",
         "psum_write_bytes", "psum_read_sbuf_write_bytes")
QUEUE_BYTES = ("spill_save_bytes", "spill_reload_bytes", "input_queue_bytes", "output_queue_bytes",
               "weight_queue_bytes")
INSTRUCTION_FIELDS = (
    "end_ts", "duration_ns", "timeline_track", "opcode", "operands", "compiler_opcode", "compiler_operands",
    "compiler_pc", "penguin_id", "raw_penguin_id", "bir_id", "raw_bir_id", "bir_instruction_name", "crc_in",
    "crc_out", "evt_wait_time_ns", "hlo_attrs", "hlo_name", "layer", "tensor_instruction_type",
    "tensor_elements", "scalar_activation_fn") + BYTES + QUEUE_BYTES


def instruction(row):
    compiled = bool(row["raw_bir_id"])
    mapped = {
        "id": row["id"], "pcore_idx": CORES[row["subgraph"]], "engine": ENGINES.get(row["label"], row["label"]),
        "timeline_track": row["label"], "pc": row["pc"], "start_ts": row["timestamp"],
        "end_ts": row["timestamp"] + row["duration"], "duration_ns": row["duration"], "opcode": row["opcode"],
        "operands": fold(row["operands"]), "compiler_opcode": row.get("compiler_opcode"),
        "compiler_operands": fold(row.get("compiler_operands")),
        # zero is left out; only rows that the compiler made have one
        "compiler_pc": row.get("compiler_pc", 0 if compiled else None),
        "penguin_id": row["penguin_id"], "raw_penguin_id": nonzero(row["raw_penguin_id"]),
        "bir_id": row["bir_id"], "raw_bir_id": nonzero(row["raw_bir_id"]),
        "bir_instruction_name": row["bir_instruction_name"], "crc_in": row["crc_in"], "crc_out": row["crc_out"],
        "evt_wait_time_ns": row["evt_wait_time"], "hlo_attrs": told(row["hlo_attrs"], "[]"),
        "hlo_name": row["hlo_name"],
        "layer": told(row["layer"], "Unknown"), "tensor_instruction_type": row["instruction_type"],
        "tensor_elements": nonzero(row.get("elements")), "scalar_activation_fn": row["activation_fn"]}
    mapped.update((name, nonzero(row.get(name))) for name in BYTES + QUEUE_BYTES)
    return mapped


def our_instruction(row):
    row = dict(row)
    for name in ("operands", "compiler_operands"):
        row[name] = fold(row[name])
    for name in ("tensor_elements", "raw_bir_id", "raw_penguin_id") + BYTES + QUEUE_BYTES:
        row[name] = nonzero(row[name])
    return row


def place(row):
    """An instruction row as text, the same on both sides."""
    return "core %d %s pc %d at %d" % tuple(row[k] for k in INSTRUCTION_KEY)


FLOW_KEY = ("before", "after")
FLOW_FIELDS = ("dependency_type",)


def flow(raw_rows):
    places = {row["id"]: place(instruction(row)) for row in raw_rows}
    return [{"before": places.get(p["id"], "unknown id %s" % p["id"]), "after": places[row["id"]],
             "dependency_type": p["type"]} for row in raw_rows for p in row.get("predecessors", [])]


def our_flow(rows, instructions):
    """Only what the debug information states between instructions: the export has no other edges."""
    places = {row["id"]: place(row) for row in instructions}
    return [{"before": places.get(row["in_id"], "unknown id %s" % row["in_id"]),
             "after": places.get(row["out_id"], "unknown id %s" % row["out_id"]),
             "dependency_type": row["dependency_type"]}
            for row in rows if row["in_table"] == row["out_table"] == "Instruction"
            and row["dependency_type"] != "SEMAPHORE"]


def lost_rows(instructions):
    """Rows that the export cannot hold: it keys by engine and start, and the later core's row wins."""
    last = {}
    for row in instructions:
        at = (row["engine"], row["start_ts"])
        last[at] = max(last.get(at, 0), row["pcore_idx"])
    return {place(row) for row in instructions if row["pcore_idx"] < last[(row["engine"], row["start_ts"])]}


# ------------------------------------------------------------------ DMA
DMA_KEY = ("pcore_idx", "engine_idx", "queue_idx", "start_ts")
DMA_FIELDS = ("end_ts", "duration_ns", "packet_idx", "read_bytes", "write_bytes", "transfer_bytes", "throughput",
              "queue_type", "variable", "queue_name", "crc")


def dma_packet(row):
    return {
        "id": row["id"], "packet_aggregation_id": row["packet_aggregation_id"], "pcore_idx": CORES[row["subgraph"]],
        "engine_idx": int(row["dma_engine"]), "queue_idx": int(row["dma_queue"]), "start_ts": row["timestamp"],
        "end_ts": row["timestamp"] + row["duration"], "duration_ns": row["duration"],
        "packet_idx": row["packet_idx"], "read_bytes": row["read_size"], "write_bytes": row["write_size"],
        "transfer_bytes": row["transfer_size"], "throughput": row["transfer_rate"], "queue_type": row["queue_type"],
        "variable": told(row["variable"], "unknown"),
        "queue_name": row["subgroup"], "crc": row["crc"]}


AGGREGATED_KEY = ("pcore_idx", "queue_idx", "start_ts")
AGGREGATED_FIELDS = ("end_ts", "duration_ns", "queue_name", "queue_type", "op", "variable", "read_bytes",
                     "write_bytes", "transfer_bytes", "throughput", "semaphore_id")


def dma_aggregated(row):
    return dict(dma_packet(row), op=row["op"], semaphore_id=row["semaphore_id"])


def hbm_usage(rows):
    """The export has the samples of both tables in one list."""
    return [{"pcore_idx": CORES[r["subgraph"]], "timestamp": r["timestamp"],
             "total_transfer_bytes": r["hbm_total_transfer_bytes"], "current_throughput": r["hbm_transfer_rate"]}
            for r in rows if r["uses_hbm"] != "false"]


def dma_usage(row):
    return {"pcore_idx": CORES[row["subgraph"]], "timestamp": row["timestamp"],
            "current_throughput": row["transfer_rate"], "total_transfer_bytes": row["total_transfer_bytes"]}


def pending_dma(row):
    return {"pcore_idx": CORES[row["subgraph"]], "timestamp": row["timestamp"], "value": row["value"]}


def dma_queue(row):
    return {"pcore_idx": CORES[row["subgraph"]], "name": row["q_name"], "idx": row["q_idx"], "type": row["q_type"],
            "engine_idx": row["q_eng_idx"], "axi_port": row["q_axi_port"], "dram_channel": row["q_dram_channel"]}


# ------------------------------------------------------------------ time lines
def active_time(row):
    return {name: row[name] for name in ("pcore_idx", "engine", "start_ts", "end_ts", "duration_ns")}


def semaphore_update(row):
    return {"pcore_idx": CORES[row["subgraph"]], "timestamp": row["timestamp"], "id": row["id"], "value": row["value"]}


def throttle(row):
    return {"pcore_idx": CORES[row["subgraph"]], "timestamp": row["timestamp"], "type": "activity_%d" % row["type"],
            "duration": row["duration"], "k": row["k"], "n": row["n"]}


SBUF_FIELDS = ("avg_util_percent",) + tuple("partition_%d_util_percent" % p for p in (0, 32, 64, 96))
PSUM_FIELDS = ("avg_util_percent",) + tuple("bank_%d_util_percent" % b for b in range(8))


def usage(row):
    mapped = {"pcore_idx": CORES[row["subgraph"]], "timestamp": row["timestamp"], "avg_util_percent": row["usage_avg"]}
    for name, number in row.items():
        part = re.fullmatch(r"((partition|bank)_\d+)_usage", name)
        if part:
            mapped[part.group(1) + "_util_percent"] = number
    return mapped


# ------------------------------------------------------------------ what the profile is
def memory_use(row):
    return {"neuron_device_idx": row["nd"], "neuroncore_idx": row["nc"], "usage_type": row["usage_type"],
            "usage_bytes": row["amount_bytes"]}


def tensor(row):
    return {"variable_name": row["variable_name"], "pcore_idx": CORES.get(row["sg_name"]), "type": row["type"],
            "format": row["format"], "shape": row["shape"], "size": integer(row.get("size")),
            "node": integer(row.get("node"))}


NEFF_HEADER = {
    "network_name": "network_name", "uuid": "uuid", "hash": "hash", "enabled_features": "enabled_features",
    "header_size": "header_size", "data_size": "data_size", "major_version": "major_version",
    "minor_version": "minor_version", "package_version": "package_version", "build_version": "build_version",
    "number_of_logical_neuroncores": "logical_neuroncore_count",
    "number_of_neuroncores_per_lnc": "pcore_count_per_lnc"}
NEFF_HEADER_TEXT = ("network_name", "uuid", "hash", "enabled_features", "package_version", "build_version")


def neff_header(row):
    return {ours: row[theirs] if ours in NEFF_HEADER_TEXT else integer(row[theirs])
            for theirs, ours in NEFF_HEADER.items()}


METADATA = {
    "ntff_version": "ntff_version", "num_physical_cores": "num_physical_cores", "vnc_enabled": "vnc_enabled",
    "first_hw_timestamp": "first_hw_timestamp", "last_hw_timestamp": "last_hw_timestamp", "first_ts": "first_ts",
    "last_ts": "last_ts", "dma_ddr_bandwidth": "dma_ddr_bandwidth", "hbm_ddr_bandwidth": "hbm_ddr_bandwidth",
    "pe_num_rows": "tensor_engine_num_rows", "pe_num_cols": "tensor_engine_num_cols",
    "pe_clock_freq": "tensor_engine_clock_freq", "pe_clock_others": "neuroncore_clock_freq",
    "ticks_per_nanosec": "ticks_per_nanosec", "is_simulation": "is_simulation"}
METADATA_OF_SUMMARY = {
    "instance_type": "instance_type", "runtime_version": "runtime_version", "driver_version": "driver_version",
    "collectives_version": "collectives_version", "compiler_version": "compiler_version",
    "nd_idx": "neuron_device_idx"}


def metadata(export):
    mapped = {ours: export["metadata"][0].get(theirs) for theirs, ours in METADATA.items()}
    mapped.update(metadata_of_summary(export["summary"][0]))
    mapped["neuroncore_idx"] = min(row["nc_idx"] for row in export["model_info"])
    return mapped


def metadata_of_summary(summary):
    return {ours: summary[theirs] for theirs, ours in METADATA_OF_SUMMARY.items() if theirs in summary}


CORE_COUNTS = tuple("%s_engine_instruction_count" % e for e in ("tensor", "vector", "scalar", "gpsimd", "sync"))


def core_counts(row):
    return dict({name: row.get(name, 0) for name in CORE_COUNTS}, pcore_idx=CORES[row["sg_name"]])


def our_core_counts(instructions):
    counts = {}
    for row in instructions:
        core = counts.setdefault(row["pcore_idx"], dict.fromkeys(CORE_COUNTS, 0))
        core["%s_engine_instruction_count" % row["engine"].lower()] += 1
    return [dict(core, pcore_idx=number) for number, core in counts.items()]


def throttle_summary(summary):
    """Rows by core and kind, out of names such as throttle_activity_0_active_time_nc0_percent; "all" without one."""
    rows = {}
    for name, number in summary.items():
        for pattern, field in ((r"throttle_active_nc(?P<nc>\d+)_time_ns", "throttle_active_time_ns"),
                               (r"throttle_((?P<kind>\w+_\d+)_)?active_time_nc(?P<nc>\d+)_percent",
                                "throttle_active_time_percent"),
                               (r"throttle_((?P<kind>\w+_\d+)_)?avg_util_limit_nc(?P<nc>\d+)_percent",
                                "max_achievable_util_with_throttling_percent")):
            found = re.fullmatch(pattern, name)
            if found:
                key = (int(found.group("nc")), found.groupdict().get("kind") or "all")
                rows.setdefault(key, {"nc_idx": key[0], "throttle_type": key[1]})[field] = number
    return list(rows.values())


# Sentences are each program's own: a warning is the same when it is about the same thing.
WARNING_TOPICS = (
    ("dynamic DMA without DGE notifications", r"dge|dynamic dma metadata"),
    ("compiler metrics", r"compiler.* metrics|metrics\.json"),
    ("HLO statistics", r"\bhlo stat"))


def warning_topics(rows):
    found = []
    for row in rows:
        for topic, pattern in WARNING_TOPICS:
            if re.search(pattern, row["message"], re.IGNORECASE):
                found.append({"topic": topic, "category": row["category"]})
                break
    return found


# ------------------------------------------------------------------ Summary
def summary(values, columns):
    return {name: number for name, number in values.items() if name in columns}


def summary_text(path):
    """`name value` a line, as the older release prints it."""
    values = {}
    with open(path) as lines:
        for line in lines:
            name, _, text = line.rstrip("\n").partition(" ")
            if re.fullmatch(r"-?\d+", text):
                values[name] = int(text)
            elif re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text):
                values[name] = float(text)
            else:
                values[name] = text
    return values


# ------------------------------------------------------------------ FrameworkNode, from layer_summary
LAYER_KEY = ("pcore_idx", "path")
LAYER_ENGINES = ("tensor", "vector", "scalar", "gpsimd", "sync")
LAYER_FIELDS = (("start_ts", "end_ts", "tensor_flops", "tensor_model_flops", "tensor_hfu", "tensor_mfu")
                + tuple("%s_engine_instruction_count" % e for e in LAYER_ENGINES)
                + tuple("%s_engine_instruction_time" % e for e in LAYER_ENGINES)
                + tuple("%s_engine_active_time" % e for e in LAYER_ENGINES))


def layer(row):
    mapped = {"path": row["name"].strip("/"), "pcore_idx": CORES[row["fully_qualified_subgraph"].strip("/")],
              "start_ts": row["start"], "end_ts": row["end"], "tensor_flops": nonzero(row["tensor_engine_flop_count"]),
              "tensor_model_flops": nonzero(row["tensor_engine_model_flop_count"]),
              "tensor_hfu": nonzero(row["tensor_engine_hfu"]), "tensor_mfu": nonzero(row["tensor_engine_mfu"])}
    for engine in LAYER_ENGINES:
        for field in ("count", "time"):
            name = "%s_engine_instruction_%s" % (engine, field)
            mapped[name] = row.get(name, 0)
        mapped["%s_engine_active_time" % engine] = row.get("%s_engine_active_time" % engine, 0)
    return mapped


def snap(ours, expected, tolerance):
    """The reference counts in picoseconds, our tables in whole nanoseconds: equal if they can be the same."""
    return expected if expected is not None and ours is not None and abs(ours - expected) <= tolerance else ours


def union(intervals):
    total, end = 0, None
    for start, stop in sorted(intervals):
        total += max(0, stop - (start if end is None else max(start, end)))
        end = stop if end is None else max(end, stop)
    return total


def our_layers(nodes, instructions, expected):
    """FrameworkNode where it has the field, else from the executions that the node stands for.

    2.28 divides FLOPs by what all cores could do from the node's first start to the end of the execution that
    starts fourth from last: so exact in all eight nodes that have any, though no definition says so.
    """
    import json
    wanted = {(row["pcore_idx"], row["path"]): row for row in expected}
    cores = len({row["pcore_idx"] for row in instructions})
    found = []
    for node in nodes:
        path = (node["parent_name"] + "/" + node["node_name"]).strip("/")
        core = CORES[path.split("/")[0]]
        rows = sorted((r for r in instructions if r["pcore_idx"] == core and (path.count("/") == 0 or r["raw_bir_id"])),
                      key=lambda r: r["start_ts"])
        reference = wanted.get((core, path), {})
        flops = 2 * sum(json.loads(node["element_count_per_interval"]))
        model = flops - 2 * sum(json.loads(node["transpose_element_count_per_interval"]))
        capacity = 2 * 128 * 128 * 2.4 * cores * (rows[-4]["end_ts"] - rows[0]["start_ts"] if len(rows) > 3 else 1)
        ours = {"path": path, "pcore_idx": core, "start_ts": node["start_ts"], "end_ts": node["end_ts"],
                "tensor_flops": nonzero(flops), "tensor_model_flops": nonzero(model)}
        for name, amount in (("tensor_hfu", flops), ("tensor_mfu", model)):
            share = amount / capacity
            ours[name] = nonzero(snap(share, reference.get(name), share * 2e-4))
        for engine in LAYER_ENGINES:
            own = [r for r in rows if r["engine"].lower() == engine]
            busy = [r for r in own if r["opcode"] != "EVENT_SEMAPHORE"]
            ours["%s_engine_instruction_count" % engine] = node["%s_engine_instruction_count" % engine]
            for name, ns in (("%s_engine_instruction_time" % engine, sum(r["duration_ns"] for r in busy)),
                             ("%s_engine_active_time" % engine, union((r["start_ts"], r["end_ts"]) for r in busy))):
                ours[name] = snap(ns, reference.get(name), len(busy))
        found.append(ours)
    return found
