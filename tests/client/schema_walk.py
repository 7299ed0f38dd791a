"""Walks SchemaFields against the stored files: each table has its columns, in order, of their types, with values that they may hold.

What a column may hold comes from SchemaFields (NULL, list of values, minimum and maximum) and from the rules that docs/schema.md
states for all columns: shares are fractions, lengths and sizes are not negative, nothing ends before it starts.  Each exception
stands here with its reason; one that no profile needs is an error as well.
"""
import os

import duckdb

from harness import check, equal, test
from tables import each_profile, nothing, stored

UNKNOWN, UNKNOWN_TARGET = "unknown-device", str(1 << 13)  # enum nx_generate_defect

# Required columns that may be NULL: (table, column) -> why.
MAY_BE_NULL = {("Metadata", column): "of a device that is not known, nothing says it" for column in (
    "dma_ddr_bandwidth", "num_dma_engines_per_neuroncore", "hbm_ddr_bandwidth", "tensor_engine_num_rows", "tensor_engine_num_cols",
    "tensor_engine_clock_freq", "vector_engine_clock_freq", "vector_engine_num_channels", "scalar_engine_clock_freq",
    "scalar_engine_num_channels", "gpsimd_engine_clock_freq", "gpsimd_engine_num_channels", "neuroncore_clock_freq", "ticks_per_nanosec")}

# Shares that may be above 1.
MAY_EXCEED_ONE = {}

# Device tables that no profile at hand can have.
NEVER_WRITTEN = {
    "CcInstruction": "no file shows the records of collectives",
    "CcOp": "no file shows the records of collectives",
    "CcStream": "no file shows the records of collectives",
    "CoreBarriers": "no file shows how a barrier is encoded",
    "Error": "no file shows the records of errors",
}
NOT_NEGATIVE = ("_bytes", "_count", "_size", "duration_ns", "_time_ns", "_idx", "_time", "throughput", "_flops", "_elements")
MAY_BE_NEGATIVE = {
    ("Flow", "gap_time"): "what comes second may begin before the first ends",
}

SQL_TYPES = {("integer", "int64"): "BIGINT", ("integer", "int32"): "INTEGER", ("integer", None): "BIGINT", ("number", "float"): "DOUBLE",
             ("number", "double"): "DOUBLE", ("number", None): "DOUBLE", ("boolean", None): "BOOLEAN", ("string", None): "VARCHAR",
             ("array", None): "VARCHAR"}


class Walk:
    """One profile's files; `used` collects the exceptions that were needed."""

    def __init__(self, name, files, used):
        self.name, self.used, self.forbidden = name, used, []
        self.db = duckdb.connect()
        self.parts = {}
        for stem, path in files.items():
            self.parts.setdefault(stem.split("_")[0], []).append(path)  # TABLE or TABLE_0, TABLE_1, ...
        for table, paths in self.parts.items():
            self.db.execute('CREATE VIEW "%s" AS SELECT * FROM read_parquet(%s)' % (table, sorted(paths)))
        self.fields = {}
        for row in self.rows("SELECT * FROM SchemaFields"):
            self.fields.setdefault(row["table_name"], []).append(row)

    def rows(self, sql):
        cursor = self.db.execute(sql)
        names = [d[0] for d in cursor.description]
        return [dict(zip(names, row)) for row in cursor.fetchall()]

    def forbid(self, table, exceptions, column, what, condition):
        """No row may be such. Gathered here, asked for by table in answer()."""
        self.forbidden.append((exceptions, (table, column), what, condition))

    def answer(self, table):
        counts = self.db.execute('SELECT %s FROM "%s"' % (", ".join("COUNT(*) FILTER (%s)" % f[3] for f in self.forbidden), table)).fetchone()
        for (exceptions, key, what, condition), count in zip(self.forbidden, counts):
            if count and key in exceptions:
                self.used.add(key)
            elif count:
                check(False, "%s.%s of %s: %s" % (*key, self.name, what),
                      self.rows('SELECT * FROM "%s" WHERE %s LIMIT 1' % (table, condition)))
        self.forbidden = []

    def shape(self, table):
        described = self.fields.get(table)
        check(described, "SchemaFields describes the stored table %s" % table)
        found = self.db.execute('DESCRIBE "%s"' % table).fetchall()
        equal([f[0] for f in found], [d["field_name"] for d in described], "columns of %s of %s" % (table, self.name))
        for column, field in zip(found, described):
            kind = (field["field_type"], None if nothing(field["field_format"]) else field["field_format"])
            equal(column[1], SQL_TYPES[kind], "type of %s.%s of %s" % (table, column[0], self.name))

    def values(self, table, field):
        column, quoted = field["field_name"], '"%s"' % field["field_name"]
        forbid = lambda what, condition, exceptions={}: self.forbid(table, exceptions, column, what, condition)
        numeric = field["field_type"] in ("integer", "number")
        if field["field_required"]:
            forbid("a required column is never NULL", quoted + " IS NULL", MAY_BE_NULL if self.name == UNKNOWN else {})
        if field["field_enum_values"]:
            forbid("only values of its list", "%s NOT IN (%s)" % (quoted, ", ".join("'%s'" % v for v in field["field_enum_values"].split(","))))
        for limit, sign in (("field_minimum", "<"), ("field_maximum", ">")):
            if field[limit] is not None:
                forbid("within its limits", "%s %s %r" % (quoted, sign, field[limit]))
        if field["field_type"] == "number":
            forbid("infinite, or no number", "NOT isfinite(%s)" % quoted)
        if numeric and (field["field_unit"] == "percent" or "_percent" in column):
            forbid("a share is not below 0", quoted + " < 0")
            forbid("a share is not above 1", quoted + " > 1", MAY_EXCEED_ONE)
        if numeric and column.endswith(NOT_NEGATIVE):
            forbid("not negative", quoted + " < 0", MAY_BE_NEGATIVE)
        if field["field_type"] == "array":
            forbid("a list as JSON", "NOT json_valid({0}) OR json_type({0}) <> 'ARRAY'".format(quoted))

    def order(self, table):
        names = {f["field_name"] for f in self.fields[table]}
        for start in sorted(n for n in names if n.endswith("start_ts")):
            end = start[:-len("start_ts")] + "end_ts"
            if end in names:
                self.forbid(table, {}, start, "not after " + end, '"%s" > "%s"' % (start, end))
        if {"start_ts", "end_ts", "duration_ns"} <= names:
            self.forbid(table, {}, "duration_ns", "end_ts - start_ts, each rounded down", "ABS(duration_ns - (end_ts - start_ts)) > 1")
        if "pcore_idx" in names:
            self.forbid(table, {}, "pcore_idx", "a core of the profile",
                        "pcore_idx < 0 OR pcore_idx >= (SELECT num_physical_cores FROM Metadata)")

    def all(self):
        for table in self.parts:
            self.shape(table)
            for field in self.fields[table]:
                self.values(table, field)
            self.order(table)
            self.answer(table)


def walked(context):
    """The usual profiles, and one of a device that nobody knows."""
    yield from each_profile(context)
    neff, ntff, _ = context.sample("--defects", UNKNOWN_TARGET)
    yield UNKNOWN, stored(context, UNKNOWN, neff, ntff), None


@test
def every_file_is_what_schema_fields_says(context):
    used, seen, scopes = set(), set(), {}
    for name, files, _ in walked(context):
        walk = Walk(name, files, used)
        equal((len(walk.fields), sum(map(len, walk.fields.values()))), (52, 656), "tables and fields in SchemaFields of " + name)
        walk.all()
        seen |= set(walk.parts)
        walk.db.close()
    needless = (set(MAY_BE_NULL) | set(MAY_EXCEED_ONE) | set(MAY_BE_NEGATIVE)) - used
    check(not needless, "each exception is one that some profile needs", sorted(needless))
    scopes = scopes_of_the_schema(context)
    device = {table for table, scope in scopes.items() if scope == "device"}
    equal(sorted(seen - device), [], "stored tables that are not made from a NEFF and an NTFF")
    equal(sorted(seen & set(NEVER_WRITTEN)), [], "tables that nobody can know how to fill")
    unwritten = device - seen - set(NEVER_WRITTEN)
    if os.path.isdir(os.path.join(context.shared or "", "profiles")):
        equal(sorted(unwritten), [], "device tables that no profile has")


def scopes_of_the_schema(context):
    """{table: device, system or transient}, from the page that is made of the schema."""
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "schema.md")
    scopes, scope = {}, None
    with open(page, encoding="utf-8") as lines:
        for line in lines:
            for words, meaning in (("Made from a NEFF", "device"), ("Part of the schema, but", "system"), ("Answers of an API", "transient")):
                if line.startswith(words):
                    scope = meaning
            if line.startswith("## "):
                break
            if scope and line.startswith("["):
                scopes[line[1:line.index("]")]] = scope
    equal(len(scopes), 52, "tables in docs/schema.md")
    return scopes


@test
def schema_fields_lists_what_cannot_be_stored_too(context):
    neff, ntff, _ = context.sample()
    files = stored(context, "listed", neff, ntff)
    with duckdb.connect() as db:
        listed = {t for t, in db.execute("SELECT DISTINCT table_name FROM read_parquet('%s')" % files["SchemaFields"]).fetchall()}
    yaml = context.run("--show-profile-schema").out
    for table, scope in scopes_of_the_schema(context).items():
        check(table in listed, "SchemaFields has %s" % table)
        check("\n    %s:" % table in yaml or "\n  %s:" % table in yaml, "--show-profile-schema has %s" % table)
        if scope != "device":
            check(table not in files, "%s is not stored" % table)


@test
def an_absent_table_says_what_it_takes(context):
    neff, ntff, _ = context.sample("--dma", "dynamic-hw")
    data = context.folder("data")
    context.ingested(data, "absent", neff, ntff)
    for table, word in (("SystemProfileEvents", "system profile"), ("AssemblyInstruction", "simulated"), ("CpuUsage", "NEURON_RT_INSPECT_CPU_UTIL=1"),
                        ("HbmUsage", "NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1"), ("CcOp", "collectives"), ("Error", "Warning says")):
        result = context.run("query", "--data-path", data, "absent", "SELECT * FROM " + table)
        check(result.status != 0 and table in result.err and word in result.err, "the answer for %s names %s" % (table, word), result)


@test
def the_walk_notices(context):
    neff, ntff, _ = context.sample()
    files = stored(context, "altered", neff, ntff)
    altered = os.path.join(context.folder("altered-files"), "table.parquet")
    for table, change in (("DmaPacket", "* REPLACE ('teleport' AS queue_type)"), ("Instruction", "* REPLACE (NULL::BIGINT AS id)"),
                          ("ActiveTime", "* REPLACE (end_ts + 9 AS start_ts)"), ("Summary", "* REPLACE (1.5 AS total_active_time_percent)"),
                          ("Throttle", "* REPLACE (2 AS pcore_idx)"), ("Instruction", "* REPLACE (end_ts::DOUBLE AS end_ts)"),
                          ("TensorInfo", "* EXCLUDE (size)"), ("Metadata", "* REPLACE (NULL::DOUBLE AS dma_ddr_bandwidth)"),
                          ("DmaUsage", "* REPLACE ('nan'::DOUBLE AS current_throughput)"), ("OpcodeSummary", "opcode, * EXCLUDE (opcode)")):
        with duckdb.connect() as db:
            db.execute("COPY (SELECT %s FROM read_parquet('%s')) TO '%s' (FORMAT parquet)" % (change, files[table], altered))
        try:
            Walk("altered", dict(files, **{table: altered}), set()).all()
        except AssertionError:
            continue
        check(False, "the walk notices %s of %s" % (change, table))
