"""`check`: whether a profile can be trusted, on real profiles and on generated ones with each defect."""
import json, os, re

from command_line import BAD_INPUT, DONE, UNAVAILABLE, exits, on_a_terminal
from harness import check, equal, test

GOOD, GAPS, BAD = 0, 1, 2
WIDTH = 100


def checked(context, data, name, status):
    document = json.loads(exits(context, status, "check", "--data-path", data, "--json", name).out)
    equal((document["exit_status"], document["status"]), (status, ("good", "gaps", "bad")[status]), "status of " + name)
    return document


def gaps(document):
    """{(topic, fact): value} of what Warning tells: the facts that are a finding's id, and all others that are not there."""
    return {(topic, key): value for topic, part in document["topics"].items() for key, value in part["facts"].items()
            if isinstance(value, (bool, int)) and key not in COUNTS}


# facts that are figures of the tables, not gaps
COUNTS = {"ntff_version", "physical_cores", "instructions", "packets", "linked_packets", "dynamic_instructions", "dynamic_packets",
          "linked_dynamic_packets", "compiler_instructions", "with_bir_instruction_name", "with_source_line", "present", "device_tables"}


@test
def the_real_profiles(context):
    # records lost, rings left out, opcodes not known, dynamic DMA without notifications, compiler metrics missing
    expected = {"attention-baseline-bf16-s512": (3, 3, 0, True, True), "attention-fused-bf16-s1024": (4, 2, 0, True, True),
                "attention-fused-bf16-s512": (4, 2, 0, True, True), "attention-fused-fp32-s512": (3, 2, 0, True, True),
                "conv2d-fp16-trn2": (27, 0, 0, False, True), "conv2d-fp16-trn2-small": (28, 0, 0, False, True),
                "transpose-1024-trn2": (25, 0, 0, False, True), "vector-add-trn1-fd1k": (0, 3, 1, False, False),
                "vector-add-trn2-fd1k": (25, 0, 0, False, True)}
    data = context.folder("data")
    names = context.profiles()
    equal(set(names), set(expected), "the real profiles")
    for name in names:
        context.ingested(data, name, *context.pair(name))
        document = checked(context, data, name, GAPS)
        topics = {key: part["facts"] for key, part in document["topics"].items()}
        equal((topics["trace"]["records_lost"], topics["dma"]["rings_left_out"], topics["trace"]["opcodes_unknown"],
               topics["dma"]["no_dge_notifications"], topics["figures"]["no_compiler_metrics"]), expected[name], "facts of " + name)
        equal(document["topics"]["pair"]["status"], "good", "NEFF and NTFF of " + name)
        for fact in ("records_unknown", "instructions_unfinished", "ends_unmatched", "rows_backwards", "code_missing", "buffer_full"):
            equal(topics["trace"][fact], 0, "%s of %s" % (fact, name))
        facts_are_those_of_the_tables(context, data, name, document)
        told_as_in_warning(context, data, name, document)
        advice = {setting for entry in document["next"] for setting in entry["set"]}
        equal("NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1" in advice, expected[name][3], "advice on DGE notifications for " + name)
        check("XLA_IR_DEBUG=1" in advice, "advice on debug information for " + name, advice)
        text_fits(context, data, name, GAPS)


def facts_are_those_of_the_tables(context, data, name, document):
    facts = {key: part["facts"] for key, part in document["topics"].items()}
    engines = {row.pop("engine"): row for row in context.query(data, name, """
        SELECT engine, COUNT(*) AS instructions, COUNT(*) FILTER (compiler_pc IS NOT NULL) AS compiler_instructions,
               COUNT(*) FILTER (bir_debug_info_source_location IS NOT NULL OR nki_source_location IS NOT NULL) AS with_source_line
        FROM Instruction GROUP BY engine""")}
    found = {engine: {key: told[key] for key in ("instructions", "compiler_instructions", "with_source_line")}
             for engine, told in facts["source"]["engines"].items()}
    equal(found, engines, "instructions and lines by engine of " + name)
    equal(facts["trace"]["instructions"], sum(row["instructions"] for row in engines.values()), "instructions of " + name)
    kinds = {row["queue_type"]: row["n"] for row in context.query(
        data, name, "SELECT queue_type, COUNT(*) AS n FROM DmaPacket GROUP BY queue_type")}
    equal({kind: told["packets"] for kind, told in facts["dma"]["queue_types"].items()}, kinds, "packets by queue type of " + name)
    equal(facts["dma"]["dynamic_packets"], sum(n for kind, n in kinds.items() if kind.endswith("_dynamic")), "dynamic packets")
    there = {row["name"] for row in context.query(data, name, "SHOW TABLES")}
    missing = {entry["table"] for entry in facts["tables"]["missing"]}
    check(not there & missing and len(there) == facts["tables"]["present"], "tables there and missing of " + name, there, missing)
    equal(len(there | missing), facts["tables"]["device_tables"], "device tables")


def told_as_in_warning(context, data, name, document):
    warnings = sorted((row["category"], row["message"]) for row in context.query(data, name, "FROM Warning"))
    told = sorted((finding["category"], finding["text"]) for part in document["topics"].values() for finding in part["findings"])
    equal(told, warnings, "findings, and rows of Warning, of " + name)


def text_fits(context, data, name, status):
    text = exits(context, status, "check", "--data-path", data, name).out
    check("\x1b" not in text, "no colour when standard output is not a terminal", text[:200])
    for line in text.splitlines():
        check(len(line) <= WIDTH, "a line of %d characters" % len(line), line)
    check(re.match(r"%s: (good|usable with gaps|not usable)\n" % re.escape(name), text), "the first line is the verdict", text[:200])


# enum nx_generate_defect -> facts that differ from those of the pair without it (tools/generate.h says why)
DEFECTS = {
    1 << 0: {("trace", "opcodes_unknown"): 1},
    1 << 1: {("trace", "records_unknown"): 5},
    1 << 2: {},  # told under "other"
    1 << 4: {("trace", "records_lost"): 2},
    1 << 5: {("trace", "ends_unmatched"): 1},
    1 << 6: {("trace", "instructions_unfinished"): 1},
    1 << 7: {("trace", "rows_backwards"): 1},
    1 << 8: {("dma", "rings_left_out"): 1},
    1 << 9: {},  # sections in another order: nothing is wrong
    1 << 10: {("trace", "no_instructions"): True, ("trace", "code_missing"): 0},
    1 << 11: {("trace", "code_missing"): 3},
    1 << 12: {("dma", "packets_unfinished"): 1},
    1 << 13: {("figures", "device_unknown"): True},
    1 << 14: {("source", "no_debug_files"): True},
}


@test
def generated_defects(context):
    data = context.folder("data")
    neff, ntff, _ = context.sample()
    context.ingested(data, "sound", neff, ntff)
    sound = checked(context, data, "sound", GAPS)
    before = gaps(sound)
    equal({key: value for key, value in before.items() if value and key[0] != "source"},
          {("figures", "no_compiler_metrics"): True, ("figures", "no_hlo_statistics"): True, ("trace", "code_missing"): 1},
          "gaps of the sound pair")
    for bit, differences in DEFECTS.items():
        neff, ntff, truth = context.sample("--defects", str(bit))
        context.ingested(data, "d", neff, ntff, "--force")
        document = checked(context, data, "d", BAD if bit == 1 << 10 else GAPS)
        known = dict(before)
        known.update(differences)
        if bit == 1 << 14:  # without names there is nothing to say of lines
            known.update({key: False for key in known if key[0] == "source" and key[1] != "no_debug_files"})
        found = gaps(document)
        wrong = {key: (known[key], found[key]) for key in known if known[key] != found[key]}
        check(not wrong, "facts of defect %d (known, found)" % bit, wrong)
        told_as_in_warning(context, data, "d", document)
        facts_are_those_of_the_tables(context, data, "d", document) if truth["rows"] else None
        other = " ".join(finding["text"] for finding in document["topics"]["other"]["findings"])
        equal("wormhole" in other, bit == 1 << 2, "a variable of an unknown type is told (%s)" % other)
        text_fits(context, data, "d", document["exit_status"])
    neff, ntff, _ = context.sample("--defects", str(1 << 3))
    equal(context.ingest(data, "d", neff, ntff, "--force").status, BAD_INPUT, "a trace of another kernel")


@test
def static_and_dynamic_dma(context):
    data = context.folder("data")
    for kind, dynamic in (("static", False), ("dynamic-hw", True), ("dynamic-sw", True), ("mixed", True)):
        neff, ntff, truth = context.sample("--dma", kind)
        context.ingested(data, kind, neff, ntff)
        facts = checked(context, data, kind, GAPS)["topics"]["dma"]["facts"]
        equal((facts["no_dge_notifications"], facts["dynamic_instructions"] > 0, facts["dynamic_packets"] > 0), (dynamic,) * 3,
              "dynamic DMA of %s" % kind)
        equal(facts["packets"], truth["packets"], "packets of %s" % kind)
        equal(facts["linked_dynamic_packets"], 0, "dynamic packets that can be linked")
        if kind != "mixed":
            equal(facts["linked_packets"] > 0, not dynamic, "linked packets of %s" % kind)


@test
def exits_and_colours(context):
    data = context.folder("data")
    neff, ntff, _ = context.sample()
    context.ingested(data, "p", neff, ntff)
    for arguments in (("no-such-profile",), (), ("p", "q"), ("p", "--no-such-option"), ("p", "--timeout", "0")):
        result = exits(context, BAD, "check", "--data-path", data, *arguments)
        check(result.err.strip() and not result.out.strip(), "what is wrong goes to standard error", arguments, result)
    check("p" in exits(context, BAD, "check", "--data-path", data, "pp").err, "near names are listed")
    exits(context, UNAVAILABLE, "check", "--data-path", neff, "p")
    exits(context, DONE, "check", "--help", says=("usage:", "Exit status"))
    arguments = ("check", "--data-path", data, "p")
    check(b"\x1b[33mgap \x1b[0m" in on_a_terminal(context, *arguments, what="stdout", status=GAPS), "colours on a terminal")
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        check(b"\x1b" not in on_a_terminal(context, *arguments, env=env, what="stdout", status=GAPS), "no colours with %s" % env)


@test
def over_http(context):
    data = context.folder("data")
    neff, ntff, _ = context.sample()
    context.ingested(data, "p", neff, ntff)
    with context.server(data) as server:
        status, document = context.search(server, "p", {"type": "check"})
        equal(status, 200, "HTTP status of a check")
        equal(document, checked(context, data, "p", GAPS), "the check over HTTP and on the command line")
        status, answer = context.search(server, "pp", {"type": "check"})
        equal((status, answer["error"]["code"]), (404, "profile_not_found"), "a profile that is not there")
        status, answer = context.search(server, "p", {"type": "check", "timeoutMs": -1})
        equal((status, answer["error"]["code"]), (422, "bad_request"), "a wrong limit")


@test
def a_profile_that_lost_tables(context):
    data = context.folder("data")
    neff, ntff, _ = context.sample()
    context.ingested(data, "p", neff, ntff)
    folder = os.path.join(data, "profiles", "global", "p@latest")
    os.unlink(os.path.join(folder, "Warning.parquet"))  # as of a profile of which there is nothing to say
    checked(context, data, "p", GOOD)
    for table in ("DmaPacketAggregated", "NeffHeader"):
        os.unlink(os.path.join(folder, table + ".parquet"))
    document = checked(context, data, "p", GAPS)
    equal(document["topics"]["dma"]["facts"]["linked_packets"], 0, "packets that are linked to nothing")
    equal(document["topics"]["pair"]["facts"]["uuid"], None, "a uuid that is not known")
    os.unlink(os.path.join(folder, "Instruction.parquet"))
    checked(context, data, "p", BAD)
