/*
 * build.h - the steps of nx_trace_build() and what passes between them.
 * Private to this folder.
 *
 *   code.c    the instructions of each core, with patches and debug info joined
 *   origin.c  from BIR entries up to the source, HLO and the framework
 *   pair.c    one pass over all records: starts with ends, packets with their ends
 *   window.c  where the profile begins and ends
 *   blocks.c  packets of static DMA queues to the blocks and triggers they serve
 *   keep.c    rows inside the window, sorted
 *   maker.c       who made each change of a semaphore (semaphore.h)
 *   release.c     who made each wait condition hold
 *   dependency.c  which execution or DMA block had to wait for which
 *   unread.c      what is there and not understood: collectives, barriers, errors
 *   gaps.c    what is missing or was not understood, for the table Warning
 */
#ifndef NX_TRACE_BUILD_H
#define NX_TRACE_BUILD_H

#include "trace/trace.h"

#define NX_PC_COUNT ((size_t)1 << 20) /* a record's pc has 20 bits */
#define NX_RING_SLOTS (32 * 16)       /* a record's DMA engine has 5 bits, its ring 4 */

/* A packet row while records are paired. Times are absolute; whether one was seen is in `seen`. */
struct nx_raw_packet {
    uint64_t start, end, ack;
    uint32_t bytes;
    uint32_t next; /* next packet of the same ring, or NX_NONE */
    uint32_t ring; /* into nx_trace.rings */
    uint16_t crc;
    uint8_t seen; /* bits NX_SEEN_* */
    bool last_of_block;
    uint32_t run; /* into nx_trace.runs, or NX_NONE */
};
#define NX_SEEN_START 1
#define NX_SEEN_END 2
#define NX_SEEN_ACK 4

struct nx_raw_exec {
    uint64_t start, end; /* absolute ps */
    uint32_t inst, pc;
    uint32_t next; /* while unfinished: the next one of the same (engine, pc), circular */
    uint16_t wait_cycles, crc_in, crc_out;
    uint8_t engine, core;
    bool finished;
};

struct nx_raw_event {
    uint64_t time;
    uint32_t value;
    uint8_t core, id, mode;
    int8_t source;
    bool is_semaphore;
};

struct nx_raw_throttle {
    uint64_t time;
    uint8_t core, k, n, type;
};

/* First and last packet of each ring, in the order of the ring. Index: nx_trace.rings. */
struct nx_ring_list {
    uint32_t first, last;
    uint32_t at_start, at_end, at_ack; /* next packet that lacks that record, or NX_NONE */
};

struct nx_build {
    struct nx_trace *trace;
    nx_progress *progress;
    void *context;

    struct nx_raw_exec *execs;
    size_t exec_count, exec_capacity;
    struct nx_raw_packet *packets;
    size_t packet_count, packet_capacity;
    struct nx_raw_event *events;
    size_t event_count, event_capacity;
    struct nx_raw_throttle *throttles;
    size_t throttle_count, throttle_capacity;
    struct nx_ring_list *ring_lists;
    size_t ring_capacity;

    uint64_t window_start, window_end; /* absolute ps */
};

void nx_build_code(struct nx_trace *trace);
void nx_build_origins(struct nx_trace *trace);
enum nx_status nx_build_pairs(struct nx_build *build, struct nx_error *error);
enum nx_status nx_build_window(struct nx_build *build, struct nx_error *error);
void nx_build_blocks(struct nx_build *build);
void nx_build_keep(struct nx_build *build);
void nx_build_gaps(struct nx_trace *trace);

/* An execution waited for a semaphore or an event, and this is who made its condition hold. */
struct nx_release {
    uint64_t exec;
    uint32_t by; /* execution, or run */
    bool by_run;
};
/* All that can be told, by execution; the caller frees the list. */
struct nx_release *nx_build_releases(const struct nx_trace *trace, size_t *count);
void nx_build_dependencies(struct nx_trace *trace);
void nx_build_unread(struct nx_trace *trace);

#endif
