/*
 * First start to last end of the kernel's own DMA packets: those that load no instructions and move more than the
 * 4 bytes of a semaphore signal.
 */
SELECT min(start_ts) AS t0, max(end_ts) AS t1
FROM DmaPacket
WHERE queue_type <> 'instruction' AND transfer_bytes > 4
