/*
 * How often each tensor was moved: bytes of all transfers that name it over its size. Tensors that TensorInfo does not
 * list (type NULL) are temporaries; VIRTUAL is HBM that the compiler spills to.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
tensor AS (
    SELECT variable_name, min(type) AS type, max(size) AS size
    FROM TensorInfo
    WHERE variable_name IS NOT NULL
    GROUP BY variable_name)
SELECT variable, type, size, count(*) AS transfers, sum(transfer_bytes)::DOUBLE AS bytes,
       sum(transfer_bytes)::DOUBLE / nullif(size, 0) AS repeat,
       coalesce(sum(transfer_bytes) FILTER (dest LIKE '%VIRTUAL%'), 0)::DOUBLE AS spill_saved,
       coalesce(sum(transfer_bytes) FILTER (source LIKE '%VIRTUAL%'), 0)::DOUBLE AS spill_reloaded
FROM DmaPacketAggregated CROSS JOIN win LEFT JOIN tensor ON variable_name = variable
WHERE start_ts >= t0 AND start_ts < t1
GROUP BY variable, type, size
ORDER BY bytes DESC, variable
LIMIT 10000
