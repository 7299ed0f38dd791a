/*
 * interval.h - the union of time intervals: how long at least one of them
 * was running, and the merged list.  Exact, O(n log n), in the unit of the
 * input (picoseconds in a trace).
 */
#ifndef NX_BASE_INTERVAL_H
#define NX_BASE_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

struct nx_interval {
    int64_t start, end; /* start <= end */
};

/* Sorts and merges in place; intervals that touch become one. Returns how many are left. */
size_t nx_interval_merge(struct nx_interval *list, size_t count);
/* Sum of the lengths of a merged list. */
int64_t nx_interval_length(const struct nx_interval *merged, size_t count);

#endif
