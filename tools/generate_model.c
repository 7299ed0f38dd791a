/*
 * A small model of a core that gives each row its times.
 *
 * Events in the order of time (a heap): an engine is ready for its next
 * instruction, or a semaphore changes.  An instruction whose wait condition
 * does not hold parks its engine until a semaphore change makes it hold.  A
 * transfer runs on the 16 rings of its queue side by side; packets of a ring
 * follow each other, and the last one's completion raises the semaphore.
 *
 * All constants are in picoseconds and near to what real traces show.
 */
#include <stdlib.h>
#include <string.h>

#include "generate_plan.h"

#define GAP 40000              /* between two instructions of an engine */
#define ENTRY_DISTANCE 45000   /* between the engines when a phase begins */
#define UPDATE_LATENCY 5000    /* from an instruction's end to the record of its semaphore */
#define WAKE_LATENCY 25833     /* from a semaphore's change to the start it allows */
#define CLEAR_START 30000      /* in a RANGE_CLEAR, until the first semaphore is written */
#define QUEUE_LATENCY 937000   /* from a trigger to the first descriptor read */
#define PACKET_COST 9412       /* of a packet without bytes */
#define BYTE_COST 37           /* of a byte */
#define PACKET_OVERLAP 3529    /* the next packet is read before the last one is written */
#define ACK_LATENCY 96468      /* from a packet's end to its write completion */
#define SIGNAL_LATENCY 52000   /* from the last completion to the record of the semaphore */
#define OUTSIDE_DURATION 60000 /* of an instruction that is not in the dump */
#define MAX_PACKET 4096        /* bytes: shorter rows share a packet */
#define SEMAPHORE_BYTES 4
#define SEMAPHORE_CRC 0x75e5
#define STALE_WAIT 0x8bf9 /* what trn2 leaves in the wait field when nothing was waited for */

enum change_kind { READY, CHANGE };
struct change {
    int64_t time;
    uint64_t order; /* of its making: ties keep it */
    enum change_kind kind;
    uint8_t engine; /* READY */
    int8_t source;  /* CHANGE */
    bool is_semaphore;
    uint8_t index, mode;
    uint32_t value;
};

enum state { RUNNING, WAITS_IN_QUEUE, WAITS_INSIDE, DONE };
struct model {
    struct gen_plan *plan;
    struct gen_core *core;
    unsigned phase;
    struct gen_rows *rows;
    struct change *heap;
    size_t heap_count, heap_capacity;
    uint64_t order;
    uint32_t semaphores[256];
    bool events[256];
    struct {
        enum state state;
        size_t step;
        int64_t since; /* waiting: from when */
        int64_t end;   /* of the last instruction */
        uint16_t stale_wait;
    } engines[NX_ENGINE_COUNT];
    int64_t ring_free[NX_GENERATED_QUEUES][GEN_RINGS];
    uint64_t packets_made;
};

/* ------------------------------------------------------------------ heap */
static bool before(const struct change *a, const struct change *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void push(struct model *m, struct change change)
{
    size_t i = m->heap_count;

    change.order = m->order++;
    m->heap = nx_grow(m->heap, m->heap_count++, &m->heap_capacity, sizeof(*m->heap));
    for (; i && before(&change, &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
        m->heap[i] = m->heap[(i - 1) / 2];
    m->heap[i] = change;
}

static struct change pop(struct model *m)
{
    struct change top = m->heap[0], last = m->heap[--m->heap_count];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= m->heap_count)
            break;
        if (child + 1 < m->heap_count && before(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!before(&m->heap[child], &last))
            break;
        m->heap[i] = m->heap[child];
        i = child;
    }
    m->heap[i] = last;
    return top;
}

static void change_later(struct model *m, int64_t time, int source, bool is_semaphore, uint8_t index,
                         uint8_t mode, uint32_t value)
{
    push(m, (struct change){.time = time,
                            .kind = CHANGE,
                            .source = (int8_t)source,
                            .is_semaphore = is_semaphore,
                            .index = index,
                            .mode = mode,
                            .value = value});
}

/* ------------------------------------------------------------------ rows */
static void row_exec(struct model *m, struct gen_exec exec)
{
    struct gen_rows *r = m->rows;

    r->execs = nx_grow(r->execs, r->exec_count, &r->exec_capacity, sizeof(exec));
    r->execs[r->exec_count++] = exec;
    if (exec.end > r->length)
        r->length = exec.end;
}

static void row_packet(struct model *m, struct gen_packet packet)
{
    struct gen_rows *r = m->rows;

    r->packets = nx_grow(r->packets, r->packet_count, &r->packet_capacity, sizeof(packet));
    r->packets[r->packet_count++] = packet;
    if (packet.ack > r->length)
        r->length = packet.ack;
}

static void row_event(struct model *m, struct gen_event event)
{
    struct gen_rows *r = m->rows;

    r->events = nx_grow(r->events, r->event_count, &r->event_capacity, sizeof(event));
    r->events[r->event_count++] = event;
    if (event.time > r->length)
        r->length = event.time;
}

/* ------------------------------------------------------------------ DMA */
static int64_t packet_on_ring(struct model *m, uint32_t queue, uint32_t ring, int64_t start, uint32_t bytes,
                              uint16_t crc)
{
    int64_t end = start + PACKET_COST + (int64_t)bytes * BYTE_COST;

    row_packet(m, (struct gen_packet){.start = start,
                                      .end = end,
                                      .ack = end + ACK_LATENCY,
                                      .bytes = bytes,
                                      .crc = crc,
                                      .queue = (uint8_t)queue,
                                      .ring = (uint8_t)ring});
    m->ring_free[queue][ring] = end - PACKET_OVERLAP;
    return end;
}

static uint16_t packet_crc(struct model *m)
{
    return (uint16_t)gen_random(m->plan->options.seed, 0x100000 + m->packets_made++);
}

/*
 * Packets of one ring's share: 8 of the 128 rows.  The 4 bytes that raise the semaphore are a packet of their
 * own on trn1 and behind dynamic transfers, part of the last packet otherwise.
 */
static void run_transfer(struct model *m, const struct gen_transfer *t, int64_t start)
{
    const struct gen_queue *queue = &m->core->queues[t->queue];
    uint32_t share = GEN_PARTITIONS / GEN_RINGS, row = t->to.row_bytes, rows;
    bool merged = queue->kind == GEN_STATIC && !m->plan->trn1;

    rows = queue->kind == GEN_HARDWARE ? 1 : m->plan->trn1 ? 4 : MAX_PACKET / row;
    rows = rows < 1 ? 1 : rows > share ? share : rows;
    for (uint32_t ring = 0; ring < GEN_RINGS; ring++) {
        uint64_t noise = gen_random(m->plan->options.seed, 256 * t->queue + ring);
        int64_t at = start + QUEUE_LATENCY + (int64_t)(noise % 90000), end = 0;

        if (at < m->ring_free[t->queue][ring])
            at = m->ring_free[t->queue][ring];
        for (uint32_t done = 0; done < share; done += rows) {
            bool last = done + rows >= share;

            end = packet_on_ring(m, t->queue, ring, at, rows * row + (last && merged ? SEMAPHORE_BYTES : 0),
                                 packet_crc(m));
            at = m->ring_free[t->queue][ring];
        }
        if (!merged)
            end = packet_on_ring(m, t->queue, ring, at, SEMAPHORE_BYTES, SEMAPHORE_CRC);
        change_later(m, end + ACK_LATENCY + SIGNAL_LATENCY, -1, true, t->semaphore, GEN_INCREMENT, 1);
    }
}

/* Tables and instructions are fetched by rings of the runtime: in packets of 16 KiB. */
static void run_fetch(struct model *m, uint32_t queue, uint32_t ring, int64_t start, uint32_t packets)
{
    for (uint32_t i = 0; i < packets; i++) {
        int64_t at = start > m->ring_free[queue][ring] ? start : m->ring_free[queue][ring];

        packet_on_ring(m, queue, ring, at, 16384, packet_crc(m));
    }
}

/* ------------------------------------------------------------------ engines */
static bool holds(const struct model *m, uint8_t mode, uint8_t index, uint32_t value)
{
    switch (mode) {
    case 0:
        return true;
    case GEN_WAIT_EQ:
        return m->semaphores[index] == value;
    case GEN_WAIT_GT:
        return m->semaphores[index] > value;
    case GEN_WAIT_EVENT:
        return m->events[index];
    default:
        return m->semaphores[index] >= value;
    }
}

static const struct gen_step *current_step(const struct model *m, unsigned e)
{
    const struct gen_program *program = &m->core->programs[e];

    return &program->steps[m->phase][m->engines[e].step];
}

static const struct gen_inst *current_inst(const struct model *m, unsigned e)
{
    return &m->core->programs[e].insts[current_step(m, e)->inst];
}

static void ready_at(struct model *m, unsigned e, int64_t time)
{
    m->engines[e].state = RUNNING;
    m->engines[e].step++;
    push(m, (struct change){.time = time, .kind = READY, .engine = (uint8_t)e});
}

static void update(struct model *m, unsigned e, int64_t end, uint8_t mode, uint8_t index, uint32_t value)
{
    if (mode)
        change_later(m, end + UPDATE_LATENCY, (int)e, mode != GEN_SET_EVENT, index, mode, value);
}

/* The instruction has run from start to end. */
static void finish(struct model *m, unsigned e, int64_t start, int64_t end, uint16_t wait)
{
    const struct gen_inst *inst = current_inst(m, e);
    const uint8_t *code = inst->ran;

    row_exec(m, (struct gen_exec){.start = start,
                                  .end = end,
                                  .inst = current_step(m, e)->inst,
                                  .wait_cycles = wait,
                                  .engine = (uint8_t)e,
                                  .flags = current_step(m, e)->flags});
    m->engines[e].end = end;
    update(m, e, end, code[6], code[7], 1);
    if (code[0] == GEN_EVENT_SEMAPHORE)
        update(m, e, end, code[34], code[35],
               code[40] | (uint32_t)code[41] << 8 | (uint32_t)code[42] << 16 | (uint32_t)code[43] << 24);
    if (code[0] == GEN_RANGE_CLEAR) {
        int64_t each = (inst->duration - CLEAR_START) / (code[14] - code[13] + 1);

        for (unsigned i = code[13]; i <= code[14]; i++)
            change_later(m, start + CLEAR_START + each * (i - code[13]), (int)e, true, (uint8_t)i, GEN_ASSIGN,
                         0);
    }
    if (code[0] == GEN_ACT_TABLE_LOAD)
        run_fetch(m, m->core->act_table_queue, 0, start, 5);
    if (inst->transfer >= 0)
        run_transfer(m, &m->core->transfers[inst->transfer], end);
    ready_at(m, e, inst->issue ? start + inst->issue : end + GAP);
}

/* The wait condition in the queue holds: the instruction begins. */
static void begin(struct model *m, unsigned e, int64_t start, int64_t waited)
{
    const struct gen_inst *inst = current_inst(m, e);
    const uint8_t *code = inst->ran;
    uint16_t wait = m->engines[e].stale_wait;

    if (code[4] == GEN_WAIT_EVENT) {
        m->events[code[5]] = false;
        row_event(m, (struct gen_event){start, 0, (int8_t)e, code[5], 0x07, false, false});
    }
    if (code[0] == GEN_DRAIN && start < m->engines[e].end)
        start = m->engines[e].end;
    if (m->plan->trn1)
        wait = 1;
    if (code[4] && waited) {
        int64_t cycles = waited * 12 / 10000; /* of 1.2 GHz */

        wait = cycles > 0xffff ? 0xffff : (uint16_t)cycles;
    } else if (code[4] && !m->plan->trn1) {
        wait = 0;
    }
    m->engines[e].stale_wait = wait;
    m->engines[e].since = start;
    if (current_step(m, e)->flags & GEN_NO_END && code[0] == GEN_EVENT_SEMAPHORE) { /* for the next run */
        row_exec(m, (struct gen_exec){.start = start,
                                      .end = start,
                                      .inst = current_step(m, e)->inst,
                                      .wait_cycles = wait,
                                      .engine = (uint8_t)e,
                                      .flags = GEN_NO_END});
        ready_at(m, e, start);
        return;
    }
    if (code[0] == GEN_EVENT_SEMAPHORE && !holds(m, code[32], code[33], code[36] | (uint32_t)code[37] << 8)) {
        m->engines[e].state = WAITS_INSIDE;
        return;
    }
    finish(m, e, start, start + inst->duration, wait);
}

static bool queue_condition(const struct model *m, unsigned e)
{
    const uint8_t *code = current_inst(m, e)->ran;

    return holds(m, code[4], code[5],
                 code[8] | (uint32_t)code[9] << 8 | (uint32_t)code[10] << 16 | (uint32_t)code[11] << 24);
}

static void engine_ready(struct model *m, unsigned e, int64_t time)
{
    const struct gen_program *program = &m->core->programs[e];

    if (m->engines[e].step == program->step_count[m->phase]) {
        m->engines[e].state = DONE;
        return;
    }
    if (current_step(m, e)->inst < 0) {
        uint32_t pc = ((uint32_t)(program->address >> 6) - 40 + (uint32_t)m->engines[e].step % 8) & 0xfffff;

        row_exec(m, (struct gen_exec){.start = time,
                                      .end = time + OUTSIDE_DURATION,
                                      .inst = -1,
                                      .pc = pc,
                                      .wait_cycles = m->plan->trn1 ? 1 : STALE_WAIT,
                                      .engine = (uint8_t)e});
        ready_at(m, e, time + OUTSIDE_DURATION + GAP);
        return;
    }
    if (!queue_condition(m, e)) {
        m->engines[e].state = WAITS_IN_QUEUE;
        m->engines[e].since = time;
        return;
    }
    begin(m, e, time, 0);
}

static void apply(struct model *m, const struct change *c)
{
    uint32_t *value = &m->semaphores[c->index];
    static const uint8_t shown[16] = {[GEN_SET_EVENT & 15] = 0xf1,
                                      [GEN_INCREMENT & 15] = 0xf3,
                                      [GEN_DECREMENT & 15] = 0xf4,
                                      [GEN_ADD & 15] = 0xf3,
                                      [GEN_ASSIGN & 15] = 0xf9};

    if (!c->is_semaphore)
        m->events[c->index] = true;
    else if (c->mode == GEN_ASSIGN)
        *value = c->value;
    else
        *value += c->mode == GEN_DECREMENT ? (uint32_t)-1 : c->mode == GEN_INCREMENT ? 1 : c->value;
    row_event(m, (struct gen_event){c->time, c->is_semaphore ? *value : 0, c->source, c->index,
                                    shown[c->mode & 15], c->is_semaphore, false});
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        const uint8_t *code;

        if (m->engines[e].state == WAITS_IN_QUEUE && queue_condition(m, e)) {
            int64_t start = c->time + WAKE_LATENCY;

            m->engines[e].state = RUNNING;
            begin(m, e, start, start - m->engines[e].since);
        } else if (m->engines[e].state == WAITS_INSIDE) {
            code = current_inst(m, e)->ran;
            if (holds(m, code[32], code[33], code[36] | (uint32_t)code[37] << 8))
                finish(m, e, m->engines[e].since, c->time + WAKE_LATENCY, m->engines[e].stale_wait);
        }
    }
}

/* ------------------------------------------------------------------ phases */
/* What comes from outside: the host's start, the runtime's fetches, the other core's end. */
static void outside_world(struct model *m, int64_t peer_end)
{
    if (m->phase == GEN_BEFORE) {
        change_later(m, 6000000 + 1500000 * (int64_t)m->core->number, -1, false, 8, GEN_SET_EVENT, 0);
        run_fetch(m, m->core->act_table_queue + 1, 0, 900000, 2); /* qDveTable */
        run_fetch(m, m->core->fetch_queue, 1, 400000, 3);
        run_fetch(m, m->core->fetch_queue, 2, 13000000, 2);
    }
    if (peer_end)
        change_later(m, peer_end, -1, true, GEN_SEM_PEER, GEN_INCREMENT, 1);
}

static enum nx_status simulate(struct model *m, int64_t peer_end, struct nx_error *error)
{
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        m->engines[e].step = 0;
        m->engines[e].end = 0;
        m->engines[e].state = RUNNING;
        m->engines[e].stale_wait = STALE_WAIT;
        push(m, (struct change){.time = ENTRY_DISTANCE * (int64_t)e, .kind = READY, .engine = (uint8_t)e});
    }
    memset(m->ring_free, 0, sizeof(m->ring_free));
    outside_world(m, peer_end);
    while (m->heap_count) {
        struct change c = pop(m);

        if (c.kind == READY)
            engine_ready(m, c.engine, c.time);
        else
            apply(m, &c);
    }
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++)
        if (m->engines[e].state != DONE)
            return nx_fail(error, NX_FAILED,
                           "the generated kernel hangs: %s of core %u waits for ever at step %zu of phase %u",
                           nx_engine_title(e), m->core->number, m->engines[e].step, m->phase);
    return NX_OK;
}

unsigned gen_notification(const struct gen_core *core, const struct gen_exec *exec)
{
    const uint8_t *code;

    if (exec->inst < 0)
        return 0;
    code = core->programs[exec->engine].insts[exec->inst].ran;
    return code[0] == GEN_NOTIFY ? code[36] : 0;
}

/* When the first NOTIFY 2 started: where the window begins. */
static int64_t first_notify(const struct gen_core *core, const struct gen_rows *rows)
{
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < rows->exec_count; i++)
        if (gen_notification(core, &rows->execs[i]) == 2 && rows->execs[i].start < first)
            first = rows->execs[i].start;
    return first;
}

/* Defects that are rows of their own; times relative to the start of the window. */
static void add_defects(struct model *m)
{
    int64_t start = first_notify(m->core, m->rows);
    uint32_t defects = m->plan->options.defects;
    uint32_t pc = ((uint32_t)(m->core->programs[NX_DVE].address >> 6) - 3) & 0xfffff;

    if (m->core->number || m->phase != GEN_BEFORE)
        return;
    if (defects & NX_DEFECT_CODE_OUTSIDE)
        for (unsigned i = 0; i < 2; i++)
            row_exec(m, (struct gen_exec){.start = start + 100000 + 200000 * i,
                                          .end = start + 180000 + 200000 * i,
                                          .inst = -1,
                                          .pc = pc,
                                          .wait_cycles = STALE_WAIT,
                                          .engine = NX_DVE});
    if (defects & NX_DEFECT_STRADDLE)
        packet_on_ring(m, m->core->fetch_queue, 1, start - 300000, 16384, packet_crc(m));
    if (defects & NX_DEFECT_UNFINISHED_PACKET)
        row_packet(m, (struct gen_packet){.start = start + 2000000,
                                          .end = start + 2000000,
                                          .ack = start + 2000000,
                                          .queue = (uint8_t)m->core->fetch_queue,
                                          .ring = 5,
                                          .unfinished = true});
    if (defects & NX_DEFECT_OVERFLOW)
        for (size_t i = 0; i < 2; i++)
            m->rows->events[m->rows->event_count / 2 + i].overflow = true;
}

static enum nx_status run_phase(struct model models[2], struct gen_plan *plan, struct gen_schedule *s,
                                unsigned phase, struct nx_error *error)
{
    bool last = phase == (plan->looped ? GEN_AFTER : GEN_BEFORE);
    int64_t peer_end = 0, length = 0;

    /* the second core first: the first one waits for its end */
    for (uint32_t c = plan->core_count; c-- > 0;) {
        struct model *m = &models[c];
        enum nx_status status;

        m->phase = phase;
        m->rows = &s->rows[phase][c];
        status = simulate(m, last && c == 0 ? peer_end : 0, error);
        if (status)
            return status;
        add_defects(m);
        peer_end = m->rows->length;
        if (length < m->rows->length)
            length = m->rows->length;
    }
    for (uint32_t c = 0; c < plan->core_count; c++)
        s->rows[phase][c].length = (length / 1000 + 100) * 1000;
    return NX_OK;
}

enum nx_status gen_schedule_make(struct gen_plan *plan, struct gen_schedule *schedule, struct nx_error *error)
{
    struct model models[2];
    enum nx_status status = NX_OK;

    memset(schedule, 0, sizeof(*schedule));
    memset(models, 0, sizeof(models));
    for (uint32_t c = 0; c < plan->core_count; c++)
        models[c] = (struct model){.plan = plan, .core = &plan->cores[c]};
    for (unsigned phase = 0; phase < (plan->looped ? GEN_PHASES : 1) && !status; phase++) {
        status = run_phase(models, plan, schedule, phase, error);
        schedule->passes[phase] = phase == GEN_BODY ? plan->options.repeat : 1;
    }
    for (uint32_t c = 0; c < plan->core_count; c++)
        free(models[c].heap);
    schedule->period = schedule->rows[GEN_BODY][0].length;
    schedule->start[GEN_BEFORE] = (int64_t)plan->options.clock_ps;
    schedule->start[GEN_BODY] = schedule->start[GEN_BEFORE] + schedule->rows[GEN_BEFORE][0].length;
    schedule->start[GEN_AFTER] =
        schedule->start[GEN_BODY] + schedule->period * (int64_t)(plan->looped ? plan->options.repeat : 0);
    return status;
}

void gen_schedule_free(struct gen_schedule *schedule)
{
    for (unsigned phase = 0; phase < GEN_PHASES; phase++)
        for (unsigned c = 0; c < 2; c++) {
            free(schedule->rows[phase][c].execs);
            free(schedule->rows[phase][c].packets);
            free(schedule->rows[phase][c].events);
        }
}
