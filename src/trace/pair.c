/*
 * One pass over all records: jobs that share nothing, by core and kind of section.
 *
 * Each kind of row has its own home (a core's executions and events, a ring's
 * packets), and one job alone fills it, in file order.  So the result does not
 * depend on the number of threads.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/build.h"

#define JOBS_OF_CORE (2 + NX_PAIR_SHARES)

struct nx_pairing {
    struct nx_build *build;
    struct nx_pair_job *jobs;
    size_t count;
    uint64_t total; /* records, of all jobs */

    pthread_mutex_t lock; /* of what follows */
    uint64_t done;        /* records of sections that are finished, in shares of DMA where those are shared */
    const struct nx_ntff_section *too_large;
};

bool nx_pair_section_done(struct nx_pair_job *job, const struct nx_ntff_section *section, size_t rows)
{
    struct nx_pairing *p = job->pairing;
    uint64_t records = section->records.size / NX_NTFF_RECORD_SIZE;
    bool more;

    pthread_mutex_lock(&p->lock);
    p->done += job->kind == NX_PAIR_DMA ? records / NX_PAIR_SHARES : records;
    if (rows >= NX_NONE)
        p->too_large = section;
    more = !p->too_large;
    if (p->build->progress)
        p->build->progress(p->build->context, p->done, p->total);
    pthread_mutex_unlock(&p->lock);
    return more;
}

static enum nx_pair_kind kind_of(const struct nx_ntff_section *section)
{
    return section->type == NX_SECTION_INSTRUCTION ? NX_PAIR_INSTRUCTIONS
           : section->type == NX_SECTION_DMA       ? NX_PAIR_DMA
                                                   : NX_PAIR_EVENTS;
}

static void add_job(struct nx_pairing *p, uint32_t core, enum nx_pair_kind kind, unsigned share)
{
    struct nx_pair_job *job = &p->jobs[p->count];
    const struct nx_ntff_core *ntff = p->build->trace->cores[core].ntff;

    *job = (struct nx_pair_job){.kind = kind,
                                .core = core,
                                .share = share,
                                .trace = p->build->trace,
                                .rows = &p->build->cores[core],
                                .pairing = p};
    for (size_t s = 0; s < ntff->section_count; s++)
        if (kind_of(&ntff->sections[s]) == kind)
            job->bytes += ntff->sections[s].records.size;
    p->total += kind == NX_PAIR_DMA && share ? 0 : job->bytes / NX_NTFF_RECORD_SIZE;
    p->count += job->bytes != 0;
}

static int longest_first(const void *left, const void *right)
{
    const struct nx_pair_job *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return (int)(a->kind * NX_PAIR_SHARES + a->share) - (int)(b->kind * NX_PAIR_SHARES + b->share);
}

static void run_job(void *context, size_t number)
{
    struct nx_pair_job *job = &((struct nx_pairing *)context)->jobs[number];

    switch (job->kind) {
    case NX_PAIR_INSTRUCTIONS: nx_pair_instructions(job); break;
    case NX_PAIR_DMA: nx_pair_dma(job); break;
    default: nx_pair_events(job); break;
    }
}

/* ------------------------------------------------------------------ what the jobs found, together */

struct found_ring {
    struct nx_ring ring;
    struct nx_ring_rows rows;
};

static int by_place(const void *left, const void *right)
{
    const struct nx_ring *a = &((const struct found_ring *)left)->ring, *b = &((const struct found_ring *)right)->ring;

    if (a->core != b->core)
        return a->core - b->core;
    return a->engine != b->engine ? a->engine - b->engine : a->index - b->index;
}

static void collect_rings(struct nx_pairing *p)
{
    struct nx_build *b = p->build;
    struct found_ring *found;
    size_t count = 0;

    for (size_t j = 0; j < p->count; j++)
        b->trace->ring_count += (uint32_t)p->jobs[j].ring_count;
    found = nx_alloc(b->trace->ring_count * sizeof(*found));
    for (size_t j = 0; j < p->count; j++)
        for (size_t r = 0; r < p->jobs[j].ring_count; r++)
            found[count++] = (struct found_ring){p->jobs[j].rings[r], p->jobs[j].ring_rows[r]};
    if (count)
        qsort(found, count, sizeof(*found), by_place);
    b->trace->rings = nx_alloc(count * sizeof(*b->trace->rings));
    b->rings = nx_alloc(count * sizeof(*b->rings));
    for (size_t r = 0; r < count; r++) {
        b->trace->rings[r] = found[r].ring;
        b->rings[r] = found[r].rows;
    }
    free(found);
}

static void collect_counts(struct nx_pairing *p)
{
    struct nx_trace *trace = p->build->trace;

    for (size_t j = 0; j < p->count; j++) {
        const struct nx_pair_job *job = &p->jobs[j];

        trace->records += job->records;
        trace->records_unknown += job->unknown;
        trace->records_error += job->errors;
        trace->records_overflow += job->overflow;
        trace->overflow_instructions += job->kind == NX_PAIR_INSTRUCTIONS ? job->overflow : 0;
        trace->overflow_packets += job->kind == NX_PAIR_DMA ? job->overflow : 0;
        trace->overflow_events += job->event_overflow;
        trace->before_clock += job->before_clock;
        trace->ends_unmatched += job->ends_unmatched;
        free(job->rings);
        free(job->ring_rows);
    }
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

    build->cores = nx_zalloc(trace->core_count, sizeof(*build->cores));
    p.jobs = nx_zalloc((size_t)trace->core_count * JOBS_OF_CORE, sizeof(*p.jobs));
    for (uint32_t c = 0; c < trace->core_count; c++) {
        add_job(&p, c, NX_PAIR_INSTRUCTIONS, 0);
        add_job(&p, c, NX_PAIR_EVENTS, 0);
        for (unsigned share = 0; share < NX_PAIR_SHARES; share++)
            add_job(&p, c, NX_PAIR_DMA, share);
    }
    if (p.count)
        qsort(p.jobs, p.count, sizeof(*p.jobs), longest_first);
    nx_jobs_run(run_job, &p, p.count, nx_build_threads(p.total));
    collect_rings(&p);
    collect_counts(&p);
    free(p.jobs);
    if (p.too_large || too_many_rows(build))
        return nx_fail_at(error, trace->ntff->path, p.too_large ? p.too_large->file_offset : 0,
                          "more than 4294967294 rows of one kind: the trace is too large");
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
