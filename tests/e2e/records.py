"""The real profiles: every record accounted for, and the figures that are known from the kernels."""
import json

from harness import check, equal, test


def census(context, ntff):
    """(records in all sections, records that were not understood) as `dump ntff --json` counts them."""
    result = context.run("dump", "ntff", ntff, "--json")
    equal(result.status, 0, "exit status of dump ntff --json (%s)" % result)
    dump = json.loads(result.out)
    return dump["records"], dump["records_unknown"]


@test
def every_record_is_known(context):
    for name in context.profiles():
        neff, ntff = context.pair(name)
        data = context.folder("data")
        context.ingested(data, name, neff, ntff)
        records, unknown = census(context, ntff)
        check(records > 0, "%s has records" % name)
        equal(unknown, 0, "records of %s that were not understood" % name)
        warnings = context.query(data, name, "FROM Warning") if has_table(context, data, name, "Warning") else []
        for warning in warnings:
            text = warning["message"].lower()
            check(not ("record" in text and ("unknown" in text or "not understood" in text)),
                  "%s warns of unknown records" % name, warning)


def has_table(context, data, name, table):
    result = context.run("query", "--data-path", data, "--format", "json", name, "SELECT 1 FROM %s LIMIT 1" % table)
    return result.status == 0


@test
def conv2d_has_159222_records(context):
    """On its first core; the second one, idle, has 981."""
    context.profiles()
    result = context.run("dump", "ntff", context.pair("conv2d-fp16-trn2")[1], "--json")
    equal(result.status, 0, "exit status of dump ntff --json (%s)" % result)
    dump = json.loads(result.out)
    equal([(c["name"], c["records"]) for c in dump["cores"]], [("sg00", 159222), ("sg01", 981)], "records of each core")
    equal((dump["records"], dump["records_unknown"]), (160203, 0), "records, unknown records")
    for core in dump["cores"]:
        equal(sum(core["records_by_kind"].values()), core["records"], "records of %s over their kinds" % core["name"])
        equal(sum(s["records"] for s in core["sections"]), core["records"], "records of %s over its sections" % core["name"])


@test
def vector_add_moves_its_tensors(context):
    """2,048,000 bytes into SBUF and 1,024,000 out of it, whichever device."""
    context.profiles()
    for name in ("vector-add-trn1-fd1k", "vector-add-trn2-fd1k"):
        data = context.folder("data")
        context.ingested(data, name, *context.pair(name))
        rows = context.query(data, name, """
            SELECT CASE WHEN dest ILIKE '%SB%' THEN 'in' WHEN source ILIKE '%SB%' THEN 'out' END AS way,
                   SUM(transfer_bytes) AS bytes, COUNT(*) AS blocks
            FROM DmaPacketAggregated WHERE block_id IS NOT NULL GROUP BY way ORDER BY way""")
        found = {r["way"]: r["bytes"] for r in rows}
        equal(found, {"in": 2048000, "out": 1024000}, "bytes of the static blocks of %s" % name)
        packets = context.query(data, name, "SELECT SUM(transfer_bytes) AS n FROM DmaPacket WHERE queue_name LIKE '%IO0-%'")
        equal(packets, [{"n": 3072000 + 6 * 16 * 4}], "bytes of their packets, with a semaphore write for each ring of each block")
