/*
 * For how long the hardware limited each core to k of n cycles, and how much of the window that took away.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
rate AS (
    SELECT pcore_idx, type, k, n, least(timestamp + duration, t1) - greatest(timestamp, t0) AS ns
    FROM Throttle, win
    WHERE timestamp < t1 AND timestamp + duration > t0 AND k < n AND n > 0)
SELECT pcore_idx AS core, type, k, n, sum(ns)::DOUBLE AS ns, sum(ns * (1 - k / n::DOUBLE)) AS taken_ns
FROM rate
GROUP BY ALL
ORDER BY ALL
