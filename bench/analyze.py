#!/usr/bin/env python3
"""How long `analyze` takes, and how much memory, on a large profile.

    .venv/bin/python bench/analyze.py --program build/release/neuron-explorer [--instructions 10000000] [--packets 20000000] [--keep DIR]

The profile is made by DuckDB straight into Parquet files: five engines on two
cores, a DMA transfer of twenty packets for each block of instructions, links
between them, source lines, pauses.  Peak memory is that of the program and its
workers together, sampled from /proc.
"""
import argparse, os, shutil, subprocess, sys, tempfile, threading, time

import duckdb

TYPES = {"integer": "BIGINT", "number": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN", "array": "VARCHAR"}

# Row i of Instruction: engine i % 5, core i // 5 % 2, slot i // 10; 100 ns a slot. Ten slots are one period of activity.
STATEMENTS = {
    "Instruction": """
        SELECT i + 1 AS id, (i // 10) * 100 + i % 7 AS start_ts, (i // 10) * 100 + i % 7 + 80 + hash(i) % 13 AS end_ts,
               80 + hash(i) % 13 AS duration_ns, i // 5 % 2 AS pcore_idx, (i // 10) % 5000 AS pc,
               ['Tensor', 'Vector', 'Scalar', 'GpSimd', 'Sync'][i % 5 + 1] AS engine,
               ['MATMUL', 'TENSOR_TENSOR', 'ACTIVATE', 'IOTA', 'WRITE'][i % 5 + 1] AS opcode,
               CASE i % 5 WHEN 0 THEN '$S[' || (i // 10) % 200 || ']>=3 src=bf16@0x' || printf('%x', (i // 10) % 5000 * 64)
                                      || '[1,0,0][512,1,1] dst=0x2001000[1,0,0][512,1,1] 128*' || [128, 64][(i // 10) % 2 + 1]
                          ELSE 'src0=bf16@0x' || printf('%x', (i // 10) % 5000 * 64) || '[1,1,1][512,1,1] src1=bf16@0x0[1,1,1][512,1,1] '
                               || 'dst=bf16@0x100[1,1,1][512,1,1] channels=128' END AS operands,
               CASE i % 5 WHEN 0 THEN 128 * 512 * [128, 64][(i // 10) % 2 + 1] END AS tensor_elements,
               CASE i % 5 WHEN 0 THEN 2 * 128 * 512 * [128, 64][(i // 10) % 2 + 1] END AS adjusted_flops,
               CASE i % 5 WHEN 0 THEN ['REGULAR', 'REGULAR', 'TRANSPOSE'][(i // 10) % 3 + 1] END AS tensor_instruction_type,
               CASE WHEN i % 5 > 0 THEN 1024 END AS sbuf_write_bytes, CASE WHEN i % 5 > 0 THEN 2048 END AS sbuf_read_bytes,
               'kernel.py:' || (i // 10) % 200 AS bir_debug_info_source_location
        FROM range({instructions}) t(i)""",
    # 20 packets a transfer on 16 engines; every third transfer ends before the next begins
    "DmaPacket": """
        SELECT i + 1 AS id, i // 20 + 1 AS packet_aggregation_id, i // 20 % 2 AS pcore_idx,
               (i * {packet_ns} + hash(i) % 40)::BIGINT AS start_ts, (i * {packet_ns} + hash(i) % 40 + 150 + hash(i * 7) % 60)::BIGINT AS end_ts,
               150 + hash(i * 7) % 60 AS duration_ns, 2048 + 2048 * (i % 2) AS transfer_bytes,
               ['input', 'hardware_dynamic', 'output'][i // 20 % 3 + 1] AS queue_type
        FROM range({packets}) t(i) WHERE i % 97 < 80""",
    "DmaPacketAggregated": """
        SELECT i + 1 AS id, i % 2 AS pcore_idx, (i * 20 * {packet_ns})::BIGINT AS start_ts, (i * 20 * {packet_ns} + 200)::BIGINT AS end_ts,
               61440 AS transfer_bytes, CASE WHEN i % 4 = 3 THEN 'write' ELSE 'read' END AS op,
               CASE WHEN i % 4 = 3 THEN '[[SB]]' ELSE '[[INPUT]]' END AS source, CASE WHEN i % 4 = 3 THEN '[OUTPUT]' ELSE '[SB]' END AS dest,
               'input' || i % 50 AS variable, 128 AS write_num_sbuf_partitions, 128 AS read_num_sbuf_partitions
        FROM range({packets} // 20) t(i)""",
    "Flow": """
        SELECT i + 1 - 10 AS in_id, i + 1 AS out_id, 'Instruction' AS in_table, 'Instruction' AS out_table,
               'FLOW_DEPENDENCE' AS dependency_type, 8 AS gap_time
        FROM range(10, {instructions}) t(i)
        UNION ALL
        SELECT least(i * ({instructions} // ({packets} // 20)) + 5, {instructions}), i + 1, 'Instruction', 'DmaPacketAggregated', 'DGE_TRIGGER', 5
        FROM range({packets} // 20) t(i)""",
    "ActiveTime": """
        SELECT min(start_ts) AS start_ts, max(end_ts) AS end_ts, lower(engine) AS engine, pcore_idx,
               max(end_ts) - min(start_ts) AS duration_ns
        FROM Instruction GROUP BY engine, pcore_idx, (id - 1) // 100
        ORDER BY start_ts""",
    "TensorInfo": """
        SELECT 'input' || i AS variable_name, 'IN' AS type, 1048576 AS size FROM range(50) t(i)""",
    "Throttle": """
        SELECT i * 100000 AS timestamp, 20000 AS duration, 4 AS k, 8 AS n, 'activity_1' AS type, 0 AS pcore_idx FROM range(1000) t(i)""",
    "Metadata": """
        SELECT 2 AS num_physical_cores, 435e9 AS dma_ddr_bandwidth, 128 AS tensor_engine_num_rows, 128 AS tensor_engine_num_cols,
               2.4 AS tensor_engine_clock_freq, 0.96 AS vector_engine_clock_freq, 1.2 AS scalar_engine_clock_freq,
               1.2 AS gpsimd_engine_clock_freq, 128 AS vector_engine_num_channels, 0 AS first_hw_timestamp,
               {instructions} * 10 AS last_hw_timestamp, 'trn2.48xlarge' AS instance_type""",
}


def schema(program, folder):
    """{table: {column: type}}, from a profile that the generator and the program make."""
    files = [os.path.join(folder, "tiny." + end) for end in ("neff", "ntff")]
    subprocess.run([os.path.join(os.path.dirname(program), "nx-generate"), "--quiet", "--out-neff", files[0], "--out-ntff", files[1]], check=True)
    subprocess.run([program, "view", "-q", "-n", files[0], "-s", files[1], "--data-path", folder, "--display-name", "tiny", "--ingest-only"],
                   check=True, stderr=subprocess.DEVNULL)
    tables = {}
    for table, column, kind in duckdb.sql("SELECT table_name, field_name, field_type FROM '%s/profiles/global/tiny@latest/SchemaFields.parquet'" % folder).fetchall():
        tables.setdefault(table, {})[column] = TYPES[kind]
    return tables


def make(program, folder, instructions, packets):
    tables = schema(program, folder)
    place = os.path.join(folder, "profiles", "global", "large@latest")
    os.makedirs(place)
    connection = duckdb.connect(config={"threads": 2, "memory_limit": "2GB", "temp_directory": folder})
    values = dict(instructions=instructions, packets=packets, packet_ns=instructions * 10 / packets)
    for table, statement in STATEMENTS.items():
        statement = statement.format(**values)
        have = [row[0] for row in connection.execute("DESCRIBE " + statement).fetchall()]
        columns = ", ".join('%s::%s AS "%s"' % (('"%s"' % c if c in have else "NULL"), t, c) for c, t in tables[table].items())
        path = os.path.join(place, table + ".parquet")
        connection.execute("COPY (SELECT %s FROM (%s)) TO '%s' (FORMAT parquet, COMPRESSION zstd)" % (columns, statement, path))
        connection.execute("CREATE VIEW %s AS SELECT * FROM '%s'" % (table, path))
    return sum(os.path.getsize(os.path.join(place, f)) for f in os.listdir(place))


def resident(process):
    """Bytes that a process and its children hold, shared pages counted once a process."""
    total, todo = 0, [process]
    while todo:
        pid = todo.pop()
        try:
            with open("/proc/%d/status" % pid) as f:
                total += sum(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))
            with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
                todo += [int(word) for word in f.read().split()]
        except (OSError, ValueError):
            pass
    return total


def run(program, folder, *options):
    """(seconds, peak bytes, the output) of one analysis."""
    start, peak = time.monotonic(), [0]
    process = subprocess.Popen([program, "analyze", "large", "--data-path", folder, *options], stdout=subprocess.PIPE)

    def watch():
        while process.poll() is None:
            peak[0] = max(peak[0], resident(process.pid))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    output = process.stdout.read()
    process.wait()
    watcher.join()
    if process.returncode:
        sys.exit("analyze ended with status %d" % process.returncode)
    return time.monotonic() - start, peak[0], output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--instructions", type=int, default=10_000_000)
    parser.add_argument("--packets", type=int, default=20_000_000)
    parser.add_argument("--keep", metavar="DIR", help="make the profile there, or use the one that is there")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    folder = arguments.keep or tempfile.mkdtemp(prefix="nx-bench-")
    try:
        if not os.path.isdir(os.path.join(folder, "profiles", "global", "large@latest")):
            os.makedirs(folder, exist_ok=True)
            size = make(program, folder, arguments.instructions, arguments.packets)
            print("%d instructions, %d packets, %.0f MB of Parquet" % (arguments.instructions, arguments.packets, size / 1e6))
        for _ in range(3):
            seconds, peak, _ = run(program, folder, "--format", "json")
            print("analyze: %.1f s, peak %.2f GiB (load of the machine %.1f)" % (seconds, peak / 2**30, os.getloadavg()[0]))
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
