/*
 * Who made each recorded change of a semaphore or event.
 *
 * An engine's changes of a semaphore are its instructions that update it, in
 * order; where records were lost and the numbers differ, the nearest in time.
 * Rings of a static block each add one to the block's semaphore when they are
 * done; a DMA_DIRECT2D's add its increment.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "trace/build.h"
#include "trace/semaphore.h"

#define UPDATE_AT_END 0x10

/* What is expected to change a semaphore: in the order of time, dealt to keys. */
struct cause {
    int64_t time;
    uint32_t key;
    uint32_t count; /* changes that it makes */
    struct nx_maker maker;
};

struct causes {
    struct cause *list;
    size_t count, capacity;
};

/* Numbers 0..count-1 dealt to keys, keeping their order: those of key k are order[first[k]] to order[first[k
 * + 1] - 1]. */
struct dealt {
    uint32_t *first, *order;
};

struct nx_syncs *nx_read_syncs(const struct nx_trace *trace)
{
    struct nx_syncs *syncs = nx_alloc(trace->inst_count * sizeof(*syncs));

    for (uint32_t i = 0; i < trace->inst_count; i++) {
        const struct nx_code_inst *at = &trace->insts[i];
        const struct nx_ntff_code *code = &trace->cores[at->core].ntff->code[at->engine];
        struct nx_inst inst;

        nx_isa_decode(code->bytes.data + (size_t)at->index * NX_ISA_SIZE, &inst);
        syncs[i] = (struct nx_syncs){.wait = inst.wait,
                                     .update = inst.update,
                                     .set_wait = inst.set_wait,
                                     .set_update = inst.set_update};
        if (inst.opcode == NX_OP_DMA_DIRECT2D) {
            syncs[i].dge_semaphore = inst.dge_semaphore;
            syncs[i].dge_increment = inst.dge_increment;
        }
    }
    return syncs;
}

/* Engines' changes: by core, engine, semaphore or event, and kind of change. */
static uint32_t engine_key(unsigned core, unsigned engine, bool is_semaphore, unsigned index,
                           enum nx_change change)
{
    return (((core * NX_ENGINE_COUNT + engine) * 2 + is_semaphore) * NX_SEMAPHORE_COUNT + index) *
               NX_CHANGE_COUNT +
           change;
}

static uint32_t engine_key_count(const struct nx_trace *trace)
{
    return engine_key(trace->core_count, 0, false, 0, NX_CHANGE_ADD);
}

/* Additions by DMA: by core and semaphore. */
static uint32_t dma_key(unsigned core, unsigned semaphore)
{
    return core * NX_SEMAPHORE_COUNT + semaphore;
}

static void add_cause(struct causes *causes, struct cause cause)
{
    causes->list = nx_grow(causes->list, causes->count, &causes->capacity, sizeof(*causes->list));
    causes->list[causes->count++] = cause;
}

static void add_update(struct causes *causes, const struct nx_trace *trace, uint32_t exec,
                       struct nx_sync update)
{
    const struct nx_exec *e = &trace->execs[exec];
    enum nx_change change = nx_change_of(update.mode);

    if (change != NX_CHANGE_NONE)
        add_cause(causes, (struct cause){.time = update.mode & UPDATE_AT_END ? e->end : e->start,
                                         .key = engine_key(e->core, e->engine, change != NX_CHANGE_SET,
                                                           update.index, change),
                                         .count = 1,
                                         .maker = {.by = exec}});
}

static struct causes engine_causes(const struct nx_trace *trace, const struct nx_syncs *syncs)
{
    struct causes causes = {0};

    for (uint32_t e = 0; e < trace->exec_count; e++)
        if (trace->execs[e].inst != NX_NONE) {
            add_update(&causes, trace, e, syncs[trace->execs[e].inst].update);
            add_update(&causes, trace, e, syncs[trace->execs[e].inst].set_update);
        }
    return causes;
}

static struct causes dma_causes(const struct nx_trace *trace, const struct nx_syncs *syncs)
{
    struct causes causes = {0};
    uint32_t *rings_done = nx_zalloc(trace->run_count, sizeof(*rings_done));

    for (uint32_t i = 0; i < trace->packet_count; i++)
        if (trace->packets[i].run != NX_NONE)
            rings_done[trace->packets[i].run] += trace->packets[i].last_of_block;
    for (uint32_t r = 0; r < trace->run_count; r++) {
        const struct nx_block_run *run = &trace->runs[r];
        int64_t semaphore = trace->cores[run->core].neff->blocks[run->block].semaphore;

        if (run->packets && semaphore >= 0 && semaphore < NX_SEMAPHORE_COUNT)
            add_cause(&causes, (struct cause){.time = run->end,
                                              .key = dma_key(run->core, (unsigned)semaphore),
                                              .count = rings_done[r],
                                              .maker = {.by = r, .by_run = true}});
    }
    for (uint32_t e = 0; e < trace->exec_count; e++) {
        const struct nx_exec *exec = &trace->execs[e];

        if (exec->inst != NX_NONE && syncs[exec->inst].dge_increment)
            add_cause(&causes, (struct cause){.time = exec->end,
                                              .key = dma_key(exec->core, syncs[exec->inst].dge_semaphore),
                                              .count = syncs[exec->inst].dge_increment,
                                              .maker = {.by = e}});
    }
    free(rings_done);
    return causes;
}

/* `keys` holds UINT32_MAX for a number that is not dealt. */
static struct dealt deal(const uint32_t *keys, size_t count, uint32_t key_count)
{
    struct dealt dealt = {.first = nx_zalloc((size_t)key_count + 2, sizeof(*dealt.first)),
                          .order = nx_alloc(count * sizeof(*dealt.order))};

    /* While dealing, first[k + 1] is where key k is filled next: it ends where key k + 1 begins. */
    for (size_t i = 0; i < count; i++)
        if (keys[i] != UINT32_MAX)
            dealt.first[keys[i] + 2]++;
    for (size_t k = 2; k < (size_t)key_count + 2; k++)
        dealt.first[k] += dealt.first[k - 1];
    for (size_t i = 0; i < count; i++)
        if (keys[i] != UINT32_MAX)
            dealt.order[dealt.first[keys[i] + 1]++] = (uint32_t)i;
    return dealt;
}

static void free_dealt(struct dealt *dealt)
{
    free(dealt->first);
    free(dealt->order);
}

/* The k-th record is of the k-th cause, each of which makes `count` of them. */
static void pair_in_order(const struct cause *causes, const uint32_t *records, uint32_t record_count,
                          const uint32_t *order, struct nx_maker *makers)
{
    uint32_t cause = 0, made = 0;

    for (uint32_t i = 0; i < record_count; i++) {
        while (made == causes[order[cause]].count) {
            cause++;
            made = 0;
        }
        makers[records[i]] = causes[order[cause]].maker;
        made++;
    }
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* Records were lost: each is of the nearest update, which is of no other. */
static void pair_nearest(const struct nx_event *events, const struct cause *causes, const uint32_t *records,
                         uint32_t record_count, const uint32_t *order, uint32_t cause_count,
                         struct nx_maker *makers)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < record_count && at < cause_count; i++) {
        int64_t time = events[records[i]].time;

        while (at + 1 < cause_count &&
               distance(causes[order[at + 1]].time, time) <= distance(causes[order[at]].time, time))
            at++;
        if (distance(causes[order[at]].time, time) <= NX_NEAR_PS)
            makers[records[i]] = causes[order[at++]].maker;
    }
}

/* The same for DMA: the latest block that was done by then; when a dynamic DMA was done, nothing tells. */
static void pair_latest_run(const struct nx_event *events, const struct cause *causes,
                            const uint32_t *records, uint32_t record_count, const uint32_t *order,
                            uint32_t cause_count, struct nx_maker *makers)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < record_count; i++) {
        while (at < cause_count && causes[order[at]].time <= events[records[i]].time)
            at++;
        if (at && causes[order[at - 1]].maker.by_run)
            makers[records[i]] = causes[order[at - 1]].maker;
    }
}

/* Joins the records of each key to the causes of the same key.  Takes the causes over. */
static void pair(const struct nx_trace *trace, const uint32_t *record_keys, uint32_t key_count,
                 struct causes *causes, bool by_dma, struct nx_maker *makers)
{
    uint32_t *cause_keys;
    struct dealt records, expected;

    causes->list =
        nx_sort_rows(causes->list, causes->count, sizeof(*causes->list), offsetof(struct cause, time));
    cause_keys = nx_alloc(causes->count * sizeof(*cause_keys));
    for (size_t i = 0; i < causes->count; i++)
        cause_keys[i] = causes->list[i].key;
    records = deal(record_keys, trace->event_count, key_count);
    expected = deal(cause_keys, causes->count, key_count);
    for (uint32_t k = 0; k < key_count; k++) {
        const uint32_t *of_key = records.order + records.first[k];
        const uint32_t *order = expected.order + expected.first[k];
        uint32_t count = records.first[k + 1] - records.first[k];
        uint32_t cause_count = expected.first[k + 1] - expected.first[k];
        uint64_t changes = 0;

        for (uint32_t i = 0; i < cause_count; i++)
            changes += causes->list[order[i]].count;
        if (changes == count)
            pair_in_order(causes->list, of_key, count, order, makers);
        else if (by_dma)
            pair_latest_run(trace->events, causes->list, of_key, count, order, cause_count, makers);
        else
            pair_nearest(trace->events, causes->list, of_key, count, order, cause_count, makers);
    }
    free(causes->list);
    free(cause_keys);
    free_dealt(&records);
    free_dealt(&expected);
}

/* ------------------------------------------------------------------ two jobs: changes by engines, and by DMA */

struct finding {
    const struct nx_trace *trace;
    const struct nx_syncs *syncs;
    struct nx_maker *makers; /* either job fills those of its own changes */
};

static uint32_t key_of_change(const struct nx_event *e, bool by_dma)
{
    enum nx_change change = nx_change_of(e->mode);

    if (change == NX_CHANGE_NONE || (e->source == NX_SOURCE_AXI) != by_dma)
        return UINT32_MAX;
    if (!by_dma)
        return engine_key(e->core, (unsigned)e->source, e->is_semaphore, e->id, change);
    return e->is_semaphore && change == NX_CHANGE_ADD ? dma_key(e->core, e->id) : UINT32_MAX;
}

static void find(void *context, size_t by_dma)
{
    const struct finding *f = context;
    uint32_t *keys = nx_alloc(f->trace->event_count * sizeof(*keys));
    struct causes causes = (by_dma ? dma_causes : engine_causes)(f->trace, f->syncs);

    for (uint32_t i = 0; i < f->trace->event_count; i++)
        keys[i] = key_of_change(&f->trace->events[i], by_dma);
    pair(f->trace, keys, by_dma ? dma_key(f->trace->core_count, 0) : engine_key_count(f->trace), &causes, by_dma,
         f->makers);
    free(keys);
}

struct nx_maker *nx_find_makers(const struct nx_trace *trace, const struct nx_syncs *syncs)
{
    struct finding f = {trace, syncs, nx_alloc(trace->event_count * sizeof(*f.makers))};

    for (uint32_t i = 0; i < trace->event_count; i++)
        f.makers[i] = (struct nx_maker){.by = NX_NONE};
    nx_jobs_run(find, &f, 2, nx_build_threads(trace->event_count));
    return f.makers;
}
