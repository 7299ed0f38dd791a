/*
 * liveness.h - which bytes of on-chip memory hold a value that will still be
 * used, over time, from what compute instructions write and read.
 *
 * A byte lives from the start of the instruction that writes it to the end of
 * the last instruction that reads it before it is written again; a value that
 * nobody reads lives while it is being written.  DMA is not counted, nor are
 * reads through bias and scalar pointers, and a pattern with a negative step
 * is taken to begin one element lower than it does: so does the closed tool,
 * whose output this reproduces point by point (docs/fidelity.md).
 */
#ifndef NX_TABLES_LIVENESS_H
#define NX_TABLES_LIVENESS_H

#include "trace/trace.h"

enum nx_memory { NX_MEMORY_SBUF, NX_MEMORY_PSUM };

/* Bytes [start, end) of `partitions` partitions (from the first one on), live during [from, to] ps. */
struct nx_live {
    uint32_t start, end; /* within a partition; PSUM from 0 */
    uint8_t partitions;
    bool ends; /* false: written again at `to`, so the bytes stay live */
    int64_t from, to;
    /* Who wrote it: an execution; in nx_liveness_open_partition() a run of a DMA block too, by that descriptor. */
    uint32_t writer, desc;
    bool by_run;
};

struct nx_liveness {
    struct nx_live *list; /* in no particular order; neighbours of one life are joined where that is cheap */
    size_t count, capacity;
};

/*
 * Memory is cut at all addresses where an access begins or ends, and each access visits the pieces that it
 * covers: near linear for kernels, whose tiles share their edges.  Beyond NX_LIVENESS_MAX visits, or with many
 * times more stretches than accesses (hostile code), the result is empty.
 */
#define NX_LIVENESS_MAX ((uint64_t)1 << 30)
void nx_liveness_open(const struct nx_trace *trace, uint32_t core, enum nx_memory memory, struct nx_liveness *out);
/*
 * The same of one partition of SBUF, and with static DMA, whose blocks name the bytes they move: a value lives from
 * the first packet that brings it, and is read until the last packet that takes it away.
 */
void nx_liveness_open_partition(const struct nx_trace *trace, uint32_t core, uint32_t partition,
                                struct nx_liveness *out);
void nx_liveness_close(struct nx_liveness *liveness);

#endif
