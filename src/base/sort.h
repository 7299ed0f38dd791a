/*
 * sort.h - a stable order by a 64-bit key, in linear time (radix).
 * Rows themselves stay where they are: the caller moves them by the order.
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

#endif
