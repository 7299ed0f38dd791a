-- Time in which at least one DMA packet was in flight: of each core, and (core NULL) of all cores together.
--
-- The cores stand one behind the other on one axis, 10^16 ns (115 days) apart, so that one pass in the order of
-- starts finds all periods: a packet begins one if it starts after everything before it has ended. The windows have
-- no ORDER BY of their own, and so run over the sorted rows as they come; unsorted counts rows that did not come in
-- order, and must be 0. The last row of the axis gives the last period its end.
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
packet AS (
    SELECT coalesce(pcore_idx, 99) * 10000000000000000 + greatest(start_ts, t0) - t0 AS s,
           coalesce(pcore_idx, 99) * 10000000000000000 + least(end_ts, t1) - t0 AS e
    FROM DmaPacket, win
    WHERE start_ts < t1 AND end_ts > t0
    UNION ALL SELECT 9000000000000000000, 9000000000000000000),
reach AS (
    SELECT s, max(e) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reach
    FROM (SELECT s, e FROM packet ORDER BY s)),
step AS (SELECT s, lag(reach) OVER () AS before, lag(s) OVER () AS previous FROM reach),
first AS (SELECT s, before, s < previous AS unsorted FROM step WHERE before IS NULL OR s > before OR s < previous),
period AS MATERIALIZED (SELECT s, lead(before) OVER () AS e, unsorted FROM first),
-- the same once more, with all cores on one axis
shared AS (
    SELECT s % 10000000000000000 AS s, (e - 1) % 10000000000000000 + 1 AS e FROM period WHERE e IS NOT NULL
    UNION ALL SELECT 9000000000000000000, 9000000000000000000),
shared_reach AS (
    SELECT s, max(e) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reach
    FROM (SELECT s, e FROM shared ORDER BY s)),
shared_step AS (SELECT s, lag(reach) OVER () AS before, lag(s) OVER () AS previous FROM shared_reach),
shared_first AS (
    SELECT s, before, s < previous AS unsorted FROM shared_step WHERE before IS NULL OR s > before OR s < previous),
shared_period AS (SELECT s, lead(before) OVER () AS e, unsorted FROM shared_first)
SELECT s // 10000000000000000 AS core, sum(e - s)::DOUBLE AS active_ns, count(*) AS periods,
       count(*) FILTER (unsorted) AS unsorted
FROM period
WHERE e IS NOT NULL
GROUP BY 1
UNION ALL
SELECT NULL, sum(e - s)::DOUBLE, count(*), count(*) FILTER (unsorted)
FROM shared_period
WHERE e IS NOT NULL
ORDER BY core
