/*
 * Writes the NTFF: header, protobuf, code (v6), sections (SPEC 3, 5).
 *
 * The records of a phase are made once and sorted; each pass through the body
 * writes them again with its own times.  Their number is known before the
 * first is written, so the metadata can say where each section will be.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate_plan.h"
#include "generate_wire.h"

#define RECORD 16
#define HEADER 128
#define BATCH 65536 /* records written at a time */
#define VALID 0x80000000u
#define OVERFLOW 0x40000000u
#define BACKWARDS_BY 1000000 /* ps that a wrong end lies before its start */
#define AXI_KIND 0x1b
#define THROTTLE_KIND 0x1e
#define UNKNOWN_KIND 0x1d
#define UNKNOWN_DMA_TYPE 9

enum section { INSTRUCTION, EVENT, DMA, THROTTLE, SECTIONS };

struct record {
    int64_t key;  /* its place in time */
    int64_t time; /* its stamp: the same, but for a defect */
    uint32_t w0, w1;
    uint32_t order;
    uint8_t clock;
};

struct records {
    struct record *list;
    size_t count, capacity;
};

static void add(struct records *r, int64_t time, uint8_t clock, uint32_t w0, uint32_t w1)
{
    r->list = nx_grow(r->list, r->count, &r->capacity, sizeof(*r->list));
    r->list[r->count] = (struct record){time, time, w0 | VALID, w1, (uint32_t)r->count, clock};
    r->count++;
}

static int by_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void instruction_records(const struct gen_core *core, const struct gen_rows *rows, struct records *r)
{
    for (size_t i = 0; i < rows->exec_count; i++) {
        const struct gen_exec *e = &rows->execs[i];
        const struct gen_program *program = &core->programs[e->engine];
        const struct gen_inst *inst = e->inst < 0 ? NULL : &program->insts[e->inst];
        uint32_t kind = (4 + 4 * (uint32_t)e->engine) << 24;
        uint32_t pc = e->pc, crc = 0xffffffff;

        if (inst) {
            pc = ((uint32_t)(program->address >> 6) + (uint32_t)program->ran_index[e->inst]) & 0xfffff;
            pc |= (inst->ran[3] & 15u) << 20;
            crc = inst->crc_in | (uint32_t)inst->crc_out << 16;
        }
        if (!(e->flags & GEN_NO_START))
            add(r, e->start, e->engine, kind | pc, (uint32_t)e->wait_cycles << 16);
        if (!(e->flags & GEN_NO_END))
            add(r, e->end, e->engine, kind | 1 << 24 | pc, crc);
        if (e->flags & GEN_BACKWARDS)
            r->list[r->count - 1].time = e->start - BACKWARDS_BY;
    }
}

static void event_records(const struct gen_rows *rows, struct records *r)
{
    for (size_t i = 0; i < rows->event_count; i++) {
        const struct gen_event *e = &rows->events[i];
        uint32_t kind = e->source < 0 ? AXI_KIND : 4 + 4 * (uint32_t)e->source + 3;

        add(r, e->time, GEN_CLOCK_EVENT,
            kind << 24 | (uint32_t)e->mode << 16 | (uint32_t)e->is_semaphore << 8 | e->id |
                (e->overflow ? OVERFLOW : 0),
            e->value);
    }
}

/* DMA engines are numbered over the cores of a device; records keep five bits of that. */
static uint32_t dma_engine(const struct gen_plan *plan, const struct gen_core *core, uint32_t ring)
{
    return (plan->trn1 ? 0 : 64 + 16 * core->number) + ring;
}

static void dma_records(const struct gen_plan *plan, const struct gen_core *core, const struct gen_rows *rows,
                        struct records *r)
{
    for (size_t i = 0; i < rows->packet_count; i++) {
        const struct gen_packet *p = &rows->packets[i];
        const struct gen_queue *queue = &core->queues[p->queue];
        uint32_t ring = queue->first_ring * (queue->ring_count == 1) + p->ring;
        uint32_t kind = (dma_engine(plan, core, ring) & 0x1f) << 24, index = queue->ring_index << 4;
        uint8_t clock = (uint8_t)(GEN_CLOCK_DMA + ring);

        add(r, p->start, clock, kind, index | 1);
        if (p->unfinished)
            continue;
        add(r, p->end, clock, kind | p->bytes, (uint32_t)p->crc << 16 | index | 5);
        add(r, p->ack, clock, kind, index | 6);
    }
}

/* The records of one phase, one core, one section, sorted by time. */
static struct records make_records(const struct gen_plan *plan, const struct gen_schedule *s, unsigned phase,
                                   uint32_t c, enum section section)
{
    const struct gen_core *core = &plan->cores[c];
    const struct gen_rows *rows = &s->rows[phase][c];
    struct records r = {0};
    bool extra = plan->options.defects & NX_DEFECT_UNKNOWN_RECORD && c == 0 && phase == GEN_BEFORE;

    if (plan->options.defects & NX_DEFECT_EMPTY_TRACE)
        return r;
    if (section == INSTRUCTION)
        instruction_records(core, rows, &r);
    else if (section == EVENT)
        event_records(rows, &r);
    else if (section == DMA)
        dma_records(plan, core, rows, &r);
    for (int64_t i = 0; extra && section == INSTRUCTION && i < 3; i++)
        add(&r, rows->length / 2 + i * 1000, NX_SP, UNKNOWN_KIND << 24 | 0x123, 0);
    for (int64_t i = 0; extra && section == DMA && i < 2; i++)
        add(&r, rows->length / 2 + i * 1000, GEN_CLOCK_DMA, 0x100, UNKNOWN_DMA_TYPE);
    if (r.count)
        qsort(r.list, r.count, sizeof(*r.list), by_time);
    return r;
}

/* Two changes of the clock rate, on the first core of trn2. */
static unsigned throttle_count(const struct gen_plan *plan, uint32_t c)
{
    return plan->trn1 || c || plan->options.defects & NX_DEFECT_EMPTY_TRACE ? 0 : 2;
}

void gen_ntff_counts(const struct gen_plan *plan, const struct gen_schedule *schedule, uint32_t core,
                     uint64_t counts[4], uint64_t *unknown)
{
    bool empty = plan->options.defects & NX_DEFECT_EMPTY_TRACE;
    bool extra = plan->options.defects & NX_DEFECT_UNKNOWN_RECORD && core == 0 && !empty;

    memset(counts, 0, SECTIONS * sizeof(*counts));
    for (unsigned phase = 0; phase < GEN_PHASES && !empty; phase++) {
        const struct gen_rows *rows = &schedule->rows[phase][core];
        uint64_t instructions = 2 * rows->exec_count, dma = 3 * rows->packet_count;

        for (size_t i = 0; i < rows->exec_count; i++)
            instructions -= !!(rows->execs[i].flags & GEN_NO_START) + !!(rows->execs[i].flags & GEN_NO_END);
        for (size_t i = 0; i < rows->packet_count; i++)
            dma -= rows->packets[i].unfinished ? 2 : 0;
        counts[INSTRUCTION] += instructions * schedule->passes[phase];
        counts[EVENT] += rows->event_count * schedule->passes[phase];
        counts[DMA] += dma * schedule->passes[phase];
    }
    counts[THROTTLE] = throttle_count(plan, core);
    *unknown = extra ? 5 : 0;
    if (extra) {
        counts[INSTRUCTION] += 3;
        counts[DMA] += 2;
    }
}

/* ------------------------------------------------------------------ metadata */
/* Sections of a core in the order of the file; TOPSP ones are empty and only on the first core. */
static const struct {
    enum section records; /* SECTIONS: always empty */
    uint32_t type, block;
} layout[] = {
    {INSTRUCTION, 0, 0}, {EVENT, 1, 0}, {SECTIONS, 2, 0}, {DMA, 4, 1}, {THROTTLE, 5, 0},
};
#define LAYOUT (sizeof(layout) / sizeof(layout[0]))

struct file {
    const struct gen_plan *plan;
    const struct gen_schedule *schedule;
    uint64_t counts[2][SECTIONS + 1];
    uint64_t code_bytes; /* v6: in the raw area */
};

/* The order in which the sections follow each other: `number` -> core and place in `layout`. */
static void section_at(const struct gen_plan *plan, unsigned number, uint32_t *core, unsigned *place)
{
    if (plan->options.defects & NX_DEFECT_INTERLEAVED) {
        *core = number % plan->core_count;
        *place = number / plan->core_count;
    } else {
        *core = number / LAYOUT;
        *place = number % LAYOUT;
    }
}

static uint64_t section_offset(const struct file *f, unsigned wanted)
{
    uint64_t offset = f->code_bytes;

    for (unsigned i = 0; i < wanted; i++) {
        uint32_t core;
        unsigned place;

        section_at(f->plan, i, &core, &place);
        offset += f->counts[core][layout[place].records] * RECORD;
    }
    return offset;
}

static void put_section(const struct file *f, struct nx_text *out, uint32_t field, unsigned number)
{
    struct nx_text m = {0};
    uint32_t core;
    unsigned place;

    section_at(f->plan, number, &core, &place);
    gen_pb_int(&m, 1, layout[place].type);
    gen_pb_int(&m, 3, layout[place].block);
    gen_pb_int(&m, 5, section_offset(f, number));
    gen_pb_int(&m, 6, f->counts[core][layout[place].records] * RECORD);
    if (f->plan->options.version == 6)
        gen_pb_int(&m, 7, f->plan->cores[core].core_index);
    gen_pb_message(out, field, &m);
    nx_text_free(&m);
}

static void put_code(const struct gen_program *program, struct nx_text *out)
{
    for (size_t i = 0; i < program->inst_count; i++)
        if (!program->insts[i].label)
            nx_text_append(out, (const char *)program->insts[i].ran, GEN_INST);
}

static void put_patch(struct nx_text *out, uint64_t place, uint64_t count, uint32_t type)
{
    struct nx_text m = {0};

    gen_pb_int(&m, 1, place * GEN_INST);
    gen_pb_int(&m, 2, count);
    gen_pb_int(&m, 3, type);
    gen_pb_message(out, 2, &m);
    nx_text_free(&m);
}

static void put_patches(const struct gen_program *program, struct nx_text *out)
{
    uint64_t run = 0, place = 0;

    for (size_t i = 0; i <= program->inst_count; i++) {
        const struct gen_inst *inst = i < program->inst_count ? &program->insts[i] : NULL;

        if (inst && !inst->compiled) {
            run++;
            place++;
            continue;
        }
        if (run)
            put_patch(out, place - run, run, 0);
        run = 0;
        if (inst && inst->label)
            put_patch(out, place, 1, 2);
        else
            place++;
    }
}

static void put_rings(const struct gen_plan *plan, const struct gen_core *core, struct nx_text *out)
{
    struct nx_text m = {0}, block = {0};

    for (uint32_t q = 0; q < core->queue_count; q++) {
        const struct gen_queue *queue = &core->queues[q];

        for (uint32_t ring = 0; ring < queue->ring_count; ring++) {
            gen_pb_int(&m, 1, dma_engine(plan, core, queue->first_ring + ring));
            gen_pb_int(&m, 2, queue->ring_index);
            gen_pb_int(&m, 3, queue->ring_type);
            gen_pb_string(&m, 4, queue->name);
            gen_pb_int(&m, 5, UINT64_MAX);
            gen_pb_int(&m, 7, plan->trn1 ? 0 : 2);
            for (size_t t = core->transfer_count; queue->kind == GEN_STATIC && t-- > 0;) {
                const struct gen_transfer *transfer = &core->transfers[t];
                uint32_t rows = 4096 / transfer->to.row_bytes;

                if (transfer->queue != q)
                    continue;
                rows = plan->trn1 ? 4 : rows < 1 ? 1 : rows > 8 ? 8 : rows;
                gen_pb_int(&block, 1, transfer->id);
                gen_pb_int(&block, 2, 8 / rows + plan->trn1);
                gen_pb_int(&block, 3, plan->trn1 && transfer->into_sbuf ? 3 : 9);
                gen_pb_int(&block, 4, plan->trn1 && !transfer->into_sbuf ? 3 : 9);
                gen_pb_message(&m, 8, &block);
            }
            gen_pb_message(out, 7, &m);
        }
    }
    nx_text_free(&m);
    nx_text_free(&block);
}

static void put_clocks(const struct gen_plan *plan, const struct gen_core *core, struct nx_text *out)
{
    /* field 10 has DVE before POOL; 7 and 9 are clocks of unknown use */
    static const int order[] = {NX_PE, NX_ACT, NX_DVE, NX_POOL, NX_SP, GEN_CLOCK_EVENT, -1};
    struct gen_clock clocks[GEN_CLOCKS];
    struct nx_text m = {0}, all = {0};

    gen_clocks(plan, core->number, clocks);
    for (unsigned field = 1; field <= 9; field++)
        for (unsigned i = 0; i < (field == 8 ? GEN_RINGS : 1u); i++) {
            struct gen_clock clock = {396440802782710, 1024, 731408};

            if (!plan->trn1)
                clock = (struct gen_clock){0, 1, 1};
            if (field == 8)
                clock = clocks[GEN_CLOCK_DMA + i];
            else if (field < 7)
                clock = clocks[order[field - 1]];
            gen_pb_int(&m, 1, clock.init);
            gen_pb_int(&m, 2, clock.actual);
            gen_pb_int(&m, 3, clock.expected);
            gen_pb_message(&all, field, &m);
        }
    gen_pb_message(out, 10, &all);
    nx_text_free(&m);
    nx_text_free(&all);
}

#define MEMORY_CATEGORIES 22
static const char *const memory_names[MEMORY_CATEGORIES] = {"generic",
                                                            "pe",
                                                            "act",
                                                            "pool",
                                                            "io",
                                                            "spill",
                                                            "weight",
                                                            "profiler buffers",
                                                            "act table",
                                                            "dve",
                                                            "sp",
                                                            "shared scratchpad",
                                                            "tensor",
                                                            "ucode",
                                                            "pool stdio",
                                                            "collectives",
                                                            "scratchpad",
                                                            "xt cc",
                                                            "dma rings runtime",
                                                            "dma rings spill",
                                                            "dma rings io",
                                                            "dma rings collectives"};

uint64_t gen_memory_bytes(const struct gen_plan *plan, uint32_t core, unsigned category)
{
    static const enum nx_engine engine_of[] = {
        [1] = NX_PE, [2] = NX_ACT, [3] = NX_POOL, [9] = NX_DVE, [10] = NX_SP};
    const struct nx_generate_options *o = &plan->options;
    uint64_t elements = (uint64_t)o->m * o->k + (uint64_t)o->k * o->n + (uint64_t)o->m * o->n;

    switch (category) {
    case 0:
        return 38912;
    case 1:
    case 2:
    case 3:
    case 9:
    case 10:
        return (uint64_t)plan->cores[core].programs[engine_of[category]].ran_count * GEN_INST;
    case 6:
        return (uint64_t)GEN_TILE_K * GEN_TILE_K * plan->element;
    case 8:
        return 83968;
    case 12:
        return core ? 0 : elements * plan->element;
    case 13:
        return 1703936;
    case 18:
        return 30720;
    default:
        return 0;
    }
}

static void put_graph(const struct file *f, uint32_t c, uint64_t exec_ps, struct nx_text *out)
{
    const struct gen_plan *plan = f->plan;
    const struct gen_core *core = &plan->cores[c];
    struct nx_text graph = {0}, m = {0}, code = {0};
    uint64_t code_offset = 0;

    for (uint32_t other = 0; other < c; other++)
        for (unsigned e = 0; e < NX_ENGINE_COUNT; e++)
            code_offset += (uint64_t)plan->cores[other].programs[e].ran_count * GEN_INST;
    gen_pb_string(&graph, 1, core->name);
    gen_pb_int(&graph, 3, core->core_index);
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        const struct gen_program *program = &core->programs[e];

        gen_pb_int(&m, 1, e);
        gen_pb_int(&m, 2, program->address);
        if (plan->options.version == 6) {
            gen_pb_int(&m, 7, code_offset);
            gen_pb_int(&m, 8, (uint64_t)program->ran_count * GEN_INST);
        } else {
            put_code(program, &code);
            gen_pb_message(&m, 3, &code);
        }
        gen_pb_message(&graph, 4, &m);
        code_offset += (uint64_t)program->ran_count * GEN_INST;
    }
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        gen_pb_int(&m, 1, e);
        put_patches(&core->programs[e], &m);
        gen_pb_message(&graph, 5, &m);
    }
    for (unsigned i = 0; plan->options.version < 6 && i < LAYOUT * plan->core_count; i++) {
        uint32_t owner;
        unsigned place;

        section_at(plan, i, &owner, &place);
        if (owner == c)
            put_section(f, &graph, 6, i);
    }
    put_rings(plan, core, &graph);
    put_clocks(plan, core, &graph);
    for (unsigned i = 0; i < MEMORY_CATEGORIES; i++) {
        gen_pb_int(&m, 1, i);
        gen_pb_int(&m, 2, gen_memory_bytes(plan, c, i));
        if (!plan->trn1)
            gen_pb_string(&m, 3, memory_names[i]);
        gen_pb_message(&graph, 11, &m);
    }
    gen_pb_int(&graph, 14, exec_ps);
    gen_pb_message(out, 1, &graph);
    nx_text_free(&graph);
    nx_text_free(&m);
    nx_text_free(&code);
}

static void put_version(struct nx_text *out, uint32_t field, uint64_t major, uint64_t minor, uint64_t patch,
                        const char *hash)
{
    struct nx_text m = {0};

    gen_pb_int(&m, 1, major);
    gen_pb_int(&m, 2, minor);
    gen_pb_int(&m, 3, patch);
    gen_pb_string(&m, 5, hash);
    gen_pb_message(out, field, &m);
    nx_text_free(&m);
}

static void put_capacities(struct nx_text *out)
{
    static const uint32_t rings[][3] = {{0, 0, 134217728}, {0, 1, 67108864}, {0, 2, 16777216},
                                        {1, 4, 134217728}, {0, 5, 67108864}, {2, 0, 67108864},
                                        {2, 1, 2097152},   {2, 2, 16777216}};
    struct nx_text m = {0};

    for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
        gen_pb_int(&m, 1, rings[i][0]);
        gen_pb_int(&m, 2, rings[i][1]);
        gen_pb_int(&m, 3, rings[i][2]);
        gen_pb_message(out, 13, &m);
    }
    nx_text_free(&m);
}

static void put_topsp(const struct file *f, struct nx_text *out)
{
    static const uint32_t types[] = {0, 2, 1};
    struct nx_text m = {0};

    for (unsigned i = 0; i < 3; i++) {
        gen_pb_int(&m, 1, types[i]);
        gen_pb_int(&m, 3, 2);
        gen_pb_int(&m, 4, 8);
        gen_pb_int(&m, 5, section_offset(f, LAYOUT * f->plan->core_count));
        gen_pb_int(&m, 7, f->plan->cores[0].core_index);
        gen_pb_message(out, 16, &m);
    }
    nx_text_free(&m);
}

static void put_metadata(const struct file *f, const struct gen_window *window, struct nx_text *out)
{
    const struct gen_plan *plan = f->plan;
    const struct nx_generate_options *o = &plan->options;
    struct nx_text device = {0}, node = {0}, m = {0};
    uint8_t uuid[16];
    size_t cut = 0;
    char text[18];

    memcpy(uuid, plan->uuid, 16);
    if (o->defects & NX_DEFECT_WRONG_UUID)
        uuid[0] = (uint8_t)(uuid[0] == 1 ? 2 : uuid[0] - 1);
    while (cut < 16 && uuid[cut])
        cut++;
    memcpy(text, uuid, cut);
    if (cut == 16) { /* a C string without its end: what stands behind follows */
        memcpy(text + cut, "\x24\x1a", 2);
        cut += 2;
    }
    gen_pb_string(out, 1, "matmul.neff");
    gen_pb_bytes(out, 2, text, cut);
    gen_pb_int(out, 3, 10001);
    for (uint32_t c = 0; c < plan->core_count; c++)
        put_graph(f, c, window->exec_ps[c], &device);
    gen_pb_message(&node, 4, &device);
    if (o->version == 6)
        gen_pb_bytes(&node, 5, uuid, 16);
    gen_pb_message(out, 4, &node);
    gen_pb_int(out, 5, plan->core_count);
    if (plan->trn1)
        gen_pb_int(out, 7, 1750262617);
    put_version(out, 8, 2,
                o->version == 4   ? 25
                : o->version == 5 ? 27
                                  : 30,
                51, "0123456789abcdef0123456789abcdef01234567");
    gen_pb_string(out, 9, plan->trn1 ? "trn1.2xlarge" : "trn2.3xlarge");
    gen_pb_int(out, 10, 2);
    put_version(out, 11, 2, 26, 0, "");
    put_version(out, 12, 2, 30, 59, "");
    put_capacities(out);
    if (!plan->trn1) {
        gen_pb_int(&m, 4, 0xffffffff);
        gen_pb_message(out, 14, &m);
    }
    if (o->version == 6) {
        gen_pb_bytes(&m, 1, uuid, 16);
        gen_pb_int(&m, 2, window->start);
        gen_pb_int(&m, 3, window->end);
        gen_pb_message(out, 15, &m);
        for (unsigned i = 0; i < LAYOUT * plan->core_count; i++)
            put_section(f, out, 16, i);
        put_topsp(f, out);
        gen_pb_string(out, 17, "i-0123456789abcdef0");
        gen_pb_int(out, 18, 34382);
    }
    nx_text_free(&device);
    nx_text_free(&node);
    nx_text_free(&m);
}

/* ------------------------------------------------------------------ records */
struct writer {
    FILE *stream;
    uint8_t *buffer;
    size_t used;
    bool failed;
};

static void flush(struct writer *w)
{
    if (w->used && fwrite(w->buffer, 1, w->used, w->stream) != w->used)
        w->failed = true;
    w->used = 0;
}

static inline void put_record(struct writer *w, uint32_t w0, uint32_t w1, uint64_t stamp)
{
    uint8_t *p = w->buffer + w->used;

    if (w->used == BATCH * RECORD) {
        flush(w);
        p = w->buffer;
    }
    gen_put_u32(p, w0);
    gen_put_u32(p + 4, w1);
    gen_put_u64(p + 8, stamp);
    w->used += RECORD;
}

static void write_throttle(struct writer *w, const struct file *f, const struct gen_window *window)
{
    uint64_t length = window->end - window->start;

    put_record(w, VALID | THROTTLE_KIND << 24 | 8 << 16 | 0xcc, 0x008, window->start + length * 2 / 5);
    put_record(w, VALID | THROTTLE_KIND << 24 | 8 << 16, 0x104, window->start + length * 7 / 10);
    (void)f;
}

static void write_section(struct writer *w, const struct file *f, uint32_t c, enum section section)
{
    const struct gen_schedule *s = f->schedule;
    struct gen_clock clocks[GEN_CLOCKS];

    gen_clocks(f->plan, c, clocks);
    for (unsigned phase = 0; phase < GEN_PHASES; phase++) {
        struct records r = make_records(f->plan, s, phase, c, section);

        for (uint64_t pass = 0; pass < s->passes[phase] && !w->failed; pass++) {
            int64_t start = s->start[phase] + (int64_t)pass * s->period;

            for (size_t i = 0; i < r.count; i++) {
                const struct record *record = &r.list[i];

                put_record(w, record->w0, record->w1,
                           gen_clock_stamp(&clocks[record->clock], start + record->time));
            }
        }
        free(r.list);
    }
}

enum nx_status gen_ntff_write(const struct gen_plan *plan, const struct gen_schedule *schedule,
                              const struct gen_window *window, const char *path, struct nx_error *error)
{
    struct file f = {.plan = plan, .schedule = schedule};
    struct nx_text metadata = {0}, code = {0};
    struct writer w = {.stream = fopen(path, "wb")};
    uint8_t header[HEADER] = {0};
    uint64_t unknown;

    if (!w.stream)
        return nx_fail(error, NX_FAILED, "cannot create %s: %s", path, strerror(errno));
    for (uint32_t c = 0; c < plan->core_count; c++) {
        gen_ntff_counts(plan, schedule, c, f.counts[c], &unknown);
        for (unsigned e = 0; plan->options.version == 6 && e < NX_ENGINE_COUNT; e++)
            put_code(&plan->cores[c].programs[e], &code);
    }
    f.code_bytes = code.size;
    put_metadata(&f, window, &metadata);
    header[0] = (uint8_t)plan->options.version;
    gen_put_u64(header + 1, metadata.size);
    memset(header + 9, 0x5a, HEADER - 9); /* real ones are not initialised either */

    w.failed = fwrite(header, 1, HEADER, w.stream) != HEADER ||
               fwrite(nx_text_string(&metadata), 1, metadata.size, w.stream) != metadata.size ||
               fwrite(nx_text_string(&code), 1, code.size, w.stream) != code.size;
    w.buffer = nx_alloc(BATCH * RECORD);
    for (unsigned i = 0; i < LAYOUT * plan->core_count; i++) {
        uint32_t core;
        unsigned place;

        section_at(plan, i, &core, &place);
        if (layout[place].records == THROTTLE && throttle_count(plan, core))
            write_throttle(&w, &f, window);
        else if (layout[place].records < THROTTLE)
            write_section(&w, &f, core, layout[place].records);
    }
    flush(&w);
    if (fclose(w.stream))
        w.failed = true;
    free(w.buffer);
    nx_text_free(&metadata);
    nx_text_free(&code);
    if (w.failed)
        return nx_fail(error, NX_FAILED, "cannot write %s: %s", path, strerror(errno));
    return NX_OK;
}
