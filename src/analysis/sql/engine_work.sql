/*
 * What one engine (Vector, Scalar, GpSimd) spends its time on, by source line, opcode and data type of the result, and
 * how many elements a partition it works on in a cycle of its clock: 1 is its base rate, 2 or 4 with a performance mode.
 * Elements are those of the larger side: written, or read over the number of operands read.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
chosen AS (SELECT 'Vector' AS name),
clock AS (
    SELECT CASE name WHEN 'Vector' THEN vector_engine_clock_freq WHEN 'Scalar' THEN scalar_engine_clock_freq
                     ELSE gpsimd_engine_clock_freq END AS ghz
    FROM Metadata, chosen),
code AS (
    SELECT coalesce(nullif(bir_debug_info_source_location, ''), nki_source_location) AS line, opcode, operands,
           count(*) AS runs, sum(duration_ns)::DOUBLE AS ns,
           sum(coalesce(sbuf_write_bytes, 0) + coalesce(psum_write_bytes, 0))::DOUBLE AS written,
           sum(coalesce(sbuf_read_bytes, 0) + coalesce(psum_read_bytes, 0))::DOUBLE AS read
    FROM Instruction, win
    WHERE engine = (SELECT name FROM chosen) AND opcode <> 'EVENT_SEMAPHORE' AND start_ts >= t0 AND start_ts < t1
    GROUP BY ALL),
typed AS (
    SELECT line, opcode, runs, ns, written, read, regexp_extract(operands, 'dst=([a-z0-9_]+)@', 1) AS dtype,
           regexp_extract(operands, 'src0?=([a-z0-9_]+)@', 1) AS source_dtype,
           CASE WHEN operands LIKE '%src1=%' THEN 2 ELSE 1 END AS sources
    FROM code),
sized AS (
    SELECT line, opcode, dtype, runs, ns,
           written / CASE WHEN dtype LIKE '%32%' THEN 4 WHEN dtype LIKE '%16%' THEN 2 WHEN dtype LIKE '%8%' THEN 1 END AS made,
           read / sources / CASE WHEN source_dtype LIKE '%32%' THEN 4 WHEN source_dtype LIKE '%16%' THEN 2
                                 WHEN source_dtype LIKE '%8%' THEN 1 END AS used
    FROM typed)
SELECT line, opcode, dtype, sum(runs)::BIGINT AS runs, sum(ns) AS ns, sum(greatest(made, used)) AS elements,
       sum(greatest(made, used)) / nullif(sum(ns) * min(ghz), 0) AS elements_per_cycle
FROM sized, clock
GROUP BY line, opcode, dtype
ORDER BY ns DESC, line, opcode, dtype
LIMIT 10000
