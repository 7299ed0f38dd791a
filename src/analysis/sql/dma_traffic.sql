/*
 * What the kernel's own DMA packets moved, by core, kind of queue and size. A packet counts where it starts.
 * size_class 9 holds packets of 512 to 1023 bytes: the exponent of the power of two at or below the size.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
size AS (
    SELECT pcore_idx, queue_type, transfer_bytes, count(*) AS packets, sum(end_ts - start_ts) AS packet_ns
    FROM DmaPacket, win
    WHERE queue_type <> 'instruction' AND transfer_bytes > 4 AND start_ts >= t0 AND start_ts < t1
    GROUP BY ALL)
SELECT pcore_idx AS core, queue_type, floor(log2(transfer_bytes))::INTEGER AS size_class,
       sum(packets)::BIGINT AS packets, sum(packets * transfer_bytes)::DOUBLE AS bytes, sum(packet_ns)::DOUBLE AS packet_ns
FROM size
GROUP BY ALL
ORDER BY ALL
