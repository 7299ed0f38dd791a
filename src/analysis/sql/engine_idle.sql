/*
 * The pauses of one engine, and what had finished last when each ended: an instruction of another engine (a name of
 * one), a DMA transfer (DMA), or nothing that the profile links to it (NULL). By source line of the first instruction
 * after the pause. The last pause, if it has no such instruction, lasts to the end of the window.
 *
 * What ended a pause is looked for among what Flow links to the first instruction after it, and to those instructions
 * inside it that only wait for a semaphore (which do not count as having finished themselves). It must have finished
 * inside the pause: what was finished before cannot be what was waited for. Transfers of DMA_DIRECT2D finish when their
 * packets do.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
chosen AS (SELECT 'Tensor' AS name),
work AS (
    SELECT pcore_idx, start_ts, end_ts
    FROM ActiveTime, win
    WHERE engine = (SELECT lower(name) FROM chosen) AND start_ts < t1 AND end_ts > t0),
after AS (
    SELECT pcore_idx, end_ts AS s, lead(start_ts) OVER (PARTITION BY pcore_idx ORDER BY start_ts) AS e FROM work
    UNION ALL SELECT pcore_idx, (SELECT t0 FROM win), min(start_ts) FROM work GROUP BY pcore_idx),
pause AS (
    SELECT pcore_idx, s, coalesce(e, t1) AS e, e IS NULL AS is_last
    FROM after, win
    WHERE coalesce(e, t1) > s),
own AS (
    SELECT id, pcore_idx, start_ts, end_ts, opcode, coalesce(nullif(bir_debug_info_source_location, ''), nki_source_location) AS line
    FROM Instruction, win
    WHERE engine = (SELECT name FROM chosen) AND start_ts >= t0 AND start_ts <= t1),
first AS (
    SELECT p.pcore_idx, p.s, p.e, min(o.id) AS id, min(o.line) AS line
    FROM own o JOIN pause p ON o.pcore_idx = p.pcore_idx AND o.start_ts = p.e
    WHERE o.opcode <> 'EVENT_SEMAPHORE' AND NOT p.is_last
    GROUP BY ALL),
waiter AS (
    SELECT pcore_idx, s, e, id, e AS start_ts, e AS ready FROM first
    UNION ALL
    SELECT p.pcore_idx, p.s, p.e, o.id, o.start_ts, least(o.end_ts, p.e)
    FROM (SELECT * FROM own WHERE opcode = 'EVENT_SEMAPHORE') o
    ASOF JOIN (SELECT * FROM pause WHERE NOT is_last) p ON o.pcore_idx = p.pcore_idx AND o.start_ts <= p.e
    WHERE o.start_ts > p.s),
link AS (
    SELECT w.pcore_idx, w.s, w.e, CASE WHEN f.in_table = 'Instruction' THEN f.in_id END AS instruction, w.ready,
           w.start_ts - f.gap_time AS finished
    FROM Flow f JOIN waiter w ON f.out_id = w.id
    WHERE f.out_table = 'Instruction'),
maker AS (
    SELECT l.pcore_idx, l.s, l.e, l.ready,
           CASE WHEN l.instruction IS NULL OR i.opcode = 'DMA_DIRECT2D' THEN 'DMA' ELSE i.engine END AS who,
           CASE WHEN i.opcode = 'DMA_DIRECT2D' THEN coalesce(i.dma_trigger_end_ts, l.finished) ELSE l.finished END AS finished
    FROM Instruction i RIGHT JOIN link l ON i.id = l.instruction
    WHERE i.opcode IS NULL OR i.opcode <> 'EVENT_SEMAPHORE' OR i.engine <> (SELECT name FROM chosen)),
ended AS (
    SELECT pcore_idx, s, e, arg_max(who, finished) AS who
    FROM maker
    WHERE finished > s AND finished <= ready
    GROUP BY pcore_idx, s, e)
SELECT ended.who, first.line, pause.is_last, count(*) AS pauses, sum(pause.e - pause.s)::DOUBLE AS ns,
       max(pause.e - pause.s) AS longest_ns
FROM pause
LEFT JOIN first ON pause.pcore_idx = first.pcore_idx AND pause.s = first.s
LEFT JOIN ended ON pause.pcore_idx = ended.pcore_idx AND pause.s = ended.s
GROUP BY ALL
ORDER BY ns DESC, who, line
LIMIT 10000
