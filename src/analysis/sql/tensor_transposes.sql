/*
 * Transposes on the Tensor engine: MATMULs that only turn data, by source line.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
turn AS (
    SELECT coalesce(nullif(bir_debug_info_source_location, ''), nki_source_location) AS line, adjusted_flops, duration_ns
    FROM Instruction, win
    WHERE engine = 'Tensor' AND opcode = 'MATMUL' AND tensor_instruction_type = 'TRANSPOSE' AND start_ts >= t0
      AND start_ts < t1)
SELECT line, count(*) AS transposes, coalesce(sum(adjusted_flops), 0)::DOUBLE AS flops, sum(duration_ns)::DOUBLE AS ns
FROM turn
GROUP BY ALL
ORDER BY flops DESC, line
LIMIT 10000
