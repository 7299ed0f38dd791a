/*
 * FLOPs of the Tensor engine in what BF16 would have cost, by core and kind (REGULAR, TRANSPOSE). A MATMUL counts
 * where it starts; unknown counts those of data types whose rate is not known.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
matmul AS (
    SELECT pcore_idx, tensor_instruction_type, adjusted_flops
    FROM Instruction, win
    WHERE engine = 'Tensor' AND opcode = 'MATMUL' AND start_ts >= t0 AND start_ts < t1)
SELECT pcore_idx AS core, tensor_instruction_type AS kind, count(*) AS matmuls,
       coalesce(sum(adjusted_flops), 0)::DOUBLE AS flops, count(*) - count(adjusted_flops) AS unknown
FROM matmul
GROUP BY ALL
ORDER BY ALL
