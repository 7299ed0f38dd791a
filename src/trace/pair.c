/*
 * Records become rows: jobs that share nothing, by core and kind of section.
 *
 * Each kind of row has its own home: a core's executions and events, which one job
 * alone fills, in file order; a ring's packets, whose places are known before they
 * are filled.  So the result does not depend on the number of threads.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "trace/build.h"

/* A core's DMA is shared out in pieces of this many records, but not in hundreds: each has a table of all rings. */
#define PIECE ((uint64_t)1 << 18)
#define MAX_PIECES 64

struct nx_pairing {
    struct nx_build *build;
    struct nx_pair_job *jobs; /* of whole sections first, then of DMA, by core */
    size_t count, whole;
    uint64_t total; /* records, of all jobs */
    bool changed;   /* the file, meanwhile */

    pthread_mutex_t lock; /* of what follows */
    uint64_t done;        /* records that have been read; of DMA, half of those of either pass */
    const struct nx_ntff_section *too_large;
};

/* ------------------------------------------------------------------ progress */

static bool advance(struct nx_pairing *p, uint64_t records, const struct nx_ntff_section *too_large)
{
    bool more;

    pthread_mutex_lock(&p->lock);
    p->done += records;
    if (too_large)
        p->too_large = too_large;
    more = !p->too_large;
    if (p->build->progress)
        p->build->progress(p->build->context, p->done, p->total);
    pthread_mutex_unlock(&p->lock);
    return more;
}

bool nx_pair_section_done(struct nx_pair_job *job, const struct nx_ntff_section *section, size_t rows)
{
    return advance(job->pairing, section->records.size / NX_NTFF_RECORD_SIZE, rows >= NX_NONE ? section : NULL);
}

/* ------------------------------------------------------------------ jobs */

static enum nx_pair_kind kind_of(const struct nx_ntff_section *section)
{
    return section->type == NX_SECTION_INSTRUCTION ? NX_PAIR_INSTRUCTIONS
           : section->type == NX_SECTION_DMA       ? NX_PAIR_DMA
                                                   : NX_PAIR_EVENTS;
}

static uint64_t records_of(const struct nx_ntff_core *core, enum nx_pair_kind kind)
{
    uint64_t records = 0;

    for (size_t s = 0; s < core->section_count; s++)
        if (kind_of(&core->sections[s]) == kind)
            records += core->sections[s].records.size / NX_NTFF_RECORD_SIZE;
    return records;
}

static void add_job(struct nx_pairing *p, uint32_t core, enum nx_pair_kind kind, uint64_t first, uint64_t records)
{
    struct nx_build *b = p->build;

    p->jobs[p->count++] = (struct nx_pair_job){.kind = kind,
                                               .core = core,
                                               .trace = b->trace,
                                               .rows = &b->cores[core],
                                               .first = first,
                                               .records = records,
                                               .pairing = p};
    p->total += records;
}

static void add_pieces(struct nx_pairing *p, uint32_t core)
{
    uint64_t records = records_of(p->build->trace->cores[core].ntff, NX_PAIR_DMA);
    uint64_t size = records / MAX_PIECES + 1;

    size = size > PIECE ? size : PIECE;
    for (uint64_t first = 0; first < records; first += size)
        add_job(p, core, NX_PAIR_DMA, first, records - first < size ? records - first : size);
}

static int longest_first(const void *left, const void *right)
{
    const struct nx_pair_job *a = left, *b = right;

    if (a->records != b->records)
        return a->records < b->records ? 1 : -1;
    return a->core != b->core ? (a->core < b->core ? -1 : 1) : (int)a->kind - (int)b->kind;
}

static void make_jobs(struct nx_pairing *p)
{
    const struct nx_trace *trace = p->build->trace;

    p->jobs = nx_zalloc((size_t)trace->core_count * (2 + MAX_PIECES), sizeof(*p->jobs));
    for (uint32_t c = 0; c < trace->core_count; c++)
        for (enum nx_pair_kind kind = NX_PAIR_INSTRUCTIONS; kind <= NX_PAIR_EVENTS; kind++) {
            uint64_t records = records_of(trace->cores[c].ntff, kind);

            if (records)
                add_job(p, c, kind, 0, records);
        }
    p->whole = p->count;
    if (p->whole)
        qsort(p->jobs, p->whole, sizeof(*p->jobs), longest_first);
    for (uint32_t c = 0; c < trace->core_count; c++)
        add_pieces(p, c);
}

static void first_pass(void *context, size_t number)
{
    struct nx_pairing *p = context;
    struct nx_pair_job *job = &p->jobs[number];

    switch (job->kind) {
    case NX_PAIR_INSTRUCTIONS: nx_pair_instructions(job); break;
    case NX_PAIR_EVENTS: nx_pair_events(job); break;
    case NX_PAIR_DMA:
        nx_pair_dma_count(job);
        advance(p, job->records / 2, NULL);
        break;
    }
}

static void second_pass(void *context, size_t number)
{
    struct nx_pairing *p = context;
    struct nx_pair_job *job = &p->jobs[p->whole + number];

    nx_pair_dma_fill(job);
    advance(p, job->records - job->records / 2, NULL);
}

/* The first section of DMA of a core: for a message. */
static const struct nx_ntff_section *dma_section(const struct nx_ntff_core *core)
{
    size_t s = 0;

    while (core->sections[s].type != NX_SECTION_DMA)
        s++;
    return &core->sections[s];
}

static void place_packets(struct nx_pairing *p, struct nx_dma_slots *slots)
{
    for (size_t j = p->whole, end; j < p->count; j = end) {
        uint32_t core = p->jobs[j].core;

        for (end = j; end < p->count && p->jobs[end].core == core;)
            end++;
        if (!nx_pair_dma_place(p->build, &p->jobs[j], end - j, &slots[core]))
            advance(p, 0, dma_section(p->build->trace->cores[core].ntff));
    }
}

static void collect_counts(struct nx_pairing *p)
{
    struct nx_trace *trace = p->build->trace;
    struct nx_pair_counts all = {0};

    for (size_t j = 0; j < p->count; j++) {
        const struct nx_pair_job *job = &p->jobs[j];

        nx_pair_add(&all, &job->counts);
        trace->overflow_instructions += job->kind == NX_PAIR_INSTRUCTIONS ? job->counts.overflow : 0;
        trace->overflow_packets += job->kind == NX_PAIR_DMA ? job->counts.overflow : 0;
        trace->overflow_events += job->overflow_events;
        free(job->ranges);
        p->changed |= job->changed;
    }
    trace->records = all.records;
    trace->records_unknown = all.unknown;
    trace->records_error = all.errors;
    trace->records_overflow = all.overflow;
    trace->before_clock = all.before_clock;
    trace->ends_unmatched = all.ends_unmatched;
}

/* Rows of all cores and rings together are numbered by 32 bits as well. */
static bool too_many_rows(const struct nx_build *b)
{
    uint64_t execs = 0, events = 0, packets = 0;

    for (uint32_t c = 0; c < b->trace->core_count; c++) {
        execs += b->cores[c].exec_count;
        events += b->cores[c].event_count;
    }
    for (uint32_t r = 0; r < b->trace->ring_count; r++)
        packets += b->rings[r].count;
    return execs >= NX_NONE || events >= NX_NONE || packets >= NX_NONE;
}

enum nx_status nx_build_pairs(struct nx_build *build, struct nx_error *error)
{
    struct nx_trace *trace = build->trace;
    struct nx_pairing p = {.build = build, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct nx_dma_slots *slots = nx_alloc(trace->core_count * sizeof(*slots));

    build->cores = nx_zalloc(trace->core_count, sizeof(*build->cores));
    make_jobs(&p);
    nx_jobs_run(first_pass, &p, p.count, nx_build_threads(p.total));
    place_packets(&p, slots);
    if (!p.too_large)
        nx_jobs_run(second_pass, &p, p.count - p.whole, nx_build_threads(p.total));
    collect_counts(&p);
    free(p.jobs);
    free(slots);
    if (p.too_large || too_many_rows(build))
        return nx_fail_at(error, trace->ntff->path, p.too_large ? p.too_large->file_offset : 0,
                          "more than 4294967294 rows of one kind: the trace is too large");
    if (p.changed)
        return nx_fail(error, NX_BAD_INPUT, "%s: the file has changed while it was read", trace->ntff->path);
    if (build->progress)
        build->progress(build->context, trace->records, p.total);
    return NX_OK;
}

void nx_build_free(struct nx_build *build)
{
    for (uint32_t c = 0; build->cores && c < build->trace->core_count; c++) {
        free(build->cores[c].execs);
        free(build->cores[c].events);
        free(build->cores[c].throttles);
    }
    for (uint32_t r = 0; build->rings && r < build->trace->ring_count; r++)
        free(build->rings[r].packets);
    free(build->cores);
    free(build->rings);
}
