#!/usr/bin/env python3
"""Compares our tables with what the closed tool printed for the same files.

    .venv/bin/python tests/reference/compare.py --program build/release/neuron-explorer [--shared DIR]
        [--update] [--verbose] [PROFILE...]

Ingests each shared profile that has expected output, and prints one line a
table and field: cells compared, equal, rows missing and extra, then the first
differences.  Fails when anything is below reached.json; --update writes what
is reached now, and refuses to lower anything.
"""
import argparse, json, os, shutil, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
REACHED = os.path.join(here, "reached.json")


class Ours:
    """The tables of one ingested profile."""

    def __init__(self, folder):
        self.folder = folder

    def written(self, table):
        return os.path.isfile(os.path.join(self.folder, table + ".parquet"))

    def columns(self, table):
        return set(parquet.read_schema(os.path.join(self.folder, table + ".parquet")).names)

    def rows(self, table):
        if not self.written(table):
            return []
        return parquet.read_table(os.path.join(self.folder, table + ".parquet")).to_pylist()


class Comparison:
    def __init__(self):
        self.tallies = {}

    def tally(self, table):
        return self.tallies.setdefault(table, matching.Tally())

    def add(self, profile, ours, table, expected, key, fields, rows=None, shown_as=None, **how):
        """One table of one profile; `rows` when ours need more than reading."""
        tally = self.tally(shown_as or table)
        if not ours.written(table) and expected:
            tally.note("not written for %s" % profile)
        if not expected:
            tally.note("the export of %s has no rows" % profile)
        rows = ours.rows(table) if rows is None else rows
        return matching.compare_rows(tally, profile, expected, rows, key, fields, **how)


# ------------------------------------------------------------------ one profile
def compare_instructions(comparison, profile, ours, export):
    rows = [mapping.our_instruction(row) for row in ours.rows("Instruction")]
    lost = mapping.lost_rows(rows)
    comparison.add(profile, ours, "Instruction", [mapping.instruction(r) for r in export["instruction"]],
                   mapping.INSTRUCTION_KEY, mapping.INSTRUCTION_FIELDS, rows=rows, relations=("id",),
                   allow=lambda row: mapping.place(row) in lost)
    comparison.add(profile, ours, "Flow", mapping.flow(export["instruction"]), mapping.FLOW_KEY, mapping.FLOW_FIELDS,
                   rows=mapping.our_flow(ours.rows("Flow"), rows),
                   allow=lambda row: row["before"] in lost or row["after"] in lost)
    # A row that the export lost is counted by model_info: so this also proves it.
    comparison.add(profile, ours, "Instruction", [mapping.core_counts(r) for r in export["model_info"]],
                   ("pcore_idx",), mapping.CORE_COUNTS, rows=mapping.our_core_counts(rows),
                   shown_as="Instruction (counts of a core)")


def compare_layers(comparison, profile, ours, export):
    expected = [mapping.layer(r) for r in export["layer_summary"]]
    comparison.add(profile, ours, "FrameworkNode", expected, mapping.LAYER_KEY, mapping.LAYER_FIELDS,
                   rows=mapping.our_layers(ours.rows("FrameworkNode"), ours.rows("Instruction"), expected))


def compare_dma(comparison, profile, ours, export):
    packets = [r for r in export["dma"] if r["aggregated"] == "no"]
    blocks = [r for r in export["dma"] if r["aggregated"] != "no"]
    comparison.add(profile, ours, "DmaPacket", [mapping.dma_packet(r) for r in packets], mapping.DMA_KEY,
                   mapping.DMA_FIELDS, relations=("id", "packet_aggregation_id"))
    comparison.add(profile, ours, "DmaPacketAggregated", [mapping.dma_aggregated(r) for r in blocks],
                   mapping.AGGREGATED_KEY, mapping.AGGREGATED_FIELDS)
    comparison.add(profile, ours, "DmaUsage", [mapping.dma_usage(r) for r in export["dma_throughput"]],
                   ("pcore_idx", "timestamp"), ("total_transfer_bytes", "current_throughput"))
    comparison.add(profile, ours, "HbmUsage", mapping.hbm_usage(export["dma_throughput"]),
                   ("pcore_idx", "timestamp"), ("total_transfer_bytes", "current_throughput"))
    comparison.add(profile, ours, "PendingDma", [mapping.pending_dma(r) for r in export["pending_dma"]],
                   ("pcore_idx", "timestamp"), ("value",))
    comparison.add(profile, ours, "DmaQueuesInfo", [mapping.dma_queue(r) for r in export["dma_queues_info"]],
                   ("pcore_idx", "name", "idx"), ("type", "engine_idx", "axi_port", "dram_channel"))


def compare_time_lines(comparison, profile, ours, export):
    comparison.add(profile, ours, "ActiveTime", [mapping.active_time(r) for r in export["active_time"]],
                   ("pcore_idx", "engine", "start_ts"), ("end_ts", "duration_ns"))
    comparison.add(profile, ours, "SemaphoreUpdate", [mapping.semaphore_update(r) for r in export["semaphore_update"]],
                   ("pcore_idx", "id", "timestamp"), ("value",))
    comparison.add(profile, ours, "Throttle", [mapping.throttle(r) for r in export.get("ham", [])],
                   ("pcore_idx", "timestamp", "type"), ("duration", "k", "n"))
    for table, kind, fields in (("SbufUsage", "sb", mapping.SBUF_FIELDS), ("PsumUsage", "psum", mapping.PSUM_FIELDS)):
        comparison.add(profile, ours, table,
                       [mapping.usage(r) for r in export["instruction_usage"] if r["type"] == kind],
                       ("pcore_idx", "timestamp"), fields)


def single(comparison, profile, ours, table, expected, shown_as=None):
    """A table of one row: every field that the reference gives."""
    comparison.add(profile, ours, table, [expected], (), tuple(expected), shown_as=shown_as)


def compare_summary(comparison, profile, ours, values, shown_as):
    if not ours.written("Summary"):
        comparison.tally(shown_as).note("not written for %s" % profile)
        return
    single(comparison, profile, ours, "Summary", mapping.summary(values, ours.columns("Summary")), shown_as)
    comparison.add(profile, ours, "ThrottleSummary", mapping.throttle_summary(values), ("nc_idx", "throttle_type"),
                   ("throttle_active_time_ns", "throttle_active_time_percent",
                    "max_achievable_util_with_throttling_percent"),
                   shown_as=shown_as.replace("Summary", "ThrottleSummary"))


def compare_descriptions(comparison, profile, ours, export):
    comparison.add(profile, ours, "HbmUsageSummaryByType", [mapping.memory_use(r) for r in export["nc_mem_usage"]],
                   ("neuron_device_idx", "neuroncore_idx", "usage_type"), ("usage_bytes",))
    comparison.add(profile, ours, "TensorInfo", [mapping.tensor(r) for r in export["neff_node"]],
                   ("variable_name", "pcore_idx"), ("type", "format", "shape", "size", "node"))
    single(comparison, profile, ours, "NeffHeader", mapping.neff_header(export["neff_header"][0]))
    single(comparison, profile, ours, "Metadata", mapping.metadata(export))
    comparison.add(profile, ours, "Warning", mapping.warning_topics(export["warnings"]), ("topic",), ("category",),
                   rows=mapping.warning_topics(ours.rows("Warning")), allow=lambda row: True)
    compare_summary(comparison, profile, ours, export["summary"][0], "Summary")


def compare_profile(comparison, profile, ours, source):
    path = os.path.join(source, "expected.json")
    if os.path.isfile(path):
        with open(path) as file:
            export = json.load(file)
        for part in (compare_instructions, compare_layers, compare_dma, compare_time_lines, compare_descriptions):
            part(comparison, profile, ours, export)
    path = os.path.join(source, "expected-summary.txt")
    if os.path.isfile(path):
        values = mapping.summary_text(path)
        compare_summary(comparison, profile, ours, values, "Summary (release 2.25)")
        single(comparison, profile, ours, "Metadata", mapping.metadata_of_summary(values), "Metadata (release 2.25)")


def ingest(program, source, data, name):
    """The folder of its tables; exits when the program fails."""
    command = [program, "view", "-n", os.path.join(source, "kernel.neff"), "-s", os.path.join(source, "profile.ntff"),
               "--data-path", data, "--display-name", name, "--ingest-only", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    folder = os.path.join(data, "profiles", "global", name + "@latest")
    if done.returncode or not os.path.isdir(folder):
        sys.exit("compare: %s was not ingested (exit status %d): %s" % (name, done.returncode, done.stderr.strip()))
    return folder


# ------------------------------------------------------------------ report
def short(text, size=150):
    text = str(text)
    return text if len(text) <= size else text[:size] + "..."


def print_table(name, tally, verbose):
    for field, count in tally.fields.items():
        bad = count.equal < count.compared
        print("%s %-64s compared %6d  equal %6d  missing %4d  extra %4d" % (
            "!" if bad else " ", name + "." + field, count.compared, count.equal, tally.missing, tally.extra))
        for profile, row, expected, ours in count.differences if verbose or bad else []:
            print("      %s, %s: expected %s, ours %s" % (profile, row, short(expected), short(ours)))
    if not tally.fields:
        print("  %-64s nothing to compare" % name)
    for profile, kind, row in tally.unpaired[:6]:
        print("      %s, %s row: %s" % (profile, kind, row))
    if tally.allowed:
        print("      %d rows of ours that the export cannot hold or does not name: no error" % tally.allowed)
    for note in tally.notes:
        print("      note: %s" % note)


def figures(comparison):
    """What reached.json holds."""
    return {
        "fields": {"%s.%s" % (table, field): [count.equal, count.compared]
                   for table, tally in comparison.tallies.items() for field, count in tally.fields.items()},
        "unpaired": {table: [tally.missing, tally.extra] for table, tally in comparison.tallies.items()}}


def overall(fields):
    equal, compared = (sum(column) for column in zip(*fields.values()))
    return equal, compared, 100.0 * equal / compared


def lowered(before, now):
    """Everything that is worse than before, as sentences."""
    worse = []
    for name, (equal, compared) in before["fields"].items():
        new_equal, new_compared = now["fields"].get(name, (0, compared))
        if new_equal < equal or new_equal * compared < equal * new_compared:
            worse.append("%s: %d of %d equal, reached were %d of %d" % (name, new_equal, new_compared, equal, compared))
    for table, counts in before["unpaired"].items():
        for kind, old, new in zip(("missing", "extra"), counts, now["unpaired"].get(table, counts)):
            if new > old:
                worse.append("%s: %d rows %s, reached were %d" % (table, new, kind, old))
    return worse


def judge(profiles, now, update):
    """Exit status."""
    before = None
    if os.path.isfile(REACHED):
        with open(REACHED) as file:
            before = json.load(file)
    if before and before["profiles"] != profiles:
        print("compare: these are not the profiles of reached.json (%s): no judgement" % ", ".join(before["profiles"]))
        return 0
    worse = lowered(before, now) if before else []
    for text in worse:
        print("below what was reached: " + text)
    if worse:
        return 1
    if update:
        with open(REACHED, "w") as file:
            file.write(render(dict(now, profiles=profiles)))
        print("compare: reached.json updated")
    elif not before:
        print("compare: there is no reached.json; write it with --update")
        return 1
    return 0


def render(reached):
    """JSON with one figure a line, so that a change of one is a change of one line."""
    parts = []
    for section in ("fields", "unpaired"):
        lines = ["    %s: %s" % (json.dumps(k), json.dumps(v)) for k, v in sorted(reached[section].items())]
        parts.append("  %s: {\n%s\n  }" % (json.dumps(section), ",\n".join(lines)))
    return "{\n  \"profiles\": %s,\n%s\n}\n" % (json.dumps(reached["profiles"]), ",\n".join(parts))


def with_expected_output(base):
    return sorted(name for name in os.listdir(base)
                  if any(os.path.isfile(os.path.join(base, name, file))
                         for file in ("expected.json", "expected-summary.txt")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", default=os.path.join(here, "..", "..", "..", "shared"))
    parser.add_argument("--update", action="store_true", help="write what is reached; never lowers it")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("profiles", nargs="*", metavar="PROFILE", help="only these, and no judgement")
    arguments = parser.parse_args()
    base = os.path.join(arguments.shared, "profiles")
    if not os.path.isdir(base):
        print("compare: skipped, the real profiles are not here (%s)" % base)
        return 0
    profiles = with_expected_output(base)
    chosen = [name for name in profiles if not arguments.profiles or name in arguments.profiles]
    if not chosen:
        sys.exit("compare: no profile with expected output among %s" % ", ".join(arguments.profiles or ["none"]))
    comparison, data = Comparison(), tempfile.mkdtemp(prefix="nx-reference-")
    try:
        for name in chosen:
            source = os.path.join(base, name)
            compare_profile(comparison, name, Ours(ingest(arguments.program, source, data, name)), source)
    finally:
        shutil.rmtree(data, ignore_errors=True)
    for table, tally in comparison.tallies.items():
        print_table(table, tally, arguments.verbose)
    print("\nnot compared, the schema has no column for it:")
    for table, names in mapping.NO_COLUMN.items():
        print("  %s: %s" % (table, ", ".join(names)))
    now = figures(comparison)
    print("\n%d of %d cells equal: %.4f %%" % overall(now["fields"]))
    return judge(profiles, now, arguments.update) if chosen == profiles else 0


if __name__ == "__main__":
    try:
        import pyarrow.parquet as parquet
        import mapping, matching
    except ImportError as problem:
        sys.exit("compare: %s (scripts/deps.sh --tests puts it into .venv)" % problem)
    sys.exit(main())
