/*
 * Counts what a reader must find, from the rows themselves (SPEC 4.2, 7.5).
 *
 * Passes of the loop do not touch each other, so unions are taken pass by
 * pass.  Where the clock gives back exactly what was put in (trn2), all passes
 * are equal and one is counted for all.
 */
#include <stdlib.h>
#include <string.h>

#include "base/interval.h"
#include "generate_plan.h"

struct intervals {
    struct nx_interval *list;
    size_t count, capacity;
};

static void include(struct intervals *i, int64_t start, int64_t end)
{
    i->list = nx_grow(i->list, i->count, &i->capacity, sizeof(*i->list));
    i->list[i->count++] = (struct nx_interval){start, end};
}

/* Length of the union; empties the list. */
static uint64_t unite(struct intervals *i)
{
    size_t merged = nx_interval_merge(i->list, i->count);

    i->count = 0;
    return (uint64_t)nx_interval_length(i->list, merged);
}

struct counter {
    const struct gen_plan *plan;
    const struct gen_window *window;
    struct nx_generated *truth;
    struct gen_clock clocks[2][GEN_CLOCKS];
    bool straddles[2][NX_GENERATED_QUEUES][GEN_RINGS];
    struct intervals all_rows[2][NX_ENGINE_COUNT], active[2][NX_ENGINE_COUNT], engine[NX_ENGINE_COUNT];
    struct intervals total, dma, by_kind[3]; /* static, hardware, software */
    uint64_t weight;                         /* passes that this one stands for */
    int64_t start;                           /* of the pass */
};

/* Relative to the window, as a reader sees it. */
static int64_t seen(const struct counter *n, uint32_t core, unsigned clock, int64_t time)
{
    return (int64_t)(gen_clock_read(&n->clocks[core][clock], n->start + time) - n->window->start);
}

static bool inside(const struct counter *n, int64_t start, int64_t end)
{
    return start >= 0 && end <= (int64_t)(n->window->end - n->window->start);
}

static uint32_t dtype_size(uint32_t code)
{
    return code == 10 ? 4 : 2;
}

static uint32_t u16_at(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static void count_bytes(struct counter *n, const uint8_t *code, bool has_bir)
{
    struct nx_generated *t = n->truth;
    uint64_t w = n->weight, moved;

    if (code[0] == GEN_DMA_DIRECT2D) {
        moved = (uint64_t)u16_at(code + 32) * u16_at(code + 36) * w;
        if (code[21] == 0x80 && code[20] == 0x20) { /* source in SBUF */
            t->sbuf_read += moved;
            t->hbm_write += moved;
        } else {
            t->hbm_read += moved;
            t->sbuf_write += moved;
        }
    }
    if (!has_bir)
        return;
    switch (code[0]) {
    case GEN_LDWEIGHTS:
        t->sbuf_read += (uint64_t)GEN_TILE_M * dtype_size(code[32]) * w;
        break;
    case GEN_MATMUL:
        t->sbuf_read += (uint64_t)u16_at(code + 26) * dtype_size(code[32]) * w;
        t->psum_write += (uint64_t)u16_at(code + 26) * dtype_size(code[32]) * w;
        break;
    case GEN_COPY:
        t->psum_read += (uint64_t)u16_at(code + 24) * 4 * w;
        t->sbuf_write += (uint64_t)u16_at(code + 24) * dtype_size(code[33]) * w;
        break;
    case GEN_ACTIVATE:
        t->psum_read += (uint64_t)u16_at(code + 26) * 4 * w;
        t->sbuf_write += (uint64_t)u16_at(code + 26) * dtype_size(code[33]) * w;
        break;
    default:
        break;
    }
}

static void count_exec(struct counter *n, uint32_t c, const struct gen_exec *e)
{
    const struct gen_core *core = &n->plan->cores[c];
    const struct gen_program *program = &core->programs[e->engine];
    const struct gen_inst *inst = e->inst < 0 ? NULL : &program->insts[e->inst];
    struct nx_generated_engine *engine = &n->truth->cores[c].engines[e->engine];
    uint8_t opcode = inst ? inst->ran[0] : 0;
    int64_t start = seen(n, c, e->engine, e->start), end = seen(n, c, e->engine, e->end);
    bool in = inside(n, start, end), has_bir = inst && inst->bir;
    bool debug = !(n->plan->options.defects & NX_DEFECT_NO_DEBUG_INFO);
    const struct gen_bir *bir = has_bir && debug ? &core->bir[inst->bir - 1] : NULL;
    uint32_t line = bir ? gen_line(n->plan, bir->penguin) : 0;
    bool loops = line && n->plan->options.debug == NX_GEN_DEBUG_FULL;
    uint64_t w = n->weight;

    if (e->flags & GEN_NO_START)
        n->truth->ends_unmatched += w;
    else if (e->flags & GEN_NO_END)
        n->truth->execs_unfinished += w;
    else if (e->flags & GEN_BACKWARDS)
        n->truth->backwards += w;
    else if (!in)
        n->truth->rows_outside += w;
    if (e->flags)
        return;
    if (n->plan->options.row)
        n->plan->options.row(
            n->plan->options.context,
            &(struct nx_generated_row){.kind = NX_ROW_INSTRUCTION,
                                       .inside = in,
                                       .core = c,
                                       .start = start,
                                       .end = end,
                                       .engine = e->engine,
                                       .opcode = opcode,
                                       .index = inst ? program->ran_index[e->inst] : -1,
                                       .compiler_index = inst ? program->neff_index[e->inst] : -1,
                                       .wait_cycles = inst && inst->ran[4] ? e->wait_cycles : 0,
                                       .crc_in = inst ? inst->crc_in : 0xffff,
                                       .crc_out = inst ? inst->crc_out : 0xffff,
                                       .line = line,
                                       .m = loops ? bir->m : -1,
                                       .n = loops ? bir->n : -1,
                                       .k = loops ? bir->k : -1});
    if (!in)
        return;
    n->truth->rows += w;
    engine->rows += w;
    include(&n->all_rows[c][e->engine], start, end);
    if (opcode != GEN_EVENT_SEMAPHORE) {
        engine->time_ps += (uint64_t)(end - start) * w;
        include(&n->active[c][e->engine], start, end);
        include(&n->engine[e->engine], start, end);
        include(&n->total, start, end);
    }
    if (!inst) {
        n->truth->execs_without_code += w;
        return;
    }
    engine->opcode_rows[opcode] += w;
    if (inst->ran[4])
        engine->wait_cycles += e->wait_cycles * w;
    count_bytes(n, inst->ran, has_bir && debug);
    if (opcode == GEN_MATMUL) {
        uint64_t flops = 2ull * inst->ran[38] * inst->ran[39] * u16_at(inst->ran + 26) * w;

        n->truth->matmuls += w;
        n->truth->flops += flops;
        if (debug && core->bir[inst->bir - 1].kind == 3)
            n->truth->transpose_flops += flops;
    }
    if (inst->transfer >= 0) {
        const struct gen_transfer *transfer = &core->transfers[inst->transfer];
        uint64_t bytes = (uint64_t)transfer->to.row_bytes * GEN_PARTITIONS * w;
        struct nx_generated_queue *queue = &n->truth->cores[c].queues[transfer->queue];

        *(transfer->into_sbuf ? &n->truth->bytes_in : &n->truth->bytes_out) += bytes;
        if (core->queues[transfer->queue].kind == GEN_STATIC) {
            *(transfer->into_sbuf ? &n->truth->static_in : &n->truth->static_out) += bytes;
            queue->triggers += w;
            queue->block_bytes += bytes;
        }
    }
}

static unsigned packet_clock(const struct gen_queue *queue, const struct gen_packet *p)
{
    return GEN_CLOCK_DMA + queue->first_ring * (queue->ring_count == 1) + p->ring;
}

static void count_packet(struct counter *n, uint32_t c, const struct gen_packet *p)
{
    const struct gen_queue *queue = &n->plan->cores[c].queues[p->queue];
    struct nx_generated_queue *q = &n->truth->cores[c].queues[p->queue];
    unsigned clock = packet_clock(queue, p);
    int64_t start = seen(n, c, clock, p->start), end = seen(n, c, clock, p->end);
    bool in = inside(n, start, end) && !n->straddles[c][p->queue][p->ring];
    unsigned kind = queue->kind == GEN_HARDWARE ? 1 : queue->kind == GEN_SOFTWARE ? 2 : 0;
    uint64_t w = n->weight;

    if (p->unfinished) {
        n->truth->packets_unfinished += w;
        return;
    }
    if (n->plan->options.row)
        n->plan->options.row(n->plan->options.context,
                             &(struct nx_generated_row){.kind = NX_ROW_PACKET,
                                                        .inside = in,
                                                        .core = c,
                                                        .start = start,
                                                        .end = end,
                                                        .queue = p->queue,
                                                        .dma_engine = (n->plan->trn1 ? 0 : 64 + 16 * c) +
                                                                      clock - GEN_CLOCK_DMA,
                                                        .ring = queue->ring_index,
                                                        .bytes = p->bytes,
                                                        .crc = p->crc});
    if (!in) {
        n->truth->packets_outside += w;
        return;
    }
    n->truth->packets += w;
    n->truth->dma_bytes += p->bytes * w;
    q->packets += w;
    q->bytes += p->bytes * w;
    q->time_ps += (uint64_t)(end - start) * w;
    include(&n->dma, start, end);
    include(&n->total, start, end);
    include(&n->by_kind[kind], start, end);
}

static void count_event(struct counter *n, uint32_t c, const struct gen_event *e)
{
    int64_t time = seen(n, c, GEN_CLOCK_EVENT, e->time);
    bool in = inside(n, time, time);

    if (n->plan->options.row)
        n->plan->options.row(n->plan->options.context,
                             &(struct nx_generated_row){.kind = NX_ROW_EVENT,
                                                        .inside = in,
                                                        .core = c,
                                                        .start = time,
                                                        .end = time,
                                                        .source = e->source,
                                                        .id = e->id,
                                                        .mode = e->mode,
                                                        .is_semaphore = e->is_semaphore,
                                                        .value = e->value});
    *(in ? &n->truth->events : &n->truth->events_outside) += n->weight;
    n->truth->records_overflow += e->overflow ? n->weight : 0;
}

static void close_pass(struct counter *n)
{
    struct nx_generated *t = n->truth;
    uint64_t w = n->weight;

    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        for (uint32_t c = 0; c < n->plan->core_count; c++) {
            t->cores[c].engines[e].union_ps += unite(&n->all_rows[c][e]) * w;
            t->cores[c].engines[e].active_ps += unite(&n->active[c][e]) * w;
        }
        t->engine_active_ps[e] += unite(&n->engine[e]) * w;
    }
    t->total_active_ps += unite(&n->total) * w;
    t->dma_active_ps += unite(&n->dma) * w;
    t->static_dma_active_ps += unite(&n->by_kind[0]) * w;
    t->hardware_dma_active_ps += unite(&n->by_kind[1]) * w;
    t->software_dma_active_ps += unite(&n->by_kind[2]) * w;
}

static void count_phase(struct counter *n, const struct gen_schedule *s, unsigned phase)
{
    bool exact = !n->plan->trn1 && !n->plan->options.row;
    uint64_t passes = exact && s->passes[phase] ? 1 : s->passes[phase];

    n->weight = exact ? s->passes[phase] : 1;
    for (uint64_t pass = 0; pass < passes; pass++) {
        n->start = s->start[phase] + (int64_t)pass * s->period;
        for (uint32_t c = 0; c < n->plan->core_count; c++) {
            const struct gen_rows *rows = &s->rows[phase][c];

            for (size_t i = 0; i < rows->exec_count; i++)
                count_exec(n, c, &rows->execs[i]);
            for (size_t i = 0; i < rows->packet_count; i++)
                count_packet(n, c, &rows->packets[i]);
            for (size_t i = 0; i < rows->event_count; i++)
                count_event(n, c, &rows->events[i]);
        }
        close_pass(n);
    }
}

/* Rings with a packet across an edge of the window: only outside the loop there can be one. */
static void find_straddling(struct counter *n, const struct gen_schedule *s)
{
    int64_t length = (int64_t)(n->window->end - n->window->start);

    for (unsigned phase = 0; phase < GEN_PHASES; phase++) {
        if (phase == GEN_BODY)
            continue;
        n->start = s->start[phase];
        for (uint32_t c = 0; c < n->plan->core_count; c++)
            for (size_t i = 0; i < s->rows[phase][c].packet_count; i++) {
                const struct gen_packet *p = &s->rows[phase][c].packets[i];
                unsigned clock = packet_clock(&n->plan->cores[c].queues[p->queue], p);
                int64_t start = seen(n, c, clock, p->start), end = seen(n, c, clock, p->end);

                if (!p->unfinished && ((start < 0 && end >= 0) || (start <= length && end > length)))
                    n->straddles[c][p->queue][p->ring] = true;
            }
    }
}

static void describe(const struct gen_plan *plan, const struct gen_schedule *s,
                     const struct gen_window *window, struct nx_generated *t)
{
    const struct nx_generate_options *o = &plan->options;

    memcpy(t->uuid, plan->uuid, 16);
    t->core_count = plan->core_count;
    t->window_start_ps = window->start;
    t->window_ps = window->end - window->start;
    t->input_bytes = (uint64_t)o->k * ((uint64_t)o->m + o->n) * plan->element;
    t->output_bytes = (uint64_t)o->m * o->n * plan->element;
    t->weight_bytes = (uint64_t)GEN_TILE_K * GEN_TILE_K * plan->element;
    for (uint32_t c = 0; c < plan->core_count; c++) {
        const struct gen_core *core = &plan->cores[c];
        struct nx_generated_core *out = &t->cores[c];
        uint64_t counts[4], unknown;

        memcpy(out->name, core->name, sizeof(out->name));
        out->core_index = core->core_index;
        out->exec_ps = window->exec_ps[c];
        out->queue_count = core->queue_count;
        gen_ntff_counts(plan, s, c, counts, &unknown);
        out->instruction_records = counts[0];
        out->event_records = counts[1];
        out->dma_records = counts[2];
        out->throttle_records = counts[3];
        t->throttles += counts[3];
        t->records += counts[0] + counts[1] + counts[2] + counts[3];
        t->records_unknown += unknown;
        for (unsigned i = 0; i < 22; i++)
            out->memory_bytes += gen_memory_bytes(plan, c, i);
        for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
            out->engines[e].code_address = core->programs[e].address;
            out->engines[e].code_instructions = core->programs[e].ran_count;
            out->engines[e].neff_instructions = core->programs[e].neff_count;
            out->engines[e].labels = core->programs[e].label_count;
        }
        for (uint32_t q = 0; q < core->queue_count; q++) {
            const struct gen_queue *queue = &core->queues[q];

            strcpy(out->queues[q].name, queue->name);
            out->queues[q].type = queue->ring_type;
            out->queues[q].index = queue->ring_index;
            out->queues[q].rings = queue->ring_count;
            out->queues[q].blocks = queue->kind == GEN_STATIC ? queue->transfers : 0;
            out->queue_entries += queue->ring_count;
            t->static_blocks += out->queues[q].blocks;
        }
    }
}

void gen_truth_make(const struct gen_plan *plan, const struct gen_schedule *schedule,
                    const struct gen_window *window, struct nx_generated *truth)
{
    struct counter n = {.plan = plan, .window = window, .truth = truth};

    memset(truth, 0, sizeof(*truth));
    describe(plan, schedule, window, truth);
    if (plan->options.defects & NX_DEFECT_EMPTY_TRACE)
        return;
    for (uint32_t c = 0; c < plan->core_count; c++)
        gen_clocks(plan, c, n.clocks[c]);
    find_straddling(&n, schedule);
    for (unsigned phase = 0; phase < GEN_PHASES; phase++)
        count_phase(&n, schedule, phase);
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        for (unsigned c = 0; c < 2; c++) {
            free(n.all_rows[c][e].list);
            free(n.active[c][e].list);
        }
        free(n.engine[e].list);
    }
    free(n.total.list);
    free(n.dma.list);
    for (unsigned kind = 0; kind < 3; kind++)
        free(n.by_kind[kind].list);
}
