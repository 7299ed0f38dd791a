/*
 * The kernel: which queues and transfers there are, and the program of each
 * engine, compiler's and runtime's instructions in their order.
 *
 * Buffers in SBUF: two tiles of A and of B (by step), four of C (by tile);
 * in PSUM four banks (by tile).  Semaphores keep a buffer from being
 * overwritten before it was used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate_plan.h"

#define FP32 10
#define A_BUFFERS 0x0000 /* bytes into a partition */
#define B_BUFFERS 0x1000
#define C_BUFFERS 0x4000
#define IDENTITY 0x8000
#define IDENTITY_T 0x8800
#define BIAS 0x9000
#define PSUM 0x2000000
#define PSUM_BANK 0x800
#define TRANSPOSE_BANK 7
#define SBUF_BASE 0x802000000000 /* of core 4; that of core 5 is not known, the same is used */
#define WEIGHT_BASE 0x800001000000
#define EVENT_START 8 /* the host starts the Tensor engine by it */

enum { VAR_SB = 0, VAR_A = 1, VAR_B = 2, VAR_C = 3, VAR_IDENTITY = 4 };

/* splitmix64 */
uint64_t gen_random(uint64_t seed, uint64_t what)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + (what + 1) * 0xd1342543de82ef95u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct point { /* something that others wait for */
    uint8_t semaphore;
    uint32_t value;
    uint32_t bir;
};

struct planner {
    struct gen_plan *plan;
    struct gen_core *core;
    unsigned phase;
    int32_t m, n, k; /* loop variables where the planner is; -1: outside */
    uint32_t queue_a, queue_b, queue_c, queue_identity;
    struct point *multiplied; /* by step */
    struct point *copied;     /* by tile */
    struct point *stored;
};

/* ------------------------------------------------------------------ instructions */
static void step(struct planner *p, enum nx_engine engine, int32_t inst, uint8_t flags)
{
    struct gen_program *program = &p->core->programs[engine];
    unsigned phase = p->phase;

    program->steps[phase] = nx_grow(program->steps[phase], program->step_count[phase],
                                    &program->step_capacity[phase], sizeof(struct gen_step));
    program->steps[phase][program->step_count[phase]++] = (struct gen_step){inst, flags};
}

/* A new instruction without a step. The pointer is valid until the next one of the engine. */
static struct gen_inst *append(struct planner *p, enum nx_engine engine, bool compiled)
{
    struct gen_program *program = &p->core->programs[engine];
    struct gen_inst *inst;

    program->insts = nx_grow(program->insts, program->inst_count, &program->inst_capacity, sizeof(*inst));
    inst = &program->insts[program->inst_count++];
    *inst = (struct gen_inst){.compiled = compiled, .transfer = -1, .crc_in = 0xffff, .crc_out = 0xffff};
    return inst;
}

/* A new instruction that runs next. */
static struct gen_inst *emit(struct planner *p, enum nx_engine engine, bool compiled)
{
    struct gen_inst *inst = append(p, engine, compiled);

    step(p, engine, (int32_t)p->core->programs[engine].inst_count - 1, 0);
    return inst;
}

/* Place that the next instruction of the engine will have in the code that runs. */
static int32_t here(const struct planner *p, enum nx_engine engine)
{
    const struct gen_program *program = &p->core->programs[engine];
    int32_t place = 0;

    for (size_t i = 0; i < program->inst_count; i++)
        place += !program->insts[i].label;
    return place;
}

static uint32_t duration_of(uint8_t opcode)
{
    switch (opcode) {
    case GEN_LDWEIGHTS:
        return 105000;
    case GEN_ACT_TABLE_LOAD:
        return 1283000;
    case GEN_EVENT_SEMAPHORE:
        return 52500;
    case GEN_DRAIN:
        return 11666;
    case GEN_NOP:
        return 19167;
    case GEN_WRITE:
    case GEN_DMA_TRIGGER:
        return 70833;
    case GEN_NOTIFY:
        return 13333;
    case GEN_COMPARE_BRANCH:
        return 226667;
    case GEN_TENSOR_LOAD:
        return 667499;
    case GEN_RANGE_CLEAR:
        return 376666;
    case GEN_SET_ORDERING_MODE:
        return 37500;
    case GEN_DMA_DIRECT2D:
        return 571666;
    default:
        return 250000;
    }
}

/* `ran` is complete: what is compiled as it runs, and how long it takes. */
static void settle(struct gen_inst *inst)
{
    memcpy(inst->neff, inst->ran, GEN_INST);
    inst->duration = duration_of(inst->ran[0]);
}

static void settle_data(struct planner *p, struct gen_inst *inst, uint32_t duration, uint32_t issue)
{
    uint64_t noise = gen_random(p->plan->options.seed, inst->ran[0] * 0x10000u + inst->ran[16]);

    settle(inst);
    inst->duration = duration;
    inst->issue = issue;
    inst->crc_in = (uint16_t)noise % 0xffff;
    inst->crc_out = inst->ran[0] == GEN_LDWEIGHTS || inst->ran[0] == GEN_MATMUL
                        ? 0xffff
                        : (uint16_t)(noise >> 16) % 0xffff;
}

static void runtime_ordering(struct planner *p, enum nx_engine engine, bool strict)
{
    struct gen_inst *inst = emit(p, engine, false);

    gen_code_ordering(inst->ran, strict);
    settle(inst);
}

static void drain(struct planner *p, enum nx_engine engine, uint8_t flags)
{
    struct gen_program *program = &p->core->programs[engine];
    struct gen_inst *inst = emit(p, engine, false);

    gen_code_op(inst->ran, GEN_DRAIN);
    settle(inst);
    program->steps[p->phase][program->step_count[p->phase] - 1].flags = flags;
}

static void semaphore(struct planner *p, enum nx_engine engine, uint8_t wait_mode, uint8_t wait_index,
                      uint32_t wait_value, uint8_t update_mode, uint8_t update_index, uint32_t update_value)
{
    struct gen_inst *inst = emit(p, engine, false);

    gen_code_event_semaphore(inst->ran, wait_mode, wait_index, wait_value, update_mode, update_index,
                             update_value);
    settle(inst);
}

/*
 * All engines meet: each adds one to the barrier's semaphore in turn, then all leave in turn.  With `clear`
 * the last to come resets the semaphores of the kernel while the others wait.
 */
static void barrier(struct planner *p, bool clear, uint8_t pool_flags, uint8_t sp_flags)
{
    const uint8_t s = GEN_SEM_BARRIER;

    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        drain(p, e, e == NX_POOL ? pool_flags : e == NX_SP ? sp_flags : 0);
        if (e == NX_SP && clear) {
            struct gen_inst *inst;

            semaphore(p, e, GEN_WAIT_EQ, s, e, 0, 0, 0);
            inst = emit(p, e, false);
            gen_code_range_clear(inst->ran, GEN_SEM_ENGINE, 71);
            settle(inst);
            semaphore(p, e, 0, 0, 0, GEN_INCREMENT, s, 1);
            memset(p->core->sem_value + GEN_SEM_ENGINE, 0, (72 - GEN_SEM_ENGINE) * sizeof(uint32_t));
        } else {
            semaphore(p, e, GEN_WAIT_EQ, s, e, GEN_INCREMENT, s, 1);
        }
        if (e == NX_SP)
            semaphore(p, e, GEN_WAIT_EQ, s, NX_ENGINE_COUNT + e, GEN_ASSIGN, s, 0);
        else
            semaphore(p, e, GEN_WAIT_EQ, s, NX_ENGINE_COUNT + e, GEN_INCREMENT, s, 1);
    }
}

/* ------------------------------------------------------------------ debug info */
static uint32_t bir(struct planner *p, unsigned file, uint32_t statement, size_t number, const char *suffix)
{
    struct gen_core *core = p->core;
    struct gen_bir *entry;

    core->bir = nx_grow(core->bir, core->bir_count, &core->bir_capacity, sizeof(*entry));
    entry = &core->bir[core->bir_count++];
    *entry = (struct gen_bir){.file = (uint8_t)file,
                              .id = 256 + 3 * (uint32_t)core->bir_count,
                              .penguin = statement,
                              .kind = 1,
                              .m = p->m,
                              .n = p->n,
                              .k = p->k};
    snprintf(entry->name, sizeof(entry->name), "I-%u-%zu%s", statement, number, suffix);
    return (uint32_t)core->bir_count;
}

static void in_loops(struct planner *p, int32_t m, int32_t n, int32_t k)
{
    p->m = m;
    p->n = n;
    p->k = k;
}

static void depends(struct planner *p, uint32_t entry, uint32_t on, uint8_t type, bool sync)
{
    struct gen_bir *b = &p->core->bir[entry - 1];

    if (b->dep_count < GEN_DEPS)
        b->deps[b->dep_count++] = (struct gen_dep){on, type, sync};
}
enum { ANTI = 2, OUTPUT = 3, FLOW = 4 };

/* ------------------------------------------------------------------ DMA */
static uint32_t add_queue(struct gen_core *core, struct gen_queue queue)
{
    if (queue.kind != GEN_RUNTIME) {
        queue.ring_index = core->queue_count;
        queue.ring_count = GEN_RINGS;
        queue.semaphore = (uint8_t)(8 + GEN_RINGS * core->queue_count);
    }
    core->queues[core->queue_count] = queue;
    return core->queue_count++;
}

static void plan_queues(struct planner *p)
{
    static const struct gen_queue spill = {"qSPSpillReload0", GEN_STATIC, "data", "sp", NX_SP,
                                           .ring_type = 2};
    static const struct gen_queue in = {"qSPIO0", GEN_STATIC, "in", "sp", NX_SP, .ring_type = 3};
    static const struct gen_queue out = {"qPoolIO0", GEN_STATIC, "in", "pool", NX_POOL, .ring_type = 3};
    static const struct gen_queue sp_hw = {"qSPDynamicHW", GEN_HARDWARE, "dynamic",
                                           "sp",           NX_SP,        .ring_type = 2};
    static const struct gen_queue act_hw = {"qActDynamicHW", GEN_HARDWARE, "dynamic",
                                            "act",           NX_ACT,       .ring_type = 2};
    static const struct gen_queue pool_sw = {"qPoolDynamic", GEN_SOFTWARE, "dynamic",
                                             "pool",         NX_POOL,      .ring_type = 2};
    struct gen_core *core = p->core;

    switch (p->plan->options.dma) {
    case NX_DMA_STATIC:
        p->queue_identity = add_queue(core, spill);
        p->queue_a = p->queue_b = add_queue(core, in);
        p->queue_c = add_queue(core, out);
        break;
    case NX_DMA_DYNAMIC_HW:
        p->queue_identity = p->queue_a = p->queue_b = add_queue(core, sp_hw);
        p->queue_c = add_queue(core, act_hw);
        break;
    case NX_DMA_DYNAMIC_SW:
        p->queue_identity = p->queue_a = p->queue_b = p->queue_c = add_queue(core, pool_sw);
        break;
    case NX_DMA_MIXED:
        p->queue_identity = add_queue(core, spill);
        p->queue_a = add_queue(core, in);
        p->queue_b = add_queue(core, sp_hw);
        p->queue_c = add_queue(core, pool_sw);
        break;
    }
    core->neff_queue_count = core->queue_count;
    core->act_table_queue = add_queue(core, (struct gen_queue){.name = "qActTable",
                                                               .kind = GEN_RUNTIME,
                                                               .engine = NX_ACT,
                                                               .ring_index = 14,
                                                               .first_ring = 9,
                                                               .ring_count = 1});
    add_queue(core, (struct gen_queue){.name = "qDveTable",
                                       .kind = GEN_RUNTIME,
                                       .engine = NX_DVE,
                                       .ring_index = 14,
                                       .first_ring = 10,
                                       .ring_count = 1});
    core->fetch_queue = add_queue(
        core, (struct gen_queue){.name = "", .kind = GEN_RUNTIME, .ring_index = 14, .first_ring = 1});
}

static struct gen_side in_sbuf(uint32_t offset, uint32_t row_bytes)
{
    return (struct gen_side){.var = "SB",
                             .var_id = VAR_SB,
                             .offset = offset,
                             .row_bytes = row_bytes,
                             .step = GEN_PARTITION_STEP,
                             .table = -1,
                             .base = SBUF_BASE};
}

static struct gen_side in_hbm(const char *var, uint32_t var_id, uint64_t offset, uint32_t row_bytes,
                              uint32_t row_step)
{
    return (struct gen_side){.var = var,
                             .var_id = var_id,
                             .offset = offset,
                             .row_bytes = row_bytes,
                             .step = row_step,
                             /* tensors of the caller move from run to run: the table names them */
                             .table = var_id == VAR_IDENTITY ? -1 : (int32_t)var_id - VAR_A,
                             .base = WEIGHT_BASE};
}

/*
 * Emits what starts a transfer: a trigger of a new static block, or a DMA_DIRECT2D.  It waits for `after`
 * (if not NULL) in the queue.  Returns what its end can be waited for by.
 */
static struct point transfer(struct planner *p, uint32_t queue_number, struct gen_side from,
                             struct gen_side to, uint32_t statement, size_t number, const struct point *after,
                             uint8_t dep_type)
{
    struct gen_core *core = p->core;
    struct gen_queue *queue = &core->queues[queue_number];
    bool is_static = queue->kind == GEN_STATIC;
    uint8_t sem = (uint8_t)(queue->semaphore + queue->transfers % GEN_RINGS);
    uint32_t starter = bir(p, queue->engine, statement, number, is_static ? "-trig" : "");
    struct gen_transfer *t;
    struct gen_inst *inst;

    core->sem_value[sem] += GEN_RINGS;
    core->transfers = nx_grow(core->transfers, core->transfer_count, &core->transfer_capacity, sizeof(*t));
    t = &core->transfers[core->transfer_count];
    *t = (struct gen_transfer){.queue = queue_number,
                               .id = queue->transfers++,
                               .semaphore = sem,
                               .target = core->sem_value[sem],
                               .from = from,
                               .to = to,
                               .into_sbuf = to.var_id == VAR_SB};
    inst = emit(p, queue->engine, true);
    if (is_static) {
        /* the tail registers of the ring: descriptors to read (S2M is what writes, 0x20000 above M2S) */
        uint64_t page = (p->plan->trn1 ? 0xffff1000000u : 0x801002500000u) + 0x1000 * (queue->ring_index + 1);
        uint32_t written = 9, read = 9;

        if (p->plan->trn1)
            *(t->into_sbuf ? &read : &written) = 3;
        gen_code_write(inst->ran, page + 0x20038, written, page + 0x38, read);
        settle(inst);
        gen_code_trigger(inst->neff, queue->name, t->id);
    } else {
        gen_code_direct2d(inst->ran, false, t, (uint8_t)p->plan->options.dtype);
        settle(inst);
        if (queue->kind == GEN_SOFTWARE)
            inst->duration = 50000; /* the engine only hands it to its software */
        gen_code_direct2d(inst->neff, true, t, (uint8_t)p->plan->options.dtype);
    }
    if (after) {
        gen_code_wait(inst->ran, GEN_WAIT_GE, after->semaphore, after->value);
        gen_code_wait(inst->neff, GEN_WAIT_GE, after->semaphore, after->value);
        depends(p, starter, after->bir, dep_type, true);
    }
    inst->transfer = (int32_t)core->transfer_count;
    inst->bir = starter;
    if (is_static) {
        t->bir = bir(p, GEN_DBG_DMA, statement, number, "-block-1");
        core->bir[t->bir - 1].dma_queue = queue->name;
        depends(p, t->bir, starter, FLOW, true);
    }
    core->transfer_count++;
    return (struct point){sem, t->target, t->bir ? t->bir : starter};
}

/* The engine waits in front of what follows: an EVENT_SEMAPHORE of the compiler. */
static void wait_for(struct planner *p, enum nx_engine engine, struct point point, uint32_t statement,
                     size_t number, const char *suffix)
{
    uint32_t entry = bir(p, engine, statement, number, suffix);
    struct gen_inst *inst = emit(p, engine, true);

    gen_code_event_semaphore(inst->ran, 0, 0, 0, 0, 0, 0);
    gen_code_wait(inst->ran, GEN_WAIT_GE, point.semaphore, point.value);
    settle(inst);
    inst->bir = entry;
    depends(p, entry, point.bir, FLOW, true);
}

/* An engine's own semaphore (SPEC 7.4), one up when the instruction is done. */
static struct point completes(struct planner *p, struct gen_inst *inst, uint8_t sem)
{
    gen_code_update(inst->ran, GEN_INCREMENT, sem);
    gen_code_update(inst->neff, GEN_INCREMENT, sem);
    return (struct point){sem, ++p->core->sem_value[sem], inst->bir};
}
enum { SEM_SCALAR = 4, SEM_TENSOR = 5, SEM_VECTOR = 6 };

/* ------------------------------------------------------------------ the compiler's code */
static void weights(struct planner *p, uint8_t pass, bool transpose, uint32_t src, const struct point *after,
                    uint32_t entry)
{
    struct gen_inst *inst = emit(p, NX_PE, true);

    gen_code_weights(inst->ran, (uint8_t)p->plan->options.dtype, pass, transpose,
                     (struct gen_ap){src, 1, GEN_TILE_M});
    if (after)
        gen_code_wait(inst->ran, GEN_WAIT_GE, after->semaphore, after->value);
    settle_data(p, inst, duration_of(GEN_LDWEIGHTS), 31666);
    inst->bir = entry;
}

static struct gen_inst *matmul(struct planner *p, uint8_t pass, uint8_t flags, uint32_t src, uint16_t columns,
                               uint32_t dst, uint32_t entry)
{
    struct gen_inst *inst = emit(p, NX_PE, true);

    gen_code_matmul(inst->ran, (uint8_t)p->plan->options.dtype, pass, flags, (struct gen_ap){src, 1, columns},
                    dst);
    /* streams one column a cycle through the array; the next one may enter before this one is out */
    settle_data(p, inst, 210000 + columns * 833u, 30000 + columns * 417u);
    inst->bir = entry;
    return inst;
}

/* The opening of each engine's code: ordering mode, a label (none on trn1), and what is done once. */
static void plan_setup(struct planner *p)
{
    uint32_t element = p->plan->element;
    uint8_t dtype = (uint8_t)p->plan->options.dtype;
    struct gen_inst *inst;
    struct point loaded, transposed;
    uint32_t entry;

    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        inst = emit(p, e, true);
        gen_code_ordering(inst->ran, false);
        settle(inst);
        if (!p->plan->trn1) {
            inst = append(p, e, true);
            gen_code_op(inst->ran, GEN_LABEL);
            settle(inst);
            inst->label = true;
        }
    }
    entry = bir(p, NX_ACT, GEN_TABLE, 0, "-PWP");
    inst = emit(p, NX_ACT, true);
    gen_code_op(inst->ran, GEN_ACT_TABLE_LOAD);
    settle(inst);
    inst->bir = entry;

    loaded = transfer(p, p->queue_identity,
                      in_hbm("identity_sg0000", VAR_IDENTITY, 0, GEN_TILE_K * element, GEN_TILE_K * element),
                      in_sbuf(IDENTITY, GEN_TILE_K * element), GEN_LOAD_IDENTITY, 0, NULL, 0);
    entry = bir(p, NX_PE, GEN_TRANSPOSE, 0, "");
    p->core->bir[entry - 1].kind = 3;
    depends(p, entry, loaded.bir, FLOW, true);
    weights(p, 0, true, IDENTITY, &loaded, entry);
    inst = matmul(p, 0, 3, IDENTITY, GEN_TILE_K, PSUM + TRANSPOSE_BANK * PSUM_BANK, entry);
    transposed = completes(p, inst, SEM_TENSOR);
    entry = bir(p, NX_DVE, GEN_COPY_IDENTITY, 0, "");
    depends(p, entry, transposed.bir, FLOW, true);
    inst = emit(p, NX_DVE, true);
    gen_code_copy(inst->ran, FP32, dtype, (struct gen_ap){PSUM + TRANSPOSE_BANK * PSUM_BANK, 1, GEN_TILE_K},
                  IDENTITY_T);
    gen_code_wait(inst->ran, GEN_WAIT_GE, transposed.semaphore, transposed.value);
    settle_data(p, inst, 193333, 0);
    inst->bir = entry;
    completes(p, inst, SEM_VECTOR);
    if (p->plan->options.defects & NX_DEFECT_UNKNOWN_OPCODE && p->core->number == 0) {
        entry = bir(p, NX_DVE, GEN_TABLE, 0, "");
        inst = emit(p, NX_DVE, true);
        gen_code_op(inst->ran, GEN_MYSTERY);
        for (unsigned i = 12; i < GEN_INST; i++)
            inst->ran[i] = (uint8_t)(7 * i);
        settle_data(p, inst, 250000, 0);
        inst->bir = entry;
    }
}

static void plan_loads(struct planner *p, uint32_t row_tile, uint32_t column_tile, uint32_t depth, size_t s)
{
    const struct nx_generate_options *o = &p->plan->options;
    uint32_t element = p->plan->element, buffer = s & 1;
    uint32_t a_row = GEN_TILE_M * element, b_row = GEN_TILE_N * element;
    uint64_t a_offset = ((uint64_t)depth * GEN_TILE_K * o->m + (uint64_t)row_tile * GEN_TILE_M) * element;
    uint64_t b_offset = ((uint64_t)depth * GEN_TILE_K * o->n + (uint64_t)column_tile * GEN_TILE_N) * element;
    const struct point *free_again = s >= 2 ? &p->multiplied[s - 2] : NULL;
    uint32_t entry = bir(p, NX_PE, GEN_MULTIPLY, s, "");
    struct point a, b;
    unsigned passes = o->dtype == NX_GEN_FP32 ? 2 : 1;
    size_t tile = s / (o->k / GEN_TILE_K);
    bool first = depth == 0, last = depth + 1 == o->k / GEN_TILE_K;

    a = transfer(p, p->queue_a, in_hbm("a", VAR_A, a_offset, a_row, o->m * element),
                 in_sbuf(A_BUFFERS + buffer * 0x200, a_row), GEN_LOAD_A, s, free_again, ANTI);
    b = transfer(p, p->queue_b, in_hbm("b", VAR_B, b_offset, b_row, o->n * element),
                 in_sbuf(B_BUFFERS + buffer * 0x800, b_row), GEN_LOAD_B, s, NULL, 0);
    wait_for(p, NX_PE, b, GEN_MULTIPLY, s, "-wait-0");
    if (first && tile >= 4) {
        wait_for(p, NX_PE, p->copied[tile - 4], GEN_MULTIPLY, s, "-wait-1");
        depends(p, entry, p->copied[tile - 4].bir, ANTI, true);
    }
    depends(p, entry, a.bir, FLOW, true);
    depends(p, entry, b.bir, FLOW, false);
    for (unsigned pass = 0; pass < passes; pass++) {
        uint8_t flags = (uint8_t)((first && pass == 0 ? 1 : 0) | (last && pass + 1 == passes ? 2 : 0));
        uint32_t bank = PSUM + (uint32_t)(tile % 4) * PSUM_BANK;
        struct gen_inst *inst;

        weights(p, passes == 1 ? 0 : (uint8_t)(1 + pass), false, A_BUFFERS + buffer * 0x200, pass ? NULL : &a,
                entry);
        inst = matmul(p, passes == 1 ? 0 : 3, flags, B_BUFFERS + buffer * 0x800, GEN_TILE_N, bank, entry);
        if (pass + 1 == passes)
            p->multiplied[s] = completes(p, inst, SEM_TENSOR);
    }
}

/* PSUM to SBUF: even tiles on the Vector engine, odd ones on the Scalar engine, by turns in two ways. */
static void plan_copy(struct planner *p, size_t tile, size_t last_step)
{
    enum nx_engine engine = tile & 1 ? NX_ACT : NX_DVE;
    uint8_t dtype = (uint8_t)p->plan->options.dtype;
    struct gen_ap bank = {PSUM + (uint32_t)(tile % 4) * PSUM_BANK, 1, GEN_TILE_N};
    uint32_t buffer = C_BUFFERS + (uint32_t)(tile % 4) * 0x800;
    uint32_t entry;
    struct gen_inst *inst;

    if (tile >= 4)
        wait_for(p, engine, p->stored[tile - 4], GEN_COPY_OUT, tile, "-wait-0");
    entry = bir(p, engine, GEN_COPY_OUT, tile, "");
    depends(p, entry, p->multiplied[last_step].bir, FLOW, true);
    if (tile >= 4)
        depends(p, entry, p->copied[tile - 4].bir, OUTPUT, false);
    inst = emit(p, engine, true);
    if (tile % 4 == 1)
        gen_code_activate(inst->ran, FP32, dtype, 1, bank, buffer, BIAS);
    else
        gen_code_copy(inst->ran, FP32, dtype, bank, buffer);
    gen_code_wait(inst->ran, GEN_WAIT_GE, p->multiplied[last_step].semaphore, p->multiplied[last_step].value);
    settle_data(p, inst, engine == NX_DVE ? 596667 : 431667, 0);
    inst->bir = entry;
    p->copied[tile] = completes(p, inst, engine == NX_DVE ? SEM_VECTOR : SEM_SCALAR);
}

static void plan_store(struct planner *p, size_t tile, uint32_t row_tile, uint32_t column_tile)
{
    const struct nx_generate_options *o = &p->plan->options;
    uint32_t row = GEN_TILE_N * p->plan->element;
    uint64_t offset =
        ((uint64_t)row_tile * GEN_TILE_M * o->n + (uint64_t)column_tile * GEN_TILE_N) * p->plan->element;

    in_loops(p, (int32_t)row_tile, (int32_t)column_tile, -1);
    p->stored[tile] = transfer(p, p->queue_c, in_sbuf(C_BUFFERS + (uint32_t)(tile % 4) * 0x800, row),
                               in_hbm("c", VAR_C, offset, row, o->n * p->plan->element), GEN_STORE_C, tile,
                               &p->copied[tile], FLOW);
}

static void plan_kernel(struct planner *p)
{
    const struct nx_generate_options *o = &p->plan->options;
    uint32_t rows = o->m / GEN_TILE_M, columns = o->n / GEN_TILE_N, depth = o->k / GEN_TILE_K;
    size_t count = 0, previous = 0, s = 0;

    for (uint32_t all = p->core->number; all < rows * columns; all += p->plan->core_count) {
        for (uint32_t d = 0; d < depth; d++) {
            in_loops(p, (int32_t)(all / columns), (int32_t)(all % columns), (int32_t)d);
            plan_loads(p, all / columns, all % columns, d, s++);
        }
        if (count)
            plan_store(p, count - 1, (uint32_t)previous / columns, (uint32_t)previous % columns);
        in_loops(p, (int32_t)(all / columns), (int32_t)(all % columns), -1);
        plan_copy(p, count++, s - 1);
        previous = all;
    }
    if (!count)
        return;
    plan_store(p, count - 1, (uint32_t)previous / columns, (uint32_t)previous % columns);
    for (size_t tile = 0; tile < count; tile++) {
        enum nx_engine engine = p->core->queues[p->queue_c].engine;
        uint32_t all = p->core->number + (uint32_t)tile * p->plan->core_count, entry;
        struct gen_inst *inst = emit(p, engine, true);

        in_loops(p, (int32_t)(all / columns), (int32_t)(all % columns), -1);
        entry = bir(p, engine, GEN_STORE_C, tile, "-final");
        gen_code_op(inst->ran, GEN_NOP);
        gen_code_wait(inst->ran, GEN_WAIT_GE, p->stored[tile].semaphore, p->stored[tile].value);
        settle(inst);
        inst->bir = entry;
        depends(p, entry, p->stored[tile].bir, FLOW, true);
    }
}

/* ------------------------------------------------------------------ the runtime's code */
static void never_run(struct planner *p, enum nx_engine engine, uint8_t opcode)
{
    struct gen_inst *inst = append(p, engine, false);

    gen_code_op(inst->ran, opcode);
    settle(inst);
}

static void plan_preamble(struct planner *p)
{
    uint32_t defects = p->core->number == 0 ? p->plan->options.defects : 0;
    struct gen_inst *inst;

    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        for (unsigned i = 0; i < 3; i++)
            step(p, e, -1, 0);
        runtime_ordering(p, e, true);
        runtime_ordering(p, e, true);
        if (e == NX_PE) { /* of the run before: waits for this one */
            inst = append(p, e, false);
            gen_code_event_semaphore(inst->ran, GEN_WAIT_GT, GEN_SEM_NEXT_RUN, 0, GEN_DECREMENT,
                                     GEN_SEM_NEXT_RUN, 1);
            settle(inst);
            inst = emit(p, e, false);
            gen_code_write(inst->ran, 0x80100252f038, 2, 0x80100250f038, 2);
            settle(inst);
        }
        inst = emit(p, e, false);
        gen_code_op(inst->ran, GEN_NOP);
        gen_code_wait(inst->ran, GEN_WAIT_EVENT, (uint8_t)(e == NX_PE ? EVENT_START : e - 1), 1);
        settle(inst);
        for (unsigned other = 0; e == NX_PE && other + 1 < NX_ENGINE_COUNT; other++) {
            inst = emit(p, e, false);
            gen_code_op(inst->ran, GEN_NOP);
            gen_code_update(inst->ran, GEN_SET_EVENT, (uint8_t)other);
            settle(inst);
        }
        inst = emit(p, e, false);
        gen_code_load(inst->ran, 0x8005c035e000);
        settle(inst);
        inst = emit(p, e, false);
        gen_code_branch(inst->ran, true, 3, 0);
        settle(inst);
        never_run(p, e, 0xa1);
        never_run(p, e, 0xa8);
        inst = emit(p, e, false);
        gen_code_notify(inst->ran, 2);
        settle(inst);
    }
    barrier(p, false, defects & NX_DEFECT_START_WITHOUT_END ? GEN_NO_END : 0,
            defects & NX_DEFECT_END_WITHOUT_START ? GEN_NO_START : 0);
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++)
        drain(p, e, defects & NX_DEFECT_TIME_BACKWARDS && e == NX_SP ? GEN_BACKWARDS : 0);
}

static void plan_epilogue(struct planner *p)
{
    struct gen_inst *inst;

    /* the first core ends last: its window is the profile's */
    if (p->plan->core_count == 2 && p->core->number == 0)
        semaphore(p, NX_SP, GEN_WAIT_GE, GEN_SEM_PEER, 1, GEN_DECREMENT, GEN_SEM_PEER, 1);
    barrier(p, false, 0, 0);
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        if (p->plan->trn1) {
            for (uint8_t i = 0; i < 12; i++)
                semaphore(p, e, 0, 0, 0, GEN_ASSIGN, (uint8_t)(105 + 12 * e + i), 0);
        } else {
            inst = emit(p, e, false);
            gen_code_range_clear(inst->ran, (uint8_t)(GEN_SEM_ENGINE + 51 * e),
                                 (uint8_t)(e == NX_SP ? 255 : GEN_SEM_ENGINE + 51 * e + 50));
            settle(inst);
        }
    }
    barrier(p, false, 0, 0);
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        int32_t place;

        drain(p, e, 0);
        inst = emit(p, e, false);
        gen_code_notify(inst->ran, 3);
        settle(inst);
        place = here(p, e);
        inst = emit(p, e, false);
        gen_code_branch(inst->ran, false, -place, 2);
        settle(inst);
        step(p, e, 0, 0);
        step(p, e, 1, 0);
        if (e == NX_PE)
            step(p, e, 2, GEN_NO_END);
        if (e == NX_POOL)
            step(p, e, -1, 0);
    }
}

static void plan_core(struct gen_plan *plan, struct gen_core *core)
{
    struct planner p = {.plan = plan, .core = core, .m = -1, .n = -1, .k = -1};
    const struct nx_generate_options *o = &plan->options;
    size_t tiles = (size_t)(o->m / GEN_TILE_M) * (o->n / GEN_TILE_N);
    int32_t body[NX_ENGINE_COUNT];

    p.multiplied = nx_zalloc(tiles * (o->k / GEN_TILE_K), sizeof(struct point));
    p.copied = nx_zalloc(tiles, sizeof(struct point));
    p.stored = nx_zalloc(tiles, sizeof(struct point));
    plan_queues(&p);
    plan_preamble(&p);
    plan_setup(&p);
    if (plan->looped) {
        barrier(&p, true, 0, 0);
        p.phase = GEN_BODY;
    }
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++)
        body[e] = here(&p, e);
    plan_kernel(&p);
    if (plan->looped) {
        barrier(&p, true, 0, 0);
        for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
            int32_t place = here(&p, e);
            struct gen_inst *inst = emit(&p, e, false);

            gen_code_branch(inst->ran, true, body[e] - place, 0);
            settle(inst);
        }
        p.phase = GEN_AFTER;
    }
    plan_epilogue(&p);
    free(p.multiplied);
    free(p.copied);
    free(p.stored);
}

/* Device addresses, and where each instruction stands in the two codes. */
static void lay_out(struct gen_plan *plan, struct gen_core *core, uint64_t *address)
{
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        struct gen_program *program = &core->programs[e];

        program->ran_index = nx_zalloc(program->inst_count, sizeof(int32_t));
        program->neff_index = nx_zalloc(program->inst_count, sizeof(int32_t));
        for (size_t i = 0; i < program->inst_count; i++) {
            const struct gen_inst *inst = &program->insts[i];

            program->label_count += inst->label;
            program->ran_index[i] = inst->label ? -1 : (int32_t)program->ran_count++;
            program->neff_index[i] = inst->compiled ? (int32_t)program->neff_count++ : -1;
        }
        program->address = *address;
        *address += ((uint64_t)program->ran_count * GEN_INST + 0x8000) & ~(uint64_t)0x7fff;
    }
    core->core_index = plan->trn1 ? 0 : 4 + core->number;
    snprintf(core->name, sizeof(core->name), "sg%02u", core->number);
}

static enum nx_status check_options(const struct nx_generate_options *o, struct nx_error *error)
{
    uint64_t steps = (uint64_t)(o->m / GEN_TILE_M) * (o->k / GEN_TILE_K) * (o->n / GEN_TILE_N);

    if (o->version < 4 || o->version > 6)
        return nx_fail(error, NX_USAGE, "NTFF version %u cannot be written: it is 4, 5 or 6", o->version);
    if (o->m % GEN_TILE_M || o->k % GEN_TILE_K || o->n % GEN_TILE_N)
        return nx_fail(error, NX_USAGE, "M and K must be multiples of 128, N of 512");
    if (steps > 20000 || o->m > 1 << 20 || o->k > 1 << 20 || o->n > 1 << 20)
        return nx_fail(error, NX_USAGE, "the kernel would have %llu steps: at most 20000 are supported",
                       (unsigned long long)steps);
    if (o->cores > 2 || (o->version == 4 && o->cores != 1))
        return nx_fail(error, NX_USAGE, "one core with version 4, one or two with 5 and 6");
    if (o->version == 4 && o->dma != NX_DMA_STATIC)
        return nx_fail(error, NX_USAGE, "version 4 (trn1) has static DMA only");
    if (o->dtype != NX_GEN_BF16 && o->dtype != NX_GEN_FP16 && o->dtype != NX_GEN_FP32)
        return nx_fail(error, NX_USAGE, "unknown data type %d", (int)o->dtype);
    if (o->repeat > 1000000000)
        return nx_fail(error, NX_USAGE, "at most 1,000,000,000 repeats");
    if (o->uuid_nul > 15)
        return nx_fail(error, NX_USAGE, "a uuid has 16 bytes");
    if (o->defects & NX_DEFECT_INTERLEAVED && o->cores != 2)
        return nx_fail(error, NX_USAGE, "sections of one core cannot be interleaved");
    return NX_OK;
}

enum nx_status gen_plan_make(const struct nx_generate_options *options, struct gen_plan *plan,
                             struct nx_error *error)
{
    struct nx_generate_options *o = &plan->options;
    enum nx_status status;
    uint64_t address;

    memset(plan, 0, sizeof(*plan));
    *o = *options;
    o->m = o->m ? o->m : 256;
    o->k = o->k ? o->k : 256;
    o->n = o->n ? o->n : 1024;
    o->dtype = o->dtype ? o->dtype : NX_GEN_BF16;
    o->version = o->version ? o->version : 6;
    o->cores = o->cores ? o->cores : o->version == 4 ? 1 : 2;
    o->repeat = o->repeat ? o->repeat : 1;
    if (!o->clock_ps)
        o->clock_ps = o->version == 4 ? 223281000000 : 2575444000000000;
    status = check_options(o, error);
    if (status)
        return status;

    plan->trn1 = o->version == 4;
    plan->looped = o->repeat > 1;
    plan->element = o->dtype == NX_GEN_FP32 ? 4 : 2;
    plan->core_count = o->cores;
    for (unsigned i = 0; i < 16; i++) /* no NUL byte unless asked for */
        plan->uuid[i] = (uint8_t)(1 + gen_random(o->seed, 1000 + i) % 255);
    if (o->uuid_nul)
        plan->uuid[o->uuid_nul] = 0;
    address = plan->trn1 ? 0x3c0058000 : 0x8005c03e0000;
    for (uint32_t c = 0; c < plan->core_count; c++) {
        plan->cores[c].number = c;
        plan_core(plan, &plan->cores[c]);
        lay_out(plan, &plan->cores[c], &address);
    }
    return NX_OK;
}

void gen_plan_free(struct gen_plan *plan)
{
    for (uint32_t c = 0; c < plan->core_count; c++) {
        struct gen_core *core = &plan->cores[c];

        for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
            struct gen_program *program = &core->programs[e];

            for (unsigned phase = 0; phase < GEN_PHASES; phase++)
                free(program->steps[phase]);
            free(program->insts);
            free(program->ran_index);
            free(program->neff_index);
        }
        free(core->transfers);
        free(core->bir);
    }
}
