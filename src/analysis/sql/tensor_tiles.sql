/*
 * Tile sizes of the MATMULs of each source line: K rows (contraction) and M columns of the stationary operand, which
 * end the operand text as K*M, and N, the elements of the moving one.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
code AS (
    SELECT coalesce(nullif(bir_debug_info_source_location, ''), nki_source_location) AS line,
           tensor_instruction_type AS kind, operands, tensor_elements, count(*) AS tiles,
           coalesce(sum(adjusted_flops), 0)::DOUBLE AS flops, sum(duration_ns)::DOUBLE AS ns
    FROM Instruction, win
    WHERE engine = 'Tensor' AND opcode = 'MATMUL' AND start_ts >= t0 AND start_ts < t1
    GROUP BY ALL),
size AS (
    SELECT line, kind, tiles, flops, ns, tensor_elements,
           try_cast(regexp_extract(operands, '([0-9]+)\*([0-9]+)\s*$', 1) AS BIGINT) AS k,
           try_cast(regexp_extract(operands, '([0-9]+)\*([0-9]+)\s*$', 2) AS BIGINT) AS m,
           try_cast(regexp_extract(operands, 'src=\S+\[[0-9,-]+\]\[([0-9]+),', 1) AS BIGINT) AS first_size
    FROM code)
SELECT line, kind, k, m, coalesce(tensor_elements // nullif(k * m, 0), first_size) AS n,
       sum(tiles)::BIGINT AS tiles, sum(flops) AS flops, sum(ns) AS ns
FROM size
GROUP BY ALL
ORDER BY flops DESC, line, kind, k, m, n
LIMIT 10000
