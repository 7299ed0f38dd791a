/*
 * build.h - the steps of nx_trace_build() and what passes between them.
 * Private to this folder.
 *
 *   code.c    the instructions of each core, with patches and debug info joined
 *   origin.c  from BIR entries up to the source, HLO and the framework
 *   pair.c    one pass over all records, by jobs that share nothing:
 *     pair_instructions.c  starts with ends
 *     pair_dma.c           starts, ends and acknowledgements of packets: counted, then put in place
 *     pair_events.c        events, semaphores, throttling
 *   window.c  where the profile begins and ends
 *   blocks.c  packets of static DMA queues to the blocks and triggers they serve
 *   keep.c    rows inside the window, sorted
 *     keep_packets.c       the same for DMA packets: rings merged
 *   maker.c       who made each change of a semaphore (semaphore.h)
 *   release.c     who made each wait condition hold
 *   dependency.c  which execution or DMA block had to wait for which
 *   unread.c      what is there and not understood: collectives, barriers, errors
 *   gaps.c    what is missing or was not understood, for the table Warning
 */
#ifndef NX_TRACE_BUILD_H
#define NX_TRACE_BUILD_H

#include "base/jobs.h"
#include "trace/trace.h"

#define NX_PC_COUNT ((size_t)1 << 20) /* a record's pc has 20 bits */
#define NX_RING_SLOTS (32 * 16) /* a record's DMA engine has 5 bits, its ring 4 */

/* A complete packet while records are paired. Times are absolute. */
struct nx_raw_packet {
    uint64_t start, end;
    uint64_t ack; /* or NX_NO_ACK */
    uint32_t bytes;
    uint32_t run; /* into nx_trace.runs, or NX_NONE */
    uint16_t crc;
    bool last_of_block;
};
#define NX_NO_ACK UINT64_MAX /* also what a time that does not fit saturates to */

struct nx_raw_exec {
    uint64_t start, end; /* absolute ps */
    uint32_t inst, pc;
    uint32_t next; /* while unfinished: the next one of the same (engine, pc), circular */
    uint16_t wait_cycles, crc_in, crc_out;
    uint8_t engine;
    bool finished;
};

struct nx_raw_event {
    uint64_t time;
    uint32_t value;
    uint8_t id, mode;
    int8_t source;
    bool is_semaphore;
};

struct nx_raw_throttle {
    uint64_t time;
    uint8_t k, n, type;
};

/* The rows of one core, each kind in file order. */
struct nx_core_rows {
    struct nx_raw_exec *execs;
    size_t exec_count, exec_capacity;
    struct nx_raw_event *events;
    size_t event_count, event_capacity;
    struct nx_raw_throttle *throttles;
    size_t throttle_count, throttle_capacity;
};

/* The packets of one ring, in its order: the k-th start, end and acknowledgement belong together. */
struct nx_ring_rows {
    struct nx_raw_packet *packets; /* that have a start and an end */
    size_t count;
    size_t acks;         /* the first ones have an acknowledgement */
    uint64_t unfinished; /* packets that lack their start or end */
};

struct nx_build {
    struct nx_trace *trace;
    nx_progress *progress;
    void *context;

    struct nx_core_rows *cores; /* as nx_trace.cores */
    struct nx_ring_rows *rings; /* as nx_trace.rings, which are by core, engine and number */

    uint64_t window_start, window_end; /* absolute ps */
};

/* A small trace is done before a second thread has started. */
#define NX_BUILD_SMALL ((uint64_t)1 << 16) /* rows or records */
static inline unsigned nx_build_threads(uint64_t work)
{
    return work < NX_BUILD_SMALL ? 1 : nx_jobs_threads();
}

static inline bool nx_build_inside(const struct nx_build *b, uint64_t start, uint64_t end)
{
    return start >= b->window_start && end <= b->window_end;
}

static inline int64_t nx_build_relative(const struct nx_build *b, uint64_t time)
{
    return (int64_t)(time - b->window_start);
}

/* ------------------------------------------------------------------ one pass over all records */

struct nx_pair_counts {
    uint64_t records, unknown, errors, before_clock, ends_unmatched;
    uint64_t overflow; /* records with that flag */
};

#define NX_DMA_KINDS 3 /* of a DMA record: start, end, acknowledgement */

/* Of the records of one kind of a ring: which of them a piece of the trace holds. */
struct nx_dma_range {
    uint64_t next, end; /* `next` moves on while they are read */
};

/* The rings of a core, by slot: once their records are counted, where their packets go. */
struct nx_dma_slots {
    struct nx_raw_packet *packets[NX_RING_SLOTS];
    uint64_t count[NX_RING_SLOTS];
};

/*
 * What a job reads, and what it counts while it does: all sections of one core that are of its kind; of DMA, which
 * is most of a trace, a piece of their records, from the `first` on as if the sections were one.
 */
struct nx_pair_job {
    enum nx_pair_kind { NX_PAIR_INSTRUCTIONS, NX_PAIR_EVENTS, NX_PAIR_DMA } kind;
    uint32_t core;
    const struct nx_trace *trace;
    struct nx_core_rows *rows;
    uint64_t first, records;

    const struct nx_dma_slots *slots; /* DMA, second pass */
    struct nx_dma_range (*ranges)[NX_DMA_KINDS]; /* DMA, by slot: in the first pass, `end` is their number */
    bool changed; /* DMA: the second pass found other records than the first */

    struct nx_pair_counts counts;
    uint64_t overflow_events;   /* of counts.overflow, those of events */
    struct nx_pairing *pairing; /* of all jobs together: progress, and whether one has failed */
};

void nx_pair_instructions(struct nx_pair_job *job);
void nx_pair_events(struct nx_pair_job *job);
void nx_pair_dma_count(struct nx_pair_job *job);
/*
 * Between the passes: of the jobs of one core, whose rings are added to the trace.  False: more packets than can be
 * numbered.
 */
bool nx_pair_dma_place(struct nx_build *build, struct nx_pair_job *jobs, size_t count, struct nx_dma_slots *slots);
void nx_pair_dma_fill(struct nx_pair_job *job);

static inline void nx_pair_add(struct nx_pair_counts *sum, const struct nx_pair_counts *more)
{
    sum->records += more->records;
    sum->unknown += more->unknown;
    sum->errors += more->errors;
    sum->before_clock += more->before_clock;
    sum->ends_unmatched += more->ends_unmatched;
    sum->overflow += more->overflow;
}

static inline enum nx_record_class nx_pair_count(struct nx_pair_counts *counts, const struct nx_ntff_section *section,
                                                 struct nx_record r)
{
    enum nx_record_class class = nx_record_classify(section, r);

    counts->records++;
    counts->overflow += nx_record_overflow(r);
    if (class == NX_RECORD_UNKNOWN) {
        counts->unknown++;
        counts->errors += nx_record_is_error(section, r);
    }
    return class;
}
static inline uint64_t nx_pair_time(struct nx_pair_counts *counts, const struct nx_clock *clock, struct nx_record r)
{
    counts->before_clock += nx_ntff_before_clock(clock, r.timestamp);
    return nx_ntff_ps(clock, r.timestamp);
}
/* Called for each section that has been read. False: more rows than can be numbered, so stop. */
bool nx_pair_section_done(struct nx_pair_job *job, const struct nx_ntff_section *section, size_t rows);

void nx_build_code(struct nx_trace *trace);
void nx_build_origins(struct nx_trace *trace);
enum nx_status nx_build_pairs(struct nx_build *build, struct nx_error *error);
enum nx_status nx_build_window(struct nx_build *build, struct nx_error *error);
void nx_build_blocks(struct nx_build *build);
void nx_build_keep(struct nx_build *build);
void nx_build_keep_packets(struct nx_build *build);
void nx_build_free(struct nx_build *build);
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
