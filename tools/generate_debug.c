/*
 * Debug information: from instructions to the statements of the source, its
 * loops, and the model around it.  The kernel's source stands in generate.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "generate_package.h"
#include "generate_wire.h"

#define KERNEL "matmul_tiled"

static const uint32_t level_of[] = {1, 2, 3, 5, 6}; /* engine numbers of .dbg files; 4 is DMA */

/* Numbers of the HLO and framework operations; the kernel multiplies, converts, and transposes before that.
 */
enum { HLO_DOT = 11, HLO_CONVERT, HLO_TRANSPOSE };
enum { OP_MM = 21, OP_T };

struct statement { /* penguin entry */
    const char *name;
    uint32_t dep; /* on another one; 0: none */
    uint32_t line;
    uint32_t hlo[2]; /* what it was made from; several: operations that were fused */
};

static const struct statement statements[GEN_STATEMENTS] = {
    [GEN_LOAD_A] = {"<128 x 128> $1[k,m]", 0, NX_LINE_LOAD_A, {HLO_DOT, 0}},
    [GEN_LOAD_B] = {"<128 x 512> $2[k,n]", 0, NX_LINE_LOAD_B, {HLO_DOT, 0}},
    [GEN_MULTIPLY] = {"<128 x 512> $3[m,n]", GEN_LOAD_A, NX_LINE_MULTIPLY, {HLO_DOT, 0}},
    [GEN_COPY_OUT] = {"<128 x 512> $4[m,n]", GEN_MULTIPLY, NX_LINE_COPY_OUT, {HLO_DOT, HLO_CONVERT}},
    [GEN_STORE_C] = {"<128 x 512> $5[m,n]", GEN_COPY_OUT, NX_LINE_STORE_C, {HLO_CONVERT, 0}},
    [GEN_LOAD_IDENTITY] = {"<128 x 128> $6", 0, NX_LINE_LOAD_IDENTITY, {HLO_TRANSPOSE, 0}},
    [GEN_TRANSPOSE] = {"<128 x 128> $7", GEN_LOAD_IDENTITY, NX_LINE_TRANSPOSE, {HLO_TRANSPOSE, 0}},
    [GEN_COPY_IDENTITY] = {"<128 x 128> $8", GEN_TRANSPOSE, NX_LINE_COPY_IDENTITY, {HLO_TRANSPOSE, 0}},
    [GEN_TABLE] = {"<128 x 1> $9", 0, 0, {0, 0}},
};

uint32_t gen_line(const struct gen_plan *plan, uint32_t statement)
{
    return plan->options.debug == NX_GEN_DEBUG_NONE ? 0 : statements[statement].line;
}

/* ------------------------------------------------------------------ pieces of the message */
static void dbg_open(struct nx_text *out, const char *description, const char *parent)
{
    gen_pb_string(out, 1, description);
    gen_pb_string(out, 2, parent);
}

static void packed(struct nx_text *out, uint32_t field, const uint32_t *values, size_t count)
{
    struct nx_text m = {0};

    for (size_t i = 0; i < count; i++)
        gen_pb_varint(&m, values[i]);
    if (count)
        gen_pb_message(out, field, &m);
    nx_text_free(&m);
}

static void attribute(struct nx_text *out, const char *key, const char *value)
{
    struct nx_text m = {0};

    gen_pb_string(&m, 1, key);
    gen_pb_string(&m, 2, value);
    gen_pb_message(out, 7, &m);
    nx_text_free(&m);
}

static void source_line(struct nx_text *out, uint32_t line)
{
    char text[16];

    if (!line)
        return;
    snprintf(text, sizeof(text), "%u", line);
    attribute(out, "kernel_file", "0");
    attribute(out, "kernel_line", text);
}

/* Three integers as a message of their own; zeros are left out. */
static void row(struct nx_text *out, uint32_t field, uint32_t first, uint32_t second, uint32_t third)
{
    struct nx_text m = {0};

    gen_pb_int(&m, 1, first);
    gen_pb_int(&m, 2, second);
    gen_pb_int(&m, 3, third);
    gen_pb_message(out, field, &m);
    nx_text_free(&m);
}

/* ------------------------------------------------------------------ a core: assembly and backend */
static void put_bir(const struct gen_plan *plan, const struct gen_core *core, const struct gen_bir *b,
                    struct nx_text *out)
{
    struct nx_text m = {0};
    uint32_t ids[2][GEN_DEPS], types[2][GEN_DEPS];
    size_t counts[2] = {0, 0};

    for (unsigned i = 0; i < b->dep_count; i++) {
        const struct gen_dep *dep = &b->deps[i];
        size_t at = counts[dep->sync]++;

        ids[dep->sync][at] = core->bir[dep->bir - 1].id;
        types[dep->sync][at] = dep->type;
    }
    gen_pb_int(&m, 1, b->id);
    gen_pb_string(&m, 2, b->name);
    packed(&m, 3, &b->penguin, 1);
    packed(&m, 4, ids[0], counts[0]);
    packed(&m, 5, ids[1], counts[1]);
    gen_pb_int(&m, 6, b->kind);
    if (b->dma_queue)
        attribute(&m, "dma_queue", b->dma_queue);
    if (!plan->trn1)
        source_line(&m, gen_line(plan, b->penguin));
    packed(&m, 9, types[0], counts[0]);
    packed(&m, 10, types[1], counts[1]);
    gen_pb_message(out, 3, &m);
    nx_text_free(&m);
}

void gen_debug_core(struct gen_package *p, const struct gen_core *core)
{
    struct nx_text out = {0}, m = {0};

    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        const struct gen_program *program = &core->programs[e];
        char parent[64];

        snprintf(parent, sizeof(parent), "debug_info_backend_%s.dbg", gen_member_of[e]);
        dbg_open(&out, "Assembly instructions of one engine, in the order of its binary", parent);
        for (size_t i = 0; i < program->inst_count; i++) {
            const struct gen_inst *inst = &program->insts[i];

            if (!inst->compiled)
                continue;
            if (inst->bir)
                packed(&m, 3, &core->bir[inst->bir - 1].id, 1);
            gen_pb_message(&out, 3, &m);
        }
        gen_pb_int(&out, 4, level_of[e]);
        gen_member(p, &out, "%s/debug_info_asm_%s.dbg", core->name, gen_member_of[e]);
    }
    for (unsigned file = 0; file <= GEN_DBG_DMA; file++) {
        dbg_open(&out, "BIR instructions of one engine, or DMA blocks", "debug_info_penguin.dbg");
        for (size_t i = 0; i < core->bir_count; i++)
            if (core->bir[i].file == file)
                put_bir(p->plan, core, &core->bir[i], &out);
        gen_pb_int(&out, 4, file == GEN_DBG_DMA ? 4 : level_of[file]);
        if (!p->plan->trn1 && p->plan->options.debug != NX_GEN_DEBUG_NONE)
            gen_pb_string(&out, 5, NX_GENERATE_SOURCE);
        gen_member(p, &out, "%s/debug_info_backend_%s.dbg", core->name,
                   file == GEN_DBG_DMA ? "DMA" : gen_member_of[file]);
    }
    nx_text_free(&out);
    nx_text_free(&m);
}

/* ------------------------------------------------------------------ the levels above */
static void put_penguin(struct gen_package *p, const struct gen_core *core)
{
    const struct gen_plan *plan = p->plan;
    struct nx_text out = {0}, m = {0};
    char name[64];

    dbg_open(&out, "Penguin instructions", "debug_info_hlo.dbg");
    for (uint32_t id = 1; id < GEN_STATEMENTS; id++) {
        const struct statement *s = &statements[id];

        snprintf(name, sizeof(name), "%s%s", gen_dtype_word(plan), s->name);
        gen_pb_int(&m, 1, id);
        gen_pb_string(&m, 2, name);
        if (plan->options.debug == NX_GEN_DEBUG_FULL)
            packed(&m, 3, s->hlo, (size_t)(s->hlo[0] != 0) + (s->hlo[1] != 0));
        packed(&m, 4, &s->dep, s->dep != 0);
        gen_pb_int(&m, 6, 1);
        attribute(&m, "kernel_name", "0");
        if (plan->trn1)
            source_line(&m, gen_line(plan, id));
        gen_pb_message(&out, 3, &m);
    }
    if (plan->trn1 && plan->options.debug != NX_GEN_DEBUG_NONE)
        gen_pb_string(&out, 5, NX_GENERATE_SOURCE);
    gen_pb_string(&out, 7, KERNEL);
    gen_member(p, &out, "debug_info/debug_info_penguin.dbg_sg%06u", core->number);
    nx_text_free(&out);
    nx_text_free(&m);
}

static void put_stack(struct nx_text *out)
{
    struct nx_text m = {0};

    gen_pb_string(&m, 1, "train.py");
    gen_pb_string(&m, 1, "model.py");
    gen_pb_string(&m, 2, "main");
    gen_pb_string(&m, 2, "Model.forward");
    row(&m, 3, 1, 1, 40); /* train.py, main */
    row(&m, 3, 2, 2, 7);  /* model.py, Model.forward: the transposition, the product, the conversion */
    row(&m, 3, 2, 2, 8);
    row(&m, 3, 2, 2, 9);
    for (uint32_t location = 1; location <= 4; location++)
        row(&m, 4, location, location > 1, 0);
    gen_pb_message(out, 6, &m);
    nx_text_free(&m);
}

static void put_hlo(struct gen_package *p, const struct gen_core *core)
{
    static const struct {
        uint32_t id, framework, frame;
        const char *name, *type, *op, *line;
    } operations[] = {
        {HLO_DOT, OP_MM, 3, "dot.4", "dot", "Model/dot", "8"},
        {HLO_CONVERT, OP_MM, 4, "convert.5", "convert", "Model/convert", "9"},
        {HLO_TRANSPOSE, OP_T, 2, "transpose.2", "transpose", "Model/transpose", "7"},
    };
    struct nx_text out = {0}, m = {0};

    dbg_open(&out, "HLO operations", "debug_info_pttf.dbg");
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        gen_pb_int(&m, 1, operations[i].id);
        gen_pb_string(&m, 2, operations[i].name);
        packed(&m, 3, &operations[i].framework, 1);
        gen_pb_int(&m, 6, 1);
        attribute(&m, "op_type", operations[i].type);
        attribute(&m, "op_name", operations[i].op);
        attribute(&m, "source_file", "model.py");
        attribute(&m, "source_line", operations[i].line);
        gen_pb_int(&m, 8, operations[i].frame);
        gen_pb_message(&out, 3, &m);
    }
    put_stack(&out);
    gen_member(p, &out, "debug_info/debug_info_hlo.dbg_sg%06u", core->number);
    nx_text_free(&out);
    nx_text_free(&m);
}

static void put_framework(struct gen_package *p)
{
    struct nx_text out = {0}, m = {0};

    dbg_open(&out, "Operations of the framework", "");
    gen_pb_int(&m, 1, OP_MM);
    gen_pb_string(&m, 2, "Model[1]/Linear[2]/aten.mm");
    gen_pb_message(&out, 3, &m);
    gen_pb_int(&m, 1, OP_T);
    gen_pb_string(&m, 2, "Model[1]/Linear[2]/aten.t");
    gen_pb_message(&out, 3, &m);
    gen_member(p, &out, "debug_info/debug_info_pttf.dbg");
    nx_text_free(&out);
    nx_text_free(&m);
}

/* ------------------------------------------------------------------ kernel_debug_info.json */

/*
 * Rows of the loops' iterations are numbered as if all of a core's were there:
 * each iteration of m, behind it those of n in it, behind each of these those
 * of k.  A core has only those of its own tiles of C.
 */
struct numbering {
    uint64_t base, per_m, per_n;
};

static uint64_t loop_id(const struct numbering *n, int32_t m, int32_t column, int32_t k)
{
    if (m < 0)
        return 0;
    return n->base + (uint64_t)m * n->per_m + (column < 0 ? 0 : 1 + (uint64_t)column * n->per_n) +
           (k < 0 ? 0 : 1 + (uint64_t)k);
}

static void put_loop(struct nx_text *out, const char **comma, uint64_t id, uint64_t parent, const char *name,
                     int32_t value, uint32_t line, uint32_t core)
{
    nx_text_printf(
        out, "%s\n{\"iteration_variable_id\":%" PRIu64 ",\"variable_name\":\"%s\",\"variable_value\":%d,",
        *comma, id, name, value);
    if (parent)
        nx_text_printf(out, "\"parent_iteration_variable_id\":%" PRIu64 ",", parent);
    nx_text_printf(out, "\"pcore_idx\":%u,\"file_path\":\"" NX_GENERATE_SOURCE "\",\"line_number\":%u}", core,
                   line);
    *comma = ",";
}

static struct numbering number_loops(const struct gen_plan *plan, const struct gen_core *core)
{
    const struct nx_generate_options *o = &plan->options;
    struct numbering n = {.per_n = 1 + o->k / GEN_TILE_K};

    n.per_m = 1 + o->n / GEN_TILE_N * n.per_n;
    n.base = 1 + core->number * (o->m / GEN_TILE_M * n.per_m);
    return n;
}

static void put_loops(const struct gen_plan *plan, const struct gen_core *core, const char **comma,
                      struct nx_text *out)
{
    const struct nx_generate_options *o = &plan->options;
    uint32_t rows = o->m / GEN_TILE_M, columns = o->n / GEN_TILE_N, depth = o->k / GEN_TILE_K;
    struct numbering numbers = number_loops(plan, core);
    int32_t last_m = -1;

    for (uint32_t all = core->number; all < rows * columns; all += plan->core_count) {
        int32_t m = (int32_t)(all / columns), n = (int32_t)(all % columns);

        if (m != last_m)
            put_loop(out, comma, loop_id(&numbers, m, -1, -1), 0, "m", m, NX_LINE_LOOP_M, core->number);
        last_m = m;
        put_loop(out, comma, loop_id(&numbers, m, n, -1), loop_id(&numbers, m, -1, -1), "n", n,
                 NX_LINE_LOOP_N, core->number);
        for (int32_t k = 0; k < (int32_t)depth; k++)
            put_loop(out, comma, loop_id(&numbers, m, n, k), loop_id(&numbers, m, n, -1), "k", k,
                     NX_LINE_LOOP_K, core->number);
    }
}

static void put_kernel_insts(const struct gen_plan *plan, const struct gen_core *core, const char **comma,
                             struct nx_text *out)
{
    struct numbering numbers = number_loops(plan, core);

    for (size_t i = 0; i < core->bir_count; i++) {
        const struct gen_bir *b = &core->bir[i];
        uint64_t loop = loop_id(&numbers, b->m, b->n, b->k);

        if (!gen_line(plan, b->penguin))
            continue;
        nx_text_printf(
            out, "%s\n{\"kernel_instruction_name\":\"%s\",\"stack_frame_id\":1,\"stack_frame_depth\":1,",
            *comma, b->name);
        if (loop)
            nx_text_printf(out, "\"iteration_variables_id\":%" PRIu64 ",", loop);
        nx_text_printf(out,
                       "\"iteration_variable_depth\":%d,\"pcore_idx\":%u,\"file_path\":\"" NX_GENERATE_SOURCE
                       "\",\"line_number\":%u}",
                       (b->m >= 0) + (b->n >= 0) + (b->k >= 0), core->number, gen_line(plan, b->penguin));
        *comma = ",";
    }
}

static void put_kernel(struct gen_package *p)
{
    struct nx_text out = {0};
    const char *comma = "";

    nx_text_puts(&out, "{\"KernelInstructions\":[");
    for (uint32_t c = 0; c < p->plan->core_count; c++)
        put_kernel_insts(p->plan, &p->plan->cores[c], &comma, &out);
    nx_text_printf(&out,
                   "],\n\"KernelStackFrames\":[\n{\"stack_frame_id\":1,\"fully_qualified_function_name\":"
                   "\"kernels." KERNEL "." KERNEL "\",\"file_path\":\"" NX_GENERATE_SOURCE
                   "\",\"line_number\":%d}],\n"
                   "\"KernelIterationVariables\":[",
                   NX_LINE_KERNEL);
    comma = "";
    for (uint32_t c = 0; c < p->plan->core_count; c++)
        put_loops(p->plan, &p->plan->cores[c], &comma, &out);
    nx_text_puts(&out, "]}\n");
    gen_member(p, &out, "kernel_debug_info.json");
    nx_text_free(&out);
}

void gen_debug_levels(struct gen_package *p)
{
    for (uint32_t c = 0; c < p->plan->core_count; c++)
        put_penguin(p, &p->plan->cores[c]);
    if (p->plan->options.debug != NX_GEN_DEBUG_FULL)
        return;
    for (uint32_t c = 0; c < p->plan->core_count; c++)
        put_hlo(p, &p->plan->cores[c]);
    put_framework(p);
    put_kernel(p);
}
