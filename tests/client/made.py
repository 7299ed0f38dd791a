"""Profiles made to measure: rows written straight into a data path, for quantities that no kernel would hit exactly."""
import os

import duckdb, pandas

TYPES = {"integer": "BIGINT", "number": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN", "array": "VARCHAR"}


def schema(c, data):
    """{table: {column: DuckDB type}}, as the program itself says."""
    neff, ntff, _ = c.sample("--seed", "1")
    c.ingested(data, "schema", neff, ntff)
    path = os.path.join(data, "profiles", "global", "schema@latest", "SchemaFields.parquet")
    rows = duckdb.sql("SELECT table_name, field_name, field_type FROM '%s'" % path).fetchall()
    tables = {}
    for table, column, kind in rows:
        tables.setdefault(table, {})[column] = TYPES[kind]
    return tables


def spread(count, busy, total, start=0):
    """`count` intervals of together `busy` ns, one after the other, from `start` to exactly `start + total`."""
    pairs, at = [], start
    for i in range(count):
        length = busy // count + (1 if i < busy % count else 0)
        pairs.append((at, length))
        at += length
        if i + 1 < count:
            at += (total - busy) // (count - 1) + (1 if i < (total - busy) % (count - 1) else 0)
    return pairs


class Kernel:
    """Rows of a profile; what is not said has a plain value or is NULL."""

    def __init__(self, cores=1):
        self.rows, self.cores, self.length = {}, cores, 0

    def add(self, table, **row):
        rows = self.rows.setdefault(table, [])
        row.setdefault("id", len(rows) + 1)
        if "end_ts" in row:
            row["duration_ns"] = row["end_ts"] - row["start_ts"]
            self.length = max(self.length, row["end_ts"])
        rows.append(row)
        return row["id"]

    def run(self, engine, opcode, start, length, line=None, core=0, **more):
        """An instruction; it also makes its engine active."""
        row = dict(engine=engine, opcode=opcode, start_ts=start, end_ts=start + length, pcore_idx=core,
                   bir_debug_info_source_location=line, operands="")
        row.update(more)
        if opcode != "EVENT_SEMAPHORE":
            self.add("ActiveTime", engine=engine.lower(), pcore_idx=core, start_ts=start, end_ts=start + length)
        return self.add("Instruction", **row)

    def matmul(self, start, length, k=128, m=128, n=512, kind="REGULAR", flops=None, **more):
        return self.run("Tensor", "MATMUL", start, length, tensor_instruction_type=kind, tensor_elements=k * m * n,
                        adjusted_flops=2 * k * m * n if flops is None else flops,
                        operands="acc_flags=3 src=bf16@0x30300[1,0,0][%d,1,1] dst=0x2001000[1,0,0][%d,1,1] %d*%d" % (n, n, k, m), **more)

    def packet(self, start, length, size, kind="hardware_dynamic", core=0, transfer=0):
        self.add("DmaPacket", start_ts=start, end_ts=start + length, transfer_bytes=size, queue_type=kind, pcore_idx=core,
                 packet_aggregation_id=transfer)

    def transfer(self, start, length, size, source, dest, variable=None, partitions=128, line=None, core=0, engine="Sync"):
        """A transfer of one packet, started by an instruction of that line."""
        op = "read" if dest == "[SB]" else "write"
        number = self.add("DmaPacketAggregated", start_ts=start, end_ts=start + length, transfer_bytes=size, source=source,
                          dest=dest, variable=variable, op=op, pcore_idx=core,
                          read_num_sbuf_partitions=partitions if op == "write" else 0,
                          write_num_sbuf_partitions=partitions if op == "read" else 0)
        self.packet(start, length, size, core=core, transfer=number)
        trigger = self.run(engine, "DMA_TRIGGER", max(0, start - 10), 5, line, core)
        self.flow("Instruction", trigger, "DmaPacketAggregated", number, "DGE_TRIGGER", 5)
        return number, trigger

    def flow(self, in_table, in_id, out_table, out_id, kind, gap):
        self.add("Flow", in_table=in_table, in_id=in_id, out_table=out_table, out_id=out_id, dependency_type=kind, gap_time=gap)

    def tensor(self, name, kind, size):
        self.add("TensorInfo", variable_name=name, type=kind, size=size)

    def write(self, c, data, name, without=()):
        tables = schema_of(c, data)
        folder = os.path.join(data, "profiles", "global", name + "@latest")
        os.makedirs(folder)
        trn2 = dict(num_physical_cores=self.cores, dma_ddr_bandwidth=435e9, hbm_ddr_bandwidth=716e9, tensor_engine_num_rows=128,
                    tensor_engine_num_cols=128, tensor_engine_clock_freq=2.4, vector_engine_clock_freq=0.96,
                    vector_engine_num_channels=128, scalar_engine_clock_freq=1.2, scalar_engine_num_channels=128,
                    gpsimd_engine_clock_freq=1.2, gpsimd_engine_num_channels=128, first_hw_timestamp=0,
                    last_hw_timestamp=self.length, instance_type="trn2.3xlarge")
        for table, rows in dict(self.rows, Metadata=[trn2]).items():
            if table in without:
                continue
            columns = tables[table]
            frame = pandas.DataFrame({column: [row.get(column) for row in rows] for column in columns}, dtype=object)
            if "start_ts" in columns:
                frame = frame.sort_values("start_ts", kind="stable")
            write(frame, columns, os.path.join(folder, table + ".parquet"))


def write(frame, columns, path):
    typed = ", ".join('"%s"::%s AS "%s"' % (column, kind, column) for column, kind in columns.items())
    connection = duckdb.connect()
    connection.register("frame", frame)
    connection.execute("COPY (SELECT %s FROM frame) TO '%s' (FORMAT parquet)" % (typed, path))


SCHEMAS = {}


def schema_of(c, data):
    if c.root not in SCHEMAS:
        SCHEMAS[c.root] = schema(c, os.path.join(c.root, "schema"))
    return SCHEMAS[c.root]
