/*
 * From instructions up to the source: generated kernels, whose lines and loops
 * are known; a real one, whose lines were counted by hand; and debug
 * information that lacks a part, or is made to harm.
 */
#include "../neff/debug_message.h"
#include "../neff/package.h"

#include <unistd.h>

#include "generate.h"
#include "trace/build.h"

static const char *line_of(const struct nx_trace *trace, const struct nx_code_inst *inst)
{
    const struct nx_origin *origin = nx_inst_origin(trace, inst);

    return origin && origin->line != NX_NO_TEXT ? trace->lines.entries[origin->line].data : NULL;
}

static bool warns(const struct nx_trace *trace, const char *text)
{
    for (size_t i = 0; i < trace->warnings.count; i++)
        if (strstr(trace->warnings.list[i].message, text))
            return true;
    return false;
}

/* ------------------------------------------------------------------ generated kernels */
#define PLACES 4096
struct place { /* of the code that ran */
    bool ran;
    unsigned line;
    int32_t loops[3];
};
struct places {
    struct place of[2][NX_ENGINE_COUNT][PLACES];
};

static void note(void *context, const struct nx_generated_row *row)
{
    struct places *places = context;

    if (row->kind != NX_ROW_INSTRUCTION || row->index < 0)
        return;
    assert_true(row->index < PLACES);
    places->of[row->core][row->engine][row->index] =
        (struct place){true, row->line, {row->m, row->n, row->k}};
}

static void check_line(const struct nx_trace *trace, const struct nx_code_inst *inst, unsigned line)
{
    const char *found = line_of(trace, inst);
    char expected[64];

    if (line == 0) {
        assert_null(found);
        return;
    }
    snprintf(expected, sizeof(expected), NX_GENERATE_SOURCE ":%u", line);
    assert_non_null(found);
    assert_string_equal(found, expected);
}

static const struct nx_kernel_loop *find_loop(const struct nx_kernel_debug *kernel, int64_t id)
{
    for (size_t i = 0; i < kernel->loop_count; i++)
        if (kernel->loops[i].id == id)
            return &kernel->loops[i];
    return NULL;
}

/* The chain of loop iterations, from the inner one outwards, has exactly the values that are not -1. */
static void check_loops(const struct nx_trace *trace, const struct nx_code_inst *inst,
                        const int32_t values[3])
{
    static const char *const names[] = {"m", "n", "k"};
    const struct nx_kernel_debug *kernel = &trace->neff->kernel;
    const struct nx_origin *origin = nx_inst_origin(trace, inst);
    const struct nx_kernel_inst *row;
    int64_t id;

    assert_true(origin->kernel_name != NX_NO_TEXT);
    row = nx_kernel_find(kernel, trace->kernel_names.entries[origin->kernel_name].data, inst->core);
    assert_non_null(row);
    assert_string_equal(row->name, origin->bir->name);
    assert_int_equal(origin->kernel_line, origin->line);
    id = row->loop;
    for (int i = 2; i >= 0; i--) {
        const struct nx_kernel_loop *loop;

        if (values[i] < 0)
            continue;
        loop = find_loop(kernel, id);
        assert_non_null(loop);
        assert_string_equal(loop->variable, names[i]);
        assert_int_equal(loop->value, values[i]);
        assert_int_equal(loop->place.core, inst->core);
        assert_int_equal(loop->place.line, NX_LINE_LOOP_M + i);
        id = loop->parent;
    }
    assert_true(id == NX_NOT_GIVEN);
}

struct opened {
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace;
};

static void open_generated(struct nx_generate_options options, struct places *places, struct opened *opened)
{
    struct nx_error error;
    char neff[64], ntff[64];

    snprintf(neff, sizeof(neff), "origin-%ld.neff", (long)getpid());
    snprintf(ntff, sizeof(ntff), "origin-%ld.ntff", (long)getpid());
    options.row = note;
    options.context = places;
    memset(places, 0, sizeof(*places));
    if (nx_generate(&options, neff, ntff, NULL, &error) || nx_neff_open(neff, &opened->neff, &error) ||
        nx_ntff_open(ntff, &opened->ntff, &error) ||
        nx_trace_build(&opened->neff, &opened->ntff, NULL, NULL, &opened->trace, &error))
        fail_msg("%s", error.text);
    unlink(neff);
    unlink(ntff);
}

static void close_generated(struct opened *opened)
{
    nx_trace_free(&opened->trace);
    nx_ntff_close(&opened->ntff);
    nx_neff_close(&opened->neff);
}

static void lines_and_loops_are_the_generators(void **state)
{
    static const struct nx_generate_options kinds[] = {
        {0},
        {.version = 4}, /* lines of penguin entries */
        {.version = 5, .dma = NX_DMA_DYNAMIC_HW},
        {.dma = NX_DMA_MIXED, .dtype = NX_GEN_FP32},
        {.m = 512, .k = 384, .n = 1536},
        {.debug = NX_GEN_DEBUG_LINES},
        {.debug = NX_GEN_DEBUG_LINES, .version = 4},
        {.debug = NX_GEN_DEBUG_NONE},
        {.defects = NX_DEFECT_NO_DEBUG_INFO},
        {.repeat = 3, .cores = 1},
    };
    struct places *places = nx_zalloc(1, sizeof(*places));

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct opened o;
        size_t lines = 0, loops = 0;

        open_generated(kinds[i], places, &o);
        for (uint32_t k = 0; k < o.trace.inst_count; k++) {
            const struct nx_code_inst *inst = &o.trace.insts[k];
            const struct place *place = &places->of[inst->core][inst->engine][inst->index];

            if (!place->ran)
                continue;
            check_line(&o.trace, inst, place->line);
            lines += place->line > 0;
            if (kinds[i].debug == NX_GEN_DEBUG_FULL && place->line) {
                check_loops(&o.trace, inst, place->loops);
                loops += place->loops[0] >= 0;
            } else if (nx_inst_origin(&o.trace, inst)) {
                assert_true(nx_inst_origin(&o.trace, inst)->kernel_name == NX_NO_TEXT);
            }
        }
        if (kinds[i].debug == NX_GEN_DEBUG_NONE || kinds[i].defects)
            assert_int_equal(lines, 0);
        else
            assert_true(lines >= 20 && (loops >= 12 || kinds[i].debug != NX_GEN_DEBUG_FULL));
        close_generated(&o);
    }
    free(places);
}

/* What is above the kernel: which operations each statement was compiled from. */
static void the_chain_goes_up_to_the_framework(void **state)
{
    struct places *places = nx_zalloc(1, sizeof(*places));
    struct opened o;
    size_t copies = 0;

    (void)state;
    open_generated((struct nx_generate_options){0}, places, &o);
    for (uint32_t k = 0; k < o.trace.inst_count; k++) {
        const struct nx_code_inst *inst = &o.trace.insts[k];
        const struct nx_origin *origin = nx_inst_origin(&o.trace, inst);
        const char *line = line_of(&o.trace, inst);

        if (!line || strcmp(line, NX_GENERATE_SOURCE ":20") != 0)
            continue;
        copies++; /* of the product, fused with a conversion */
        assert_string_equal(o.trace.hlo_names.entries[origin->hlo_name].data, "dot.4");
        assert_int_equal(origin->hlo->id, 11);
        assert_string_equal(
            o.trace.hlo_attrs.entries[origin->hlo_attrs].data,
            "{\"op_type\": \"dot\", \"op_name\": \"Model/dot\", \"source_file\": \"model.py\", "
            "\"source_line\": \"8\"}");
        assert_string_equal(o.trace.layers.entries[origin->layer].data, "Model[1]/Linear[2]/aten.mm");
        assert_int_equal(origin->framework->id, 21);
        assert_string_equal(o.trace.stack_frames.entries[origin->stack_frames].data, "[3, 4]");
    }
    assert_int_equal(copies, 4); /* four tiles of C */
    close_generated(&o);
    free(places);
}

/* One sentence for each setting that was missing when the kernel was compiled; none where nothing is. */
static void gaps_are_told(void **state)
{
    static const struct {
        struct nx_generate_options options;
        bool lines, kernel, upper, frames;
    } cases[] = {
        {{.debug = NX_GEN_DEBUG_FULL}, false, false, false, false},
        {{.debug = NX_GEN_DEBUG_LINES}, false, true, true, true},
        {{.debug = NX_GEN_DEBUG_NONE}, true, true, true, true},
        {{.without_member = "kernel_debug_info.json"}, false, true, false, false},
        {{.without_member = "debug_info/debug_info_pttf.dbg"}, false, false, true, false},
        {{.cores = 1, .without_member = "debug_info/debug_info_hlo.dbg_sg000000"}, false, false, true, true},
        {{.defects = NX_DEFECT_NO_DEBUG_INFO}, false, false, false, false}, /* said already, of all files */
    };
    struct places *places = nx_zalloc(1, sizeof(*places));

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct opened o;

        open_generated(cases[i].options, places, &o);
        assert_int_equal(warns(&o.trace, "no source lines (bir_debug_info_source_location): compile with "
                                         "NEURON_FRAMEWORK_DEBUG=1"),
                         cases[i].lines);
        assert_int_equal(warns(&o.trace, "NKI_DEBUG_INFO=True"), cases[i].kernel);
        assert_int_equal(warns(&o.trace, "XLA_IR_DEBUG=1 and XLA_HLO_DEBUG=1"), cases[i].upper);
        assert_int_equal(warns(&o.trace, "(stack_frame_ids): compile with"), cases[i].frames);
        close_generated(&o);
    }
    free(places);
}

/* ------------------------------------------------------------------ NEFFs alone */

/* A trace of nothing: every instruction of the NEFF once. */
static void follow(const struct nx_neff *neff, struct nx_trace *trace)
{
    uint32_t count = 0;

    *trace = (struct nx_trace){.neff = neff, .core_count = (uint32_t)neff->graph_count};
    trace->cores = nx_zalloc(trace->core_count, sizeof(*trace->cores));
    for (uint32_t c = 0; c < trace->core_count; c++)
        for (int e = 0; e < NX_ENGINE_COUNT; e++) {
            trace->cores[c].neff = &neff->graphs[c];
            trace->cores[c].first_inst[e] = count;
            trace->cores[c].inst_count[e] = (uint32_t)neff->graphs[c].engines[e].assembly.count;
            count += trace->cores[c].inst_count[e];
        }
    trace->inst_count = count;
    trace->insts = nx_zalloc(count, sizeof(*trace->insts));
    for (uint32_t c = 0; c < trace->core_count; c++)
        for (int e = 0; e < NX_ENGINE_COUNT; e++)
            for (uint32_t i = 0; i < trace->cores[c].inst_count[e]; i++) {
                const struct nx_neff_engine *engine = &neff->graphs[c].engines[e];
                struct nx_code_inst *inst = &trace->insts[trace->cores[c].first_inst[e] + i];

                inst->engine = (uint8_t)e;
                inst->opcode = i < engine->code.size / 64 ? engine->code.data[(size_t)i * 64] : 0;
                inst->origin = NX_NONE;
                if (engine->assembly.entries[i].parent_count)
                    inst->bir = nx_dbg_find(&neff->graphs[c].bir, engine->assembly.entries[i].parents[0]);
            }
    nx_build_origins(trace);
}

static size_t count_line(const struct nx_trace *trace, enum nx_engine engine, uint8_t opcode,
                         const char *line)
{
    size_t count = 0;

    for (uint32_t i = 0; i < trace->inst_count; i++) {
        const char *found = line_of(trace, &trace->insts[i]);

        if (trace->insts[i].engine != engine || trace->insts[i].opcode != opcode)
            continue;
        if (found)
            found = strrchr(found, '/') + 1;
        count += line ? found && strcmp(found, line) == 0 : !found;
    }
    return count;
}

/*
 * A convolution with pooling (compiler 2.18: lines stand on penguin entries), counted by an own reading of
 * the file.  Line 104 loads the weights, 107 transposes them, 127 loads the image, 140 multiplies, 141 and
 * 142 add the bias, 143 stores.
 */
static void a_real_kernel_has_its_lines(void **state)
{
    static const struct {
        enum nx_engine engine;
        uint8_t opcode;
        const char *line;
        size_t count;
    } expected[] = {
        {NX_PE, 0x01, "conv2d.py:107", 36},
        {NX_PE, 0x01, "conv2d.py:140", 3996},
        {NX_PE, 0x02, "conv2d.py:107", 36},
        {NX_PE, 0x02, "conv2d.py:140", 3996},
        {NX_PE, 0x02, "conv2d.py:141", 2},
        {NX_PE, 0xb1, NULL, 1},
        {NX_ACT, 0x21, "conv2d.py:140", 1164},
        {NX_ACT, 0x21, "conv2d.py:142", 222},
        {NX_DVE, 0x46, "conv2d.py:107", 4},
        {NX_DVE, 0x46, "conv2d.py:140", 168},
        {NX_POOL, 0xc1, "conv2d.py:143", 222},
        {NX_SP, 0xc1, "conv2d.py:104", 4},
        {NX_SP, 0xc1, "conv2d.py:107", 1},
        {NX_SP, 0xc1, "conv2d.py:127", 354},
        {NX_SP, 0xc1, NULL, 0},
    };
    const char *path = NX_SHARED_DIR "/neffs/conv-pool-fp16-trn1.neff";
    struct nx_neff neff;
    struct nx_trace trace;
    struct nx_error error;

    (void)state;
    if (access(path, R_OK)) {
        print_message("           the real kernels are not here (%s)\n", NX_SHARED_DIR);
        skip();
    }
    if (nx_neff_open(path, &neff, &error))
        fail_msg("%s", error.text);
    follow(&neff, &trace);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_int_equal(count_line(&trace, expected[i].engine, expected[i].opcode, expected[i].line),
                         expected[i].count);
    nx_trace_free(&trace);
    nx_neff_close(&neff);
}

/* Each DMA block's own debug information and that of the instruction that triggers it name one line. */
static void blocks_and_triggers_agree(void **state)
{
    static const char *const kernels[] = {"conv-pool-fp16-trn1", "conv-pool-fp32-trn1"};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        char path[512];
        struct nx_neff neff;
        struct nx_trace trace;
        struct nx_error error;
        const struct nx_neff_graph *graph;
        struct nx_dict names = {0};
        size_t triggers = 0;

        snprintf(path, sizeof(path), NX_SHARED_DIR "/neffs/%s.neff", kernels[k]);
        if (access(path, R_OK)) {
            print_message("           the real kernels are not here (%s)\n", NX_SHARED_DIR);
            skip();
        }
        if (nx_neff_open(path, &neff, &error))
            fail_msg("%s", error.text);
        follow(&neff, &trace);
        graph = &neff.graphs[0];
        for (size_t i = 0; i < graph->dma_bir.count; i++)
            assert_int_equal(nx_dict_add_string(&names, graph->dma_bir.entries[i].name), i);
        for (uint32_t i = 0; i < trace.inst_count; i++) {
            const struct nx_code_inst *inst = &trace.insts[i];
            const struct nx_neff_engine *engine = &graph->engines[inst->engine];
            struct nx_inst decoded;
            const struct nx_neff_block *block;
            const char *file;
            char line[512];
            int64_t number;
            uint32_t entry;

            if (inst->opcode != NX_OP_PSEUDO_DMA_TRIGGER)
                continue;
            nx_isa_decode(engine->code.data + (size_t)(i - trace.cores[0].first_inst[inst->engine]) * 64,
                          &decoded);
            block = nx_neff_find_block(graph, decoded.queue, decoded.block);
            assert_non_null(block);
            entry = nx_dict_find(&names, block->name);
            assert_true(entry != NX_NO_TEXT);
            assert_true(nx_dbg_source(&graph->penguin,
                                      nx_dbg_find(&graph->penguin, graph->dma_bir.entries[entry].parents[0]),
                                      &file, &number));
            snprintf(line, sizeof(line), "%s:%lld", file, (long long)number);
            assert_string_equal(line_of(&trace, inst), line);
            triggers++;
        }
        assert_int_equal(triggers, graph->block_count);
        nx_dict_free(&names);
        nx_trace_free(&trace);
        nx_neff_close(&neff);
    }
}

/* ------------------------------------------------------------------ by hand */
static struct part part(const char *name, const struct nx_text *text)
{
    return (struct part){name, nx_text_string(text), text->size};
}

static void put_entry(struct nx_text *file, uint64_t id, const char *name, uint64_t parent, const char *line)
{
    struct nx_text entry = {0};

    gen_pb_int(&entry, 1, id);
    gen_pb_string(&entry, 2, name);
    gen_pb_int(&entry, 3, parent);
    if (line) {
        attr(&entry, "kernel_file", "0");
        attr(&entry, "kernel_line", line);
    }
    gen_pb_message(file, 3, &entry);
    nx_text_free(&entry);
}

/* A line on the BIR entry is nearer than one on its parent; names of kernel instructions may end in the
 * parent. */
static void the_nearest_line_counts(void **state)
{
    static const char kernel[] =
        "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"inst.1:7\", \"file_path\": \"k.py\", "
        "\"line_number\": 5}, {\"kernel_instruction_name\": \"inst.2\", \"file_path\": \"k.py\"}]}";
    struct nx_text assembly = {0}, bir = {0}, penguin = {0};
    struct part changes[4];
    struct nx_neff neff;
    struct nx_trace trace;
    const struct nx_origin *origin;

    (void)state;
    put_entry(&assembly, 0, "", 1, NULL);
    put_entry(&assembly, 0, "", 2, NULL);
    put_entry(&assembly, 0, "", 3, NULL);
    put_entry(&bir, 1, "inst.1", (uint64_t)1 << 48 | 7, "11");
    put_entry(&bir, 2, "inst.2", 8, NULL);
    put_entry(&bir, 3, "inst.3", 99, NULL); /* its parent is not there */
    gen_pb_string(&bir, 5, "near.py");
    put_entry(&penguin, (uint64_t)1 << 48 | 7, "seven", 0, "70");
    put_entry(&penguin, 8, "eight", 0, "80");
    gen_pb_string(&penguin, 5, "far.py");
    changes[0] = part("sg00/asm_PE.dbg", &assembly);
    changes[1] = part("sg00/bir_PE.dbg", &bir);
    changes[2] = part("debug_info/debug_info_penguin.dbg_sg000000", &penguin);
    changes[3] = (struct part){"kernel_debug_info.json", kernel, 0};
    read_with(changes, 4, &neff);
    follow(&neff, &trace);
    assert_string_equal(line_of(&trace, &trace.insts[0]), "near.py:11");
    assert_string_equal(line_of(&trace, &trace.insts[1]), "far.py:80");
    assert_null(line_of(&trace, &trace.insts[2]));
    origin = nx_inst_origin(&trace, &trace.insts[0]);
    assert_string_equal(trace.kernel_names.entries[origin->kernel_name].data, "inst.1:7");
    assert_string_equal(trace.lines.entries[origin->kernel_line].data, "k.py:5");
    origin = nx_inst_origin(&trace, &trace.insts[1]);
    assert_string_equal(trace.kernel_names.entries[origin->kernel_name].data, "inst.2");
    assert_true(origin->kernel_line == NX_NO_TEXT); /* no line number */
    origin = nx_inst_origin(&trace, &trace.insts[2]);
    assert_null(origin->penguin);
    assert_true(origin->kernel_name == NX_NO_TEXT);
    nx_trace_free(&trace);
    nx_neff_close(&neff);
    nx_text_free(&assembly);
    nx_text_free(&bir);
    nx_text_free(&penguin);
}

/* One name of a megabyte and many lines of it: a gigabyte of texts, if nobody looked. */
static void texts_are_bounded(void **state)
{
    enum { NAME = 1 << 20, LINES = 1000 };
    struct nx_text assembly = {0}, bir = {0};
    char *name = nx_zalloc(NAME + 1, 1), line[16];
    struct part changes[2];
    struct nx_neff neff;
    struct nx_trace trace;
    size_t with_line = 0;

    (void)state;
    memset(name, 'x', NAME);
    for (uint64_t i = 1; i <= LINES; i++) {
        snprintf(line, sizeof(line), "%u", (unsigned)i);
        put_entry(&assembly, 0, "", i, NULL);
        put_entry(&bir, i, "", 0, line);
    }
    gen_pb_string(&bir, 5, name);
    changes[0] = part("sg00/asm_PE.dbg", &assembly);
    changes[1] = part("sg00/bir_PE.dbg", &bir);
    read_with(changes, 2, &neff);
    follow(&neff, &trace);
    for (uint32_t i = 0; i < trace.inst_count; i++)
        with_line += line_of(&trace, &trace.insts[i]) != NULL;
    assert_true(with_line > 100 && with_line < 300);
    assert_true(warns(&trace, "too long to keep"));
    nx_trace_free(&trace);
    nx_neff_close(&neff);
    nx_text_free(&assembly);
    nx_text_free(&bir);
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_loops_are_the_generators),
        cmocka_unit_test(the_chain_goes_up_to_the_framework),
        cmocka_unit_test(gaps_are_told),
        cmocka_unit_test(a_real_kernel_has_its_lines),
        cmocka_unit_test(blocks_and_triggers_agree),
        cmocka_unit_test(the_nearest_line_counts),
        cmocka_unit_test(texts_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
