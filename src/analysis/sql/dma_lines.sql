/*
 * What the DMA transfers of each source line move: which tensor, from where to where, in how large pieces. The line is
 * that of the instruction that started the transfer; NULL if the profile does not name it. A descriptor's bytes are
 * those of one SBUF partition. A transfer counts where it starts.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
trigger AS (
    SELECT out_id AS transfer, min(in_id) AS instruction
    FROM Flow
    WHERE out_table = 'DmaPacketAggregated' AND in_table = 'Instruction' AND dependency_type = 'DGE_TRIGGER'
    GROUP BY out_id),
moved AS (
    SELECT id, transfer_bytes AS bytes, variable, op, source, dest, coalesce(is_transpose_mode, false) AS transposes,
           CASE op WHEN 'read' THEN write_num_sbuf_partitions
                   WHEN 'write' THEN read_num_sbuf_partitions
                   ELSE greatest(read_num_sbuf_partitions, write_num_sbuf_partitions) END AS partitions
    FROM DmaPacketAggregated, win
    WHERE start_ts >= t0 AND start_ts < t1),
line AS (
    SELECT transfer, coalesce(nullif(bir_debug_info_source_location, ''), nki_source_location) AS line
    FROM trigger JOIN Instruction ON id = instruction)
SELECT line, variable, op, source, dest, transposes, count(*) AS transfers, sum(bytes)::DOUBLE AS bytes,
       median(bytes)::BIGINT AS transfer_bytes, median(partitions)::BIGINT AS partitions,
       CASE WHEN median(partitions) >= 1 THEN median(bytes)::BIGINT // median(partitions)::BIGINT
            ELSE median(bytes)::BIGINT END AS descriptor_bytes
FROM moved LEFT JOIN line ON transfer = id
GROUP BY ALL
ORDER BY bytes DESC, line, variable, op, source, dest
LIMIT 10000
