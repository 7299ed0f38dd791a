/*
 * usage.h - what SbufUsage and PsumUsage share: a sweep over the live stretches
 * of a memory, in time order, with a row for each time at which they change.
 */
#ifndef NX_TABLES_USAGE_H
#define NX_TABLES_USAGE_H

#include "tables/liveness.h"
#include "tables/rows.h"

#define NX_USAGE_SLOTS 8 /* four sampled partitions of SBUF, or eight banks of PSUM */

struct nx_usage_row {
    int64_t time;
    uint8_t core;
    uint32_t slot[NX_USAGE_SLOTS]; /* bytes, or how many live stretches the bank holds */
};

/* Adds to the slots what a stretch counts for. */
typedef void nx_usage_weigh(const struct nx_live *live, uint32_t slot[NX_USAGE_SLOTS]);

/* Appends the rows (struct nx_usage_row) of all cores, by time. */
void nx_usage_add(const struct nx_trace *trace, enum nx_memory memory, nx_usage_weigh *weigh, struct nx_rows *rows);

#endif
