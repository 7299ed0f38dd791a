"""What other programs find in DATA/profiles/global/NAME@latest/*.parquet."""
import json, os

import duckdb
import pandas
import pyarrow
import pyarrow.parquet

from harness import Skip, check, equal, test

WHERE_TIME_GOES = """SELECT engine, opcode, COUNT(*) AS cnt, SUM(duration_ns) AS total_dur_ns,
                            SUM(evt_wait_time_ns) AS total_evt_wait_ns
                     FROM Instruction GROUP BY engine, opcode ORDER BY total_dur_ns DESC"""
SUMMARY = "SELECT total_time, tensor_engine_active_time_percent, dma_active_time_percent FROM Summary"

TYPES = {("integer", "int64"): pyarrow.int64(), ("integer", "int32"): pyarrow.int32(), ("integer", None): pyarrow.int64(),
         ("number", "float"): pyarrow.float64(), ("number", "double"): pyarrow.float64(), ("number", None): pyarrow.float64(),
         ("boolean", None): pyarrow.bool_(), ("string", None): pyarrow.string(), ("array", None): pyarrow.string()}


def stored(context, name, neff, ntff):
    """Ingests a pair; {table: path of its file}."""
    data = context.folder("data")
    context.ingested(data, name, neff, ntff)
    folder = os.path.join(data, "profiles", "global", name + "@latest")
    return {f[:-len(".parquet")]: os.path.join(folder, f) for f in sorted(os.listdir(folder))}


def each_profile(context):
    """(name, files, truth or None): the generated samples, and the real profiles where they are."""
    for number, options in enumerate([(), ("--ntff-version", "4"), ("--dma", "mixed", "--repeat", "3"),
                                         ("--dma", "dynamic-hw", "--cores", "1")]):
        neff, ntff, truth = context.sample(*options)
        yield "sample%d" % number, stored(context, "sample%d" % number, neff, ntff), truth
    try:
        names = context.profiles()
    except Skip:
        return
    for name in names:
        yield name, stored(context, name, *context.pair(name)), None


def database(files):
    connection = duckdb.connect()
    for table, path in files.items():
        connection.execute('CREATE VIEW "%s" AS SELECT * FROM read_parquet(\'%s\')' % (table, path.replace("'", "''")))
    return connection


def nothing(value):
    return value is None or value != value


@test
def pandas_reads_every_table(context):
    for name, files, truth in each_profile(context):
        for needed in ("Instruction", "DmaPacket", "SemaphoreUpdate", "ActiveTime", "Summary",
                       "Metadata", "NeffHeader", "TensorInfo", "DmaQueuesInfo", "SchemaFields"):
            check(needed in files, "%s has the table %s" % (name, needed), sorted(files))
        for table, path in files.items():
            frame = pandas.read_parquet(path)
            check(len(frame) > 0, "%s of %s has rows" % (table, name))
        if truth:
            equal(len(pandas.read_parquet(files["Instruction"])), truth["rows"], "rows of Instruction of " + name)
            packets = pandas.read_parquet(files["DmaPacket"], columns=["transfer_bytes"])
            equal((len(packets), int(packets.transfer_bytes.sum())), (truth["packets"], truth["dma_bytes"]), "DmaPacket of " + name)
            if truth["static_in"] + truth["static_out"] == 0:
                check("DmaPacketAggregated" not in files, "no blocks without static DMA in " + name)
                continue
            blocks = pandas.read_parquet(files["DmaPacketAggregated"], columns=["write_bytes"])
            equal(int(blocks.write_bytes.sum()), truth["static_in"] + truth["static_out"],
                  "bytes of the static blocks of " + name)


@test
def types_and_columns_are_the_schema(context):
    path = os.path.join(context.shared or "", "schema", "schema.json")
    reference = None
    if os.path.isfile(path):
        with open(path) as f:
            reference = json.load(f)["tables"]
        if not isinstance(reference, dict):
            reference = {t["name"]: t for t in reference}
    for name, files, _ in each_profile(context):
        fields = pandas.read_parquet(files["SchemaFields"])
        for table, file in files.items():
            schema = pyarrow.parquet.read_schema(file)
            described = fields[fields.table_name == table]
            equal(list(schema.names), list(described.field_name), "columns of %s as SchemaFields has them" % table)
            if reference and table in reference:
                columns = reference[table].get("fields") or reference[table].get("columns")
                equal(list(schema.names), [c["name"] for c in columns], "columns of %s as in the schema" % table)
            for row in described.itertuples():
                kind = (row.field_type, None if nothing(row.field_format) else row.field_format)
                wanted = TYPES.get(kind) or TYPES[(kind[0], None)]
                found = schema.field(row.field_name).type
                equal(str(found).replace("large_", ""), str(wanted), "type of %s.%s in %s" % (table, row.field_name, name))


@test
def files_are_well_made(context):
    for name, files, _ in each_profile(context):
        required = pandas.read_parquet(files["SchemaFields"])
        required = required[required.field_required.astype(bool)]
        for table, path in files.items():
            file = pyarrow.parquet.ParquetFile(path)
            for group in range(file.num_row_groups):
                chunk = file.metadata.row_group(group).column(0)
                check(chunk.compression == "ZSTD", "%s is compressed by Zstandard" % table, chunk.compression)
            data = file.read()
            for column in required[required.table_name == table].field_name:
                equal(data.column(column).null_count, 0, "NULLs of the required %s.%s in %s" % (table, column, name))
            for order in ("start_ts", "timestamp"):
                if order in data.column_names:
                    values = data.column(order).to_pylist()
                    check(all(a <= b for a, b in zip(values, values[1:])), "%s of %s is sorted by %s" % (table, name, order))


@test
def duckdb_answers_the_promised_queries(context):
    for name, files, truth in each_profile(context):
        with database(files) as db:
            (total, tensor, dma), = db.execute(SUMMARY).fetchall()
            check(total > 0 and 0 <= tensor <= 1 and 0 < dma <= 1, "Summary of %s" % name, total, tensor, dma)
            groups = db.execute(WHERE_TIME_GOES).fetchall()
            frame = pandas.read_parquet(files["Instruction"])
            by_pandas = frame.groupby(["engine", "opcode"]).agg(cnt=("pc", "size"), total=("duration_ns", "sum"),
                                                                wait=("evt_wait_time_ns", "sum"))
            found = {(e, o): (c, int(d), int(w or 0)) for e, o, c, d, w in groups}
            expected = {key: (int(r.cnt), int(r.total), int(r.wait)) for key, r in by_pandas.iterrows()}
            equal(found, expected, "duckdb and pandas on Instruction of %s" % name)
            equal(sum(g[2] for g in groups), len(frame), "instructions over the groups")
            equal([g[3] for g in groups], sorted((g[3] for g in groups), reverse=True), "order")
            if truth:
                equal(sum(g[2] for g in groups), truth["rows"], "instructions")
            joined = db.execute("""SELECT COUNT(*) FROM DmaPacket p JOIN DmaQueuesInfo q
                                   ON p.pcore_idx = q.pcore_idx AND p.engine_idx = q.engine_idx AND p.queue_idx = q.idx
                                   WHERE p.end_ts >= p.start_ts""").fetchone()
            check(joined[0] > 0, "packets join their queues in %s" % name)


@test
def duckdb_reads_all_profiles_at_once(context):
    base, total = None, 0
    for number in range(3):
        neff, ntff, truth = context.sample("--seed", str(number))
        files = stored(context, "all%d" % number, neff, ntff)
        base = os.path.dirname(os.path.dirname(files["Instruction"]))
        total += truth["rows"]
    with duckdb.connect() as db:
        rows = db.execute("SELECT filename, COUNT(*) FROM read_parquet('%s/*@latest/Instruction.parquet', filename = true) "
                          "GROUP BY filename" % base).fetchall()
        equal((len(rows), sum(r[1] for r in rows)), (3, total), "profiles and instructions")
