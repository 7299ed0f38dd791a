/*
 * sort.h - a stable order by a 64-bit key, in linear time: a few rising runs are merged, else by radix.
 */
#ifndef NX_BASE_SORT_H
#define NX_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Fills order[0..count) with the numbers 0..count-1 such that keys[order[i]] never falls and equal keys
 * keep their places relative to each other.  Keys that already rise cost one pass.
 */
void nx_sort_order(const uint64_t *keys, uint32_t *order, size_t count);

/*
 * The rows (heap, `size` bytes each) in the order of the 64-bit key that each holds at `key_offset`; a time that
 * is not negative is such a key.  Takes `rows` over and returns another heap block.
 *     rows = nx_sort_rows(rows, count, sizeof(*rows), offsetof(struct row, time));
 */
void *nx_sort_rows(void *rows, size_t count, size_t size, size_t key_offset);

#endif
