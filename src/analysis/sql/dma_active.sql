/*
 * Time in which at least one DMA packet was in flight: of each core, and (core NULL) of all cores together; and each
 * core's pauses between, by what ended them.
 *
 * The cores stand one behind the other on one axis, 10^16 ns (115 days) apart, so that one pass in the order of
 * starts finds all periods: a packet begins one if it starts after everything before it has ended. The windows have
 * no ORDER BY of their own, and so run over the sorted rows as they come; unsorted counts rows that did not come in
 * order, and must be 0. The last row of the axis gives the last period its end.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
packet AS (
    SELECT coalesce(pcore_idx, 99) * 10000000000000000 + greatest(start_ts, t0) - t0 AS s,
           coalesce(pcore_idx, 99) * 10000000000000000 + least(end_ts, t1) - t0 AS e
    FROM DmaPacket, win
    WHERE start_ts < t1 AND end_ts > t0),
-- packets of 64 ns or more that start within the same 64 ns overlap, and so do those that start at the same time:
-- together they are one interval, and far fewer are left to be sorted
joined AS (
    SELECT min(s) AS s, max(e) AS e FROM packet GROUP BY CASE WHEN e - s >= 64 THEN s // 64 ELSE -1 - s END
    UNION ALL SELECT 9000000000000000000, 9000000000000000000),
reach AS (
    SELECT s, max(e) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reach
    FROM (SELECT s, e FROM joined ORDER BY s)),
step AS (SELECT s, lag(reach) OVER () AS before, lag(s) OVER () AS previous FROM reach),
first AS (SELECT s, before, s < previous AS unsorted FROM step WHERE before IS NULL OR s > before OR s < previous),
period AS MATERIALIZED (
    SELECT s // 10000000000000000 AS core, s, lead(before) OVER () AS e, lead(s) OVER () AS next, unsorted FROM first),
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
shared_period AS (SELECT s, lead(before) OVER () AS e, unsorted FROM shared_first),
-- Pauses: of a pause that a transfer's first packet ended, the engine whose instruction started that transfer, and what
-- had finished last, inside the pause, of what Flow links to that instruction (waits of its own engine do not count).
pause AS (
    SELECT core, t0 + e - core * 10000000000000000 AS s, t0 + next - core * 10000000000000000 AS e
    FROM period, win
    WHERE e IS NOT NULL AND next // 10000000000000000 = core),
begun AS (
    SELECT core, s, e, min(id) AS transfer
    FROM DmaPacketAggregated JOIN pause ON start_ts = e AND pcore_idx = core
    GROUP BY core, s, e),
trigger AS (
    SELECT core, s, e, min(in_id) AS id
    FROM Flow JOIN begun ON out_id = transfer
    WHERE out_table = 'DmaPacketAggregated' AND in_table = 'Instruction' AND dependency_type = 'DGE_TRIGGER'
    GROUP BY core, s, e),
started AS (
    SELECT core, s, e, id, engine, start_ts,
           coalesce(nullif(bir_debug_info_source_location, ''), nki_source_location) AS line
    FROM Instruction JOIN trigger USING (id)),
link AS (
    SELECT core, s, e, engine AS starter, start_ts, CASE WHEN in_table = 'Instruction' THEN in_id END AS instruction,
           start_ts - gap_time AS finished
    FROM Flow JOIN started ON out_id = id
    WHERE out_table = 'Instruction'),
ended AS (
    SELECT core, s, e, arg_max(CASE WHEN instruction IS NULL THEN 'DMA' ELSE engine END, finished) AS who
    FROM Instruction RIGHT JOIN link ON id = instruction
    WHERE finished > s AND finished <= link.start_ts
      AND (opcode IS NULL OR opcode <> 'EVENT_SEMAPHORE' OR engine <> starter)
    GROUP BY core, s, e)
SELECT 'active' AS row_kind, core, sum(e - s)::DOUBLE AS ns, count(*) AS periods, count(*) FILTER (unsorted) AS unsorted,
       NULL AS starter, NULL AS who, NULL AS line, NULL AS longest_ns
FROM period
WHERE e IS NOT NULL
GROUP BY core
UNION ALL
SELECT 'active', NULL, sum(e - s)::DOUBLE, count(*), count(*) FILTER (unsorted), NULL, NULL, NULL, NULL
FROM shared_period
WHERE e IS NOT NULL
UNION ALL
SELECT 'pause', NULL, sum(pause.e - pause.s)::DOUBLE, count(*), 0, started.engine, ended.who, started.line,
       max(pause.e - pause.s)
FROM pause LEFT JOIN started ON pause.core = started.core AND pause.s = started.s
     LEFT JOIN ended ON pause.core = ended.core AND pause.s = ended.s
GROUP BY started.engine, ended.who, started.line
ORDER BY row_kind, ns DESC, core, starter, who, line
