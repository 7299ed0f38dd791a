/*
 * Bytes that must move at least once: each input and output tensor.
 */
SELECT sum(size)::DOUBLE AS necessary_bytes, count(*) AS tensors, count(*) - count(size) AS without_size
FROM TensorInfo
WHERE type IN ('IN', 'OUT')
