/*
 * What the kernel's own DMA packets moved, by core, kind of queue and size. A packet counts where it starts.
 * size_class 9 holds packets of 512 to 1023 bytes: the exponent of the power of two at or below the size.
 */
WITH win AS (SELECT min(start_ts) AS t0, max(end_ts) AS t1 FROM DmaPacket WHERE queue_type <> 'instruction' AND transfer_bytes > 4),
packet AS (
    SELECT pcore_idx, queue_type, transfer_bytes, end_ts - start_ts AS duration
    FROM DmaPacket, win
    WHERE queue_type <> 'instruction' AND transfer_bytes > 4 AND start_ts >= t0 AND start_ts < t1)
SELECT pcore_idx AS core, queue_type, floor(log2(transfer_bytes))::INTEGER AS size_class, count(*) AS packets,
       sum(transfer_bytes)::DOUBLE AS bytes, sum(duration)::DOUBLE AS packet_ns
FROM packet
GROUP BY ALL
ORDER BY ALL
