/*
 * liveness.h - which bytes of on-chip memory hold a value that will still be
 * used, over time, from what compute instructions write and read.
 *
 * A byte lives from the start of the instruction that writes it to the end of
 * the last instruction that reads it before it is written again; a value that
 * nobody reads lives while it is being written.  DMA is not counted, nor are
 * reads through bias and scalar pointers: so does the closed tool, whose
 * output on four captures this reproduces point by point (docs/fidelity.md).
 *
 * The work is one pass over reads and writes in time order with a sorted list
 * of live segments: near O(n log n), memory in proportion to the accesses.
 */
#ifndef NX_TABLES_LIVENESS_H
#define NX_TABLES_LIVENESS_H

#include "trace/trace.h"

/* Bytes [start, end) of one memory live during [from, to] ps. */
struct nx_live {
    uint32_t start, end;
    uint16_t first_partition, partitions;
    int64_t from, to;
    bool ends; /* false: written again before `to`, so the bytes stay live then */
};

struct nx_liveness {
    struct nx_live *list; /* in no particular order */
    size_t count, capacity;
};

enum nx_memory { NX_MEMORY_SBUF, NX_MEMORY_PSUM };

void nx_liveness_open(const struct nx_trace *trace, uint32_t core, enum nx_memory memory, struct nx_liveness *out);
void nx_liveness_close(struct nx_liveness *liveness);

#endif
