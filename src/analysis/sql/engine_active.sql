/*
 * Time in which each compute engine was at work (waits for semaphores are none): of each core, and (core NULL) of
 * all cores together. The recipe is that of dma_active.sql, with one axis for all engines and cores: a place of it
 * is engine * 100 + core, and 99 stands for all cores.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
work AS (
    SELECT CASE engine WHEN 'tensor' THEN 0 WHEN 'vector' THEN 1 WHEN 'scalar' THEN 2 WHEN 'gpsimd' THEN 3
                       WHEN 'sync' THEN 4 END * 100 AS engine,
           pcore_idx AS core, greatest(start_ts, t0) - t0 AS s, least(end_ts, t1) - t0 AS e
    FROM ActiveTime, win
    WHERE start_ts < t1 AND end_ts > t0),
placed AS (
    SELECT (engine + core) * 10000000000000000 + s AS s, (engine + core) * 10000000000000000 + e AS e FROM work
    UNION ALL
    SELECT (engine + 99) * 10000000000000000 + s, (engine + 99) * 10000000000000000 + e FROM work
    UNION ALL SELECT 9000000000000000000, 9000000000000000000),
reach AS (
    SELECT s, max(e) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reach
    FROM (SELECT s, e FROM placed WHERE s IS NOT NULL ORDER BY s)),
step AS (SELECT s, lag(reach) OVER () AS before, lag(s) OVER () AS previous FROM reach),
first AS (SELECT s, before, s < previous AS unsorted FROM step WHERE before IS NULL OR s > before OR s < previous),
period AS (SELECT s, lead(before) OVER () AS e, unsorted, s // 10000000000000000 AS place FROM first)
SELECT CASE place // 100 WHEN 0 THEN 'Tensor' WHEN 1 THEN 'Vector' WHEN 2 THEN 'Scalar' WHEN 3 THEN 'GpSimd'
                         ELSE 'Sync' END AS engine,
       nullif(place % 100, 99) AS core, sum(e - s)::DOUBLE AS active_ns, count(*) AS periods,
       count(*) FILTER (unsorted) AS unsorted
FROM period
WHERE e IS NOT NULL
GROUP BY ALL
ORDER BY ALL
