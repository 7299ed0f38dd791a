"""What must hold in every profile, whatever the kernel: between the columns of a row, and between the tables.

Each invariant is SQL that looks for rows that break it: an answer is a failure,
and shows where.  The figures are worked out from the raw rows again, by the
schema's definitions, not by the code that filled the derived tables.
"""
import os

import pyarrow.parquet as parquet

from harness import check, test
from tables import database, each_profile

# The sequencer's own instructions (opcodes 0xa0 to 0xdf); all others go through the engine's data path.
# Each of the two units starts and ends its instructions in order, and they overlap each other.
SEQUENCER = """('EVENT_SEMAPHORE', 'EVENT_SEMAPHORE_RANGE_CLEAR', 'DRAIN', 'NOP', 'WRITE', 'NOTIFY', 'COMPARE_BRANCH',
                'TENSOR_LOAD', 'SET_ORDERING_MODE', 'DMA_DIRECT2D')"""

# The gaps of a list of intervals (p = what they are of): an interval starts one where no earlier one reaches it.
ISLANDS = """
    marked AS (SELECT *, start_ts > COALESCE(MAX(end_ts) OVER (PARTITION BY p ORDER BY start_ts, end_ts
                         ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), start_ts - 1) AS opens
               FROM (SELECT DISTINCT p, start_ts, end_ts FROM pieces)),
    numbered AS (SELECT *, SUM(opens::INT) OVER (PARTITION BY p ORDER BY start_ts, end_ts ROWS UNBOUNDED PRECEDING) AS island
                 FROM marked),
    islands AS (SELECT p, island, MIN(start_ts) AS start_ts, MAX(end_ts) AS end_ts FROM numbered GROUP BY p, island)"""

WITHIN_ONE_TABLE = {
    "instructions end after they start, and last that long":
        "SELECT * FROM Instruction WHERE end_ts < start_ts OR duration_ns <> end_ts - start_ts OR start_ts < 0",
    "packets end after they start, and last that long":
        "SELECT * FROM DmaPacket WHERE end_ts < start_ts OR duration_ns <> end_ts - start_ts OR start_ts < 0",
    # the closed tool's way: both edges and the length are rounded down, each for itself
    "active intervals are of some length, apart, and in order": """
        SELECT * FROM (SELECT *, LAG(end_ts) OVER (PARTITION BY pcore_idx, engine ORDER BY start_ts, end_ts) AS before
                       FROM ActiveTime)
        WHERE end_ts < start_ts OR ABS(duration_ns - (end_ts - start_ts)) > 1 OR before > start_ts""",
    "a unit of an engine ends its instructions in the order in which it starts them": """
        SELECT * FROM (SELECT *, LAG(end_ts) OVER (PARTITION BY pcore_idx, engine, timeline_track, opcode IN %s
                                                   ORDER BY start_ts, end_ts) AS before FROM Instruction)
        WHERE before > end_ts""" % SEQUENCER,
    "what ran in the window lies in the window": """
        SELECT * FROM Instruction, Summary WHERE end_ts > ROUND(total_time * 1e9) + 1""",
    "the same place in the code is the same instruction": """
        SELECT pcore_idx, engine, pc, COUNT(DISTINCT operands) FROM Instruction GROUP BY ALL
        HAVING COUNT(DISTINCT opcode) > 1 OR COUNT(DISTINCT operands) > 1 OR COUNT(DISTINCT bir_id) > 1""",
    "ids are unique": """
        SELECT id FROM Instruction GROUP BY id HAVING COUNT(*) > 1
        UNION ALL SELECT id FROM DmaPacket GROUP BY id HAVING COUNT(*) > 1""",
    "a semaphore's value is what its last update left": "SELECT * FROM SemaphoreUpdate WHERE value < 0",
}

BETWEEN_TABLES = {
    # whole nanoseconds on both sides: the first one's edges are those of picoseconds rounded down
    "ActiveTime is the union of the instructions": """
        WITH pieces AS (SELECT {'core': pcore_idx, 'engine': LOWER(engine)} AS p, start_ts, end_ts FROM Instruction
                        WHERE opcode <> 'EVENT_SEMAPHORE'), %s,
             ours AS (SELECT pcore_idx, engine, SUM(duration_ns) AS ns, COUNT(*) AS n FROM ActiveTime GROUP BY ALL),
             theirs AS (SELECT p.core AS pcore_idx, p.engine AS engine, SUM(end_ts - start_ts) AS ns, COUNT(*) AS n
                        FROM islands GROUP BY ALL)
        SELECT * FROM ours FULL JOIN theirs USING (pcore_idx, engine)
        WHERE ours.ns IS NULL OR theirs.ns IS NULL OR ABS(ours.ns - theirs.ns) > GREATEST(ours.n, theirs.n)""" % ISLANDS,
    "every instruction that counts lies in an interval of ActiveTime": """
        SELECT i.* FROM Instruction i ANTI JOIN ActiveTime a
               ON a.pcore_idx = i.pcore_idx AND a.engine = LOWER(i.engine) AND a.start_ts <= i.start_ts AND a.end_ts >= i.end_ts - 1
        WHERE i.opcode <> 'EVENT_SEMAPHORE'""",
    "Summary counts the rows": """
        SELECT * FROM Summary WHERE trace_count <> event_count + (SELECT COUNT(*) FROM Instruction) + (SELECT COUNT(*) FROM DmaPacket)
            OR tensor_engine_instruction_count <> (SELECT COUNT(*) FROM Instruction WHERE engine = 'Tensor')
            OR vector_engine_instruction_count <> (SELECT COUNT(*) FROM Instruction WHERE engine = 'Vector')
            OR scalar_engine_instruction_count <> (SELECT COUNT(*) FROM Instruction WHERE engine = 'Scalar')
            OR gpsimd_engine_instruction_count <> (SELECT COUNT(*) FROM Instruction WHERE engine = 'GpSimd')
            OR sync_engine_instruction_count <> (SELECT COUNT(*) FROM Instruction WHERE engine = 'Sync')
            OR matmul_instruction_count <> (SELECT COUNT(*) FROM Instruction WHERE opcode = 'MATMUL')
            OR activate_instruction_count <> (SELECT COUNT(*) FROM Instruction WHERE opcode = 'ACTIVATE')""",
    "Summary's bytes are the sums over Instruction": """
        SELECT * FROM Summary, (SELECT %s FROM Instruction) i WHERE %s""" % (
            ", ".join("COALESCE(SUM(%s), 0) AS %s" % (b, b) for b in (
                "hbm_read_bytes", "hbm_write_bytes", "sbuf_read_bytes", "sbuf_write_bytes", "psum_read_bytes",
                "psum_write_bytes", "psum_read_sbuf_write_bytes", "input_queue_bytes", "output_queue_bytes", "weight_queue_bytes")),
            " OR ".join("Summary.%s <> i.%s" % (b, b) for b in (
                "hbm_read_bytes", "hbm_write_bytes", "sbuf_read_bytes", "sbuf_write_bytes", "psum_read_bytes",
                "psum_write_bytes", "psum_read_sbuf_write_bytes", "input_queue_bytes", "output_queue_bytes", "weight_queue_bytes"))),
    "Summary's FLOPs are the sums over MATMUL": """
        SELECT * FROM Summary, (SELECT COALESCE(SUM(raw_flops), 0) AS f, COALESCE(SUM(flops_transpose), 0) AS t,
                                       SUM(adjusted_flops) AS a FROM Instruction)
        WHERE hardware_flops <> f OR COALESCE(transpose_flops, 0) <> t OR adjusted_hardware_flops <> a""",
    "Summary's times of engines are the sums over Instruction and ActiveTime": " UNION ALL ".join("""
        SELECT '{0}', {0}_engine_instruction_time, i.s, {0}_engine_active_time, NULL FROM Summary,
               (SELECT COALESCE(SUM(duration_ns), 0) AS s, COUNT(*) AS n FROM Instruction
                WHERE LOWER(engine) = '{0}' AND opcode <> 'EVENT_SEMAPHORE') i
        WHERE ABS({0}_engine_instruction_time * 1e9 - i.s) > i.n + 1""".format(e)
                                                              for e in ("tensor", "vector", "scalar", "gpsimd", "sync")),
    "Summary's DMA is the sum over DmaPacket": """
        SELECT * FROM Summary, (SELECT COUNT(*) FILTER (d = 'static') AS sn, COALESCE(SUM(transfer_bytes) FILTER (d = 'static'), 0) AS sb,
                                       COUNT(*) FILTER (d = 'software_dynamic') AS wn,
                                       COALESCE(SUM(transfer_bytes) FILTER (d = 'software_dynamic'), 0) AS wb,
                                       COUNT(*) FILTER (d = 'hardware_dynamic') AS hn,
                                       COALESCE(SUM(transfer_bytes) FILTER (d = 'hardware_dynamic'), 0) AS hb,
                                       SUM(duration_ns) AS ns, COUNT(*) AS n
                                FROM (SELECT *, CASE WHEN queue_type LIKE '%dynamic' THEN queue_type ELSE 'static' END AS d FROM DmaPacket))
        WHERE static_dma_packet_count <> sn OR static_dma_size <> sb OR software_dynamic_dma_packet_count <> wn
           OR software_dynamic_dma_size <> wb OR hardware_dynamic_dma_packet_count <> hn OR hardware_dynamic_dma_size <> hb
           OR ABS(dma_packet_time * 1e9 - ns) > n + 1""",
    "Summary's active time of DMA is the union of DmaPacket": """
        WITH pieces AS (SELECT 0 AS p, start_ts, end_ts FROM DmaPacket), %s
        SELECT * FROM (SELECT SUM(end_ts - start_ts) AS ns, COUNT(*) AS n FROM islands), Summary
        WHERE ABS(dma_active_time * 1e9 - ns) > n + 1""" % ISLANDS,
    # samples closer than 10 ns to the one before are left out, so the last one may not have seen every packet
    "DmaUsage never shows more than the packets moved": """
        SELECT * FROM (SELECT pcore_idx, SUM(transfer_bytes) AS moved FROM DmaPacket GROUP BY ALL) p
        JOIN (SELECT pcore_idx, MAX(total_transfer_bytes) AS shown FROM DmaUsage GROUP BY ALL) u USING (pcore_idx)
        WHERE shown > moved""",
    "DmaUsageSummary is DmaUsage in buckets": """
        WITH b AS (SELECT pcore_idx, timestamp // 1000 * 1000 AS timestamp, SUM(current_throughput) AS rate,
                          SUM(total_transfer_bytes) AS bytes, MAX(total_transfer_bytes) AS most, COUNT(*) AS n FROM DmaUsage GROUP BY 1, 2)
        SELECT * FROM DmaUsageSummary s FULL JOIN b USING (pcore_idx, timestamp)
        WHERE s.count IS DISTINCT FROM n OR sum_total_transfer_bytes <> bytes OR max_total_transfer_bytes <> most
           OR ABS(sum_current_throughput - rate) > 1e-6 * rate OR bucket_resolution_ns <> 1000""",
    "OpcodeSummary counts Instruction": """
        WITH pieces AS (SELECT {'engine': engine, 'opcode': opcode} AS p, start_ts, end_ts FROM Instruction), %s,
             u AS (SELECT p.engine AS engine, p.opcode AS opcode, SUM(end_ts - start_ts) AS active FROM islands GROUP BY ALL),
             i AS (SELECT engine, opcode, COUNT(*) AS n, SUM(duration_ns) AS ns FROM Instruction GROUP BY ALL)
        SELECT * FROM OpcodeSummary FULL JOIN i USING (engine, opcode) FULL JOIN u USING (engine, opcode), Summary
        WHERE instruction_count IS DISTINCT FROM n OR instruction_time_ns NOT BETWEEN ns AND ns + n OR ABS(active_time_ns - active) > n
           OR active_time_ns > instruction_time_ns OR ABS(active_time_percent * total_time * 1e9 - active_time_ns) > 1""" % ISLANDS,
    "an execution lies in the profile": """
        SELECT * FROM ExecutionInfo, Summary WHERE execution_start_ts <> 0 OR execution_end_ts <> FLOOR(ROUND(total_time * 1e12) / 1000)
            OR num_subgraphs <> (SELECT COUNT(DISTINCT pcore_idx) FROM Instruction)""",
    "queues of packets are listed, but for those of the runtime": """
        SELECT p.* FROM DmaPacket p ANTI JOIN DmaQueuesInfo q
               ON p.pcore_idx = q.pcore_idx AND p.queue_name LIKE q.name || '%'
        WHERE p.queue_type NOT IN ('instruction', 'unknown') AND p.queue_name NOT SIMILAR TO 'Q[0-9]+-E[0-9]+'""",
}

WITH_STATIC_BLOCKS = {
    "a block's packets move its bytes and the semaphore's four on each ring": """
        SELECT a.id, a.queue_name, a.block_id, a.write_bytes, p.moved, p.rings FROM DmaPacketAggregated a
        JOIN (SELECT packet_aggregation_id, SUM(transfer_bytes) AS moved, COUNT(DISTINCT (engine_idx, queue_idx)) AS rings
              FROM DmaPacket GROUP BY ALL) p ON p.packet_aggregation_id = a.id
        WHERE p.moved <> a.write_bytes + 4 * p.rings""",
    "a block's bytes are those of its descriptors": """
        SELECT * FROM (SELECT *, list_product(write_shape::BIGINT[]) AS written, list_product(read_shape::BIGINT[]) AS was_read
                       FROM DmaPacketAggregated WHERE write_shape LIKE '[%]' AND write_shape NOT LIKE '[[%')
        WHERE written <> write_bytes OR was_read <> read_bytes OR transfer_bytes <> write_bytes""",
    "each block has packets, and lasts as long as they do": """
        SELECT a.* FROM DmaPacketAggregated a
        LEFT JOIN (SELECT packet_aggregation_id AS id, MIN(start_ts) AS first, MAX(end_ts) AS last FROM DmaPacket GROUP BY ALL) p
             ON p.id = a.id
        WHERE p.id IS NULL OR p.first <> a.start_ts OR ABS(p.last - a.end_ts) > 1""",
    "what a block brings into SBUF is of its trigger's HLO operation": """
        SELECT a.* FROM SbufAllocation a ANTI JOIN
            (SELECT d.*, i.hlo_name FROM DmaPacketAggregated d
             LEFT JOIN Flow f ON f.in_table = 'Instruction' AND f.out_table = 'DmaPacketAggregated' AND f.out_id = d.id
             LEFT JOIN Instruction i ON i.id = f.in_id) t
            ON t.pcore_idx = a.pcore_idx AND t.start_ts = a.start_ts AND t.queue_name LIKE a.queue_name || '%' AND t.block_id = a.block_id
           AND t.hlo_name IS NOT DISTINCT FROM a.hlo_name
        WHERE a.op_source_type = 'dma'""",
    "Summary's transfers are the blocks": """
        SELECT * FROM Summary, (SELECT COUNT(*) AS n, SUM(transfer_bytes) AS bytes FROM DmaPacketAggregated)
        WHERE dma_transfer_count <> n OR dma_transfer_total_bytes <> bytes""",
}


WITH_HBM_USAGE = {
    "HBM traffic only grows": """
        SELECT * FROM (SELECT *, LAG(total_transfer_bytes) OVER (PARTITION BY pcore_idx ORDER BY timestamp) AS before FROM HbmUsage)
        WHERE before > total_transfer_bytes OR current_throughput < 0""",
    # the last points of a core may be closer than 10 ns to the one before, and left out
    "HBM traffic is no more than the instructions asked for": """
        SELECT * FROM (SELECT SUM(most) AS shown FROM (SELECT MAX(total_transfer_bytes) AS most FROM HbmUsage GROUP BY pcore_idx)),
                      (SELECT SUM(hbm_read_bytes) AS r, SUM(hbm_write_bytes) AS w FROM Instruction)
        WHERE shown > COALESCE(r, 0) + COALESCE(w, 0) OR shown < 0.9 * (COALESCE(r, 0) + COALESCE(w, 0))""",
}

WITH_SBUF_ALLOCATIONS = {
    "an allocation has bytes, a time and a writer": """
        SELECT * FROM SbufAllocation WHERE start_ts > end_ts OR start_address > end_address OR start_address < 0
            OR partition NOT IN (0, 32, 64, 96) OR op_source_type NOT IN ('instruction', 'dma')
            OR (op_source_type = 'instruction') <> (opcode IS NOT NULL AND operands IS NOT NULL AND queue_name IS NULL)
            OR (op_source_type = 'dma') <> (queue_name IS NOT NULL AND block_id IS NOT NULL AND opcode IS NULL)""",
    "a byte holds one value at a time": """
        SELECT * FROM SbufAllocation a JOIN SbufAllocation b
            ON a.pcore_idx = b.pcore_idx AND a.partition = b.partition AND a.start_ts < b.start_ts AND b.start_ts < a.end_ts
           AND a.start_address <= b.end_address AND b.start_address <= a.end_address WHERE a.partition IN (0, 96)""",
    "an allocation begins when its writer starts": """
        SELECT a.* FROM SbufAllocation a ANTI JOIN Instruction i
            ON i.pcore_idx = a.pcore_idx AND i.start_ts = a.start_ts AND i.opcode = a.opcode AND i.operands = a.operands
           AND i.hlo_name IS NOT DISTINCT FROM a.hlo_name
        WHERE a.op_source_type = 'instruction'
        UNION ALL SELECT a.* FROM SbufAllocation a ANTI JOIN DmaPacket p
            ON p.pcore_idx = a.pcore_idx AND p.start_ts = a.start_ts AND p.queue_name LIKE a.queue_name || '-%'
        WHERE a.op_source_type = 'dma'""",
}


EVERY = {**WITHIN_ONE_TABLE, **BETWEEN_TABLES, **WITH_STATIC_BLOCKS, **WITH_HBM_USAGE, **WITH_SBUF_ALLOCATIONS}


# A level of the compiler's debug information: its table, and the column of Instruction that names its entries.
LEVELS = {"BirInstruction": "raw_bir_id", "PenguinInstruction": "raw_penguin_id", "HloInstruction": "raw_hlo_id",
          "FrameworkInstruction": "raw_framework_id"}


def of_level(table, column):
    """Ids are of a core's graph, and only BirInstruction says which: so rows are compared by their first execution."""
    executions = """(SELECT MIN(i.id) AS id, MIN(i.start_ts) AS s, MAX(i.end_ts) AS e, SUM(COALESCE(i.hbm_read_bytes, 0)) AS hr,
                            SUM(COALESCE(i.hbm_write_bytes, 0)) AS hw, SUM(COALESCE(i.raw_flops, 0)) AS f,
                            SUM(COALESCE(i.flops_transpose, 0)) AS ft, COUNT(*) AS n
                     FROM Instruction i WHERE i.{0} IS NOT NULL GROUP BY i.pcore_idx, i.{0})""".format(column)
    lists = "(SELECT *, time_intervals::BIGINT[][] AS spans, element_count_per_interval::BIGINT[] AS el, " \
            "transpose_element_count_per_interval::BIGINT[] AS tr, hbm_transfer_size_per_interval::BIGINT[] AS hbm FROM %s)" % table
    return {
        "%s has a row for each entry that ran, with its sums" % table: """
            SELECT * FROM %s l FULL JOIN %s x USING (id)
            WHERE l.raw_bir_id IS NULL OR x.n IS NULL OR l.start_ts <> x.s OR ABS(l.end_ts - x.e) > 1
               OR l.hbm_read_bytes <> x.hr OR l.hbm_write_bytes <> x.hw OR 2 * list_sum(l.el) <> x.f
               OR 2 * list_sum(l.tr) <> x.ft OR list_sum(l.hbm) <> x.hr + x.hw""" % (lists, executions),
        "intervals of %s are in order, apart, and one value of each list goes with each" % table: """
            SELECT * FROM %s WHERE len(spans) <> len(el) OR len(spans) <> len(tr) OR len(spans) <> len(hbm) OR len(spans) = 0
               OR spans[1][1] <> start_ts OR spans[-1][2] <> end_ts
               OR len(list_filter(range(1, len(spans) + 1), lambda n: spans[n][2] < spans[n][1] OR spans[n][1] < COALESCE(spans[n - 1][2], 0))) > 0
            """ % lists,
    }


FRAMEWORK_NODES = {
    "a core's node stands for all that ran on it": """
        SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY node_name) - 1 AS core FROM FrameworkNode WHERE parent_name = '') n
        FULL JOIN (SELECT pcore_idx AS core, COUNT(*) FILTER (engine = 'Tensor') AS t, COUNT(*) FILTER (engine = 'Vector') AS v,
                          COUNT(*) FILTER (engine = 'Scalar') AS s, COUNT(*) FILTER (engine = 'GpSimd') AS g,
                          COUNT(*) FILTER (engine = 'Sync') AS y, MIN(start_ts) AS first, MAX(end_ts) AS last
                   FROM Instruction GROUP BY pcore_idx) i USING (core)
        WHERE n.start_ts IS NULL OR i.t IS NULL OR t <> tensor_engine_instruction_count OR v <> vector_engine_instruction_count
           OR s <> scalar_engine_instruction_count OR g <> gpsimd_engine_instruction_count OR y <> sync_engine_instruction_count
           OR first <> start_ts OR ABS(last - end_ts) > 1""",
    "nodes below one add up to no more than it": """
        SELECT p.node_name, p.tensor_engine_instruction_count, SUM(c.tensor_engine_instruction_count)
        FROM FrameworkNode p JOIN FrameworkNode c ON c.parent_name = p.node_name
        WHERE p.parent_name = '' GROUP BY ALL
        HAVING SUM(c.tensor_engine_instruction_count) > p.tensor_engine_instruction_count OR SUM(c.hbm_read_bytes) > p.hbm_read_bytes
            OR MIN(c.start_ts) < MIN(p.start_ts) OR MAX(c.end_ts) > MAX(p.end_ts)""",
}


LEVELS_AND_NODES = {**FRAMEWORK_NODES, **{k: v for level, column in LEVELS.items() for k, v in of_level(level, column).items()}}


def failures(db, invariants):
    found = []
    for promise, sql in invariants.items():
        rows = db.execute(sql).fetchmany(3)
        if rows:
            found.append("%s: but %s" % (promise, rows))
    return found


@test
def invariants_hold(context):
    for name, files, _ in each_profile(context):
        with database(files) as db:
            broken = failures(db, WITHIN_ONE_TABLE) + failures(db, BETWEEN_TABLES)
            if "DmaPacketAggregated" in files:
                broken += failures(db, WITH_STATIC_BLOCKS)
            for level, column in LEVELS.items():
                if level in files:
                    broken += failures(db, of_level(level, column))
            broken += failures(db, FRAMEWORK_NODES)
            if "HbmUsage" in files:
                broken += failures(db, WITH_HBM_USAGE)
            if "SbufAllocation" in files:
                broken += failures(db, WITH_SBUF_ALLOCATIONS)
            check(not broken, "the invariants of %s" % name, *broken)


@test
def every_flow_edge_joins_rows(context):
    """Whatever tables an edge names: both have rows of these ids, and what comes first does not start last."""
    for name, files, _ in each_profile(context):
        if "Flow" not in files:
            continue
        with database(files) as db:
            for side in ("in", "out"):
                for table, in db.execute("SELECT DISTINCT %s_table FROM Flow" % side).fetchall():
                    check(table in files, "the table that Flow of %s names" % name, table)
                    lost = db.execute('SELECT f.* FROM Flow f ANTI JOIN "%s" t ON f.%s_id = t.id WHERE f.%s_table = ?'
                                      % (table, side, side), [table]).fetchmany(3)
                    check(not lost, "%s_id of Flow in %s of %s" % (side, table, name), lost)


@test
def an_invariant_can_fail(context):
    """The same SQL on tables that were tampered with: each group must notice."""
    neff, ntff, _ = context.sample()
    data = context.folder("data")
    context.ingested(data, "tampered", neff, ntff)
    folder = os.path.join(data, "profiles", "global", "tampered@latest")
    files = {f[:-8]: os.path.join(folder, f) for f in os.listdir(folder)}
    for table, change in (("Instruction", "end_ts - 5 AS end_ts"), ("ActiveTime", "duration_ns + 7 AS duration_ns"),
                          ("DmaPacket", "transfer_bytes + 4 AS transfer_bytes"), ("Summary", "hbm_read_bytes + 1 AS hbm_read_bytes"),
                          ("DmaPacketAggregated", "write_bytes * 2 AS write_bytes"),
                          ("DmaUsageSummary", "count + 1 AS count"), ("OpcodeSummary", "instruction_time_ns * 2 AS instruction_time_ns"),
                          ("ExecutionInfo", "execution_end_ts + 1 AS execution_end_ts"),
                          ("HbmUsage", "total_transfer_bytes * 2 AS total_transfer_bytes"),
                          ("SbufAllocation", "end_ts + 1000000 AS end_ts"), ("SbufAllocation", "start_ts + 1 AS start_ts"),
                          ("SbufAllocation", "'x' AS hlo_name"),
                          ("BirInstruction", "hbm_read_bytes + 1 AS hbm_read_bytes"),
                          ("HloInstruction", "REPLACE(time_intervals, '[[', '[[1') AS time_intervals"),
                          ("FrameworkNode", "vector_engine_instruction_count + 1 AS vector_engine_instruction_count")):
        check(os.path.exists(files[table]) and parquet.read_metadata(files[table]).num_rows, "%s is there" % table)
        with database({k: v for k, v in files.items() if k != table}) as db:
            db.execute('CREATE VIEW "%s" AS SELECT * REPLACE (%s) FROM read_parquet(\'%s\')' % (table, change, files[table]))
            check(failures(db, {**EVERY, **LEVELS_AND_NODES}), "tampering with %s is noticed" % table)
