/* Real kernels: what the closed tool printed of them, and figures that are known from what they compute. */
#include <unistd.h>

#include <jansson.h>

#include "package.h"

static const char *const all[] = {
    "profiles/attention-baseline-bf16-s512/kernel.neff",
    "profiles/attention-fused-bf16-s1024/kernel.neff",
    "profiles/attention-fused-bf16-s512/kernel.neff",
    "profiles/attention-fused-fp32-s512/kernel.neff",
    "profiles/conv2d-fp16-trn2-small/kernel.neff",
    "profiles/conv2d-fp16-trn2/kernel.neff",
    "profiles/transpose-1024-trn2/kernel.neff",
    "profiles/vector-add-trn1-fd1k/kernel.neff",
    "profiles/vector-add-trn2-fd1k/kernel.neff",
    "neffs/conv-pool-fp16-trn1.neff",
    "neffs/conv-pool-fp32-trn1.neff",
};
#define ALL (sizeof(all) / sizeof(all[0]))

static void need_shared(void)
{
    if (access(NX_SHARED_DIR "/profiles", R_OK)) {
        print_message("           the real profiles are not here (%s)\n", NX_SHARED_DIR);
        skip();
    }
}

static void open_real(const char *name, struct nx_neff *neff)
{
    struct nx_error error;
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", NX_SHARED_DIR, name);
    if (nx_neff_open(path, neff, &error) != NX_OK)
        fail_msg("%s", error.text);
}

static json_t *expected(const char *profile)
{
    char path[512];
    json_error_t why;
    json_t *json;

    snprintf(path, sizeof(path), "%s/profiles/%s/expected.json", NX_SHARED_DIR, profile);
    json = json_load_file(path, 0, &why);
    if (!json)
        fail_msg("%s: %s", path, why.text);
    return json;
}

static const char *text(const json_t *row, const char *key)
{
    const char *value = json_string_value(json_object_get(row, key));

    return value ? value : "";
}

static uint64_t number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key); /* both kinds occur */

    return json_is_integer(value) ? (uint64_t)json_integer_value(value) : strtoull(text(row, key), NULL, 10);
}

/* ------------------------------------------------------------------ what holds for every one of them */
static void check_graph(const struct nx_neff_graph *graph)
{
    size_t described = 0, code = 0, unknown = 0;

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        const struct nx_neff_engine *engine = &graph->engines[e];

        assert_int_equal(engine->code.size % 64, 0);
        assert_int_equal(engine->assembly.count, engine->code.size / 64); /* one entry an instruction */
        code += engine->assembly.count;
        for (size_t i = 0; i < engine->assembly.count; i++) {
            const struct nx_dbg_entry *entry = &engine->assembly.entries[i];

            assert_true(entry->parent_count <= 1);
            if (!entry->parent_count)
                continue;
            described++;
            assert_non_null(nx_dbg_find(&graph->bir, entry->parents[0]));
        }
    }
    assert_true(code > 0 && described <= code);
    for (size_t i = 0; i < graph->bir.count; i++) {
        const struct nx_dbg_entry *bir = &graph->bir.entries[i];

        assert_ptr_equal(nx_dbg_find(&graph->bir, bir->id), bir); /* ids are unique over the engines */
        assert_int_equal(bir->parent_count, 1);
        assert_non_null(nx_dbg_find(&graph->penguin, bir->parents[0]));
        assert_true(bir->kind == NX_DBG_REGULAR || bir->kind == NX_DBG_TRANSPOSE);
        for (size_t d = 0; d < bir->dep_count; d++) {
            unknown +=
                !nx_dbg_find(&graph->bir, bir->deps[d].id) && !nx_dbg_find(&graph->dma_bir, bir->deps[d].id);
            assert_true(bir->deps[d].type <= NX_DEP_FLOW);
        }
    }
    /* Data dependencies on a load name it by an id from before it became a block: that id is in no file. */
    assert_int_equal(unknown > 0, graph->block_count > 0);
    assert_int_equal(graph->dma_bir.count, graph->block_count); /* each block is described */
    for (size_t i = 0; i < graph->block_count; i++) {
        const struct nx_neff_block *block = &graph->blocks[i];

        assert_ptr_equal(nx_neff_find_block(graph, graph->queues[block->queue].name, block->id), block);
        assert_true(block->write_bytes > 0 && block->read_bytes > 0);
        assert_true(block->semaphore >= 0 && block->semaphore < 256);
        assert_string_equal(graph->semaphore_names[block->semaphore],
                            graph->queues[block->queue].display_name);
    }
}

static void all_are_understood(void **state)
{
    (void)state;
    need_shared();
    for (size_t i = 0; i < ALL; i++) {
        struct nx_neff neff;

        open_real(all[i], &neff);
        if (neff.warnings.count)
            fail_msg("%s: %s", all[i], neff.warnings.list[0].message);
        assert_int_equal(neff.header.package_version, 2);
        assert_int_equal(neff.header.num_tpb, 1);
        assert_int_equal(neff.header.requested_tpb, 1);
        assert_int_equal(neff.header.lnc_size, neff.graph_count);
        assert_int_equal(neff.header.major_version, neff.graph_count);
        assert_true(neff.kernel_node > 0); /* behind its inputs */
        assert_string_equal(neff.target, neff.graph_count == 2 ? "cayman" : "sunda");
        assert_int_equal(neff.has_metrics, neff.graph_count == 1);
        assert_false(neff.has_hlo_stats); /* metrics.json holds four figures, none of them of HLO */
        for (size_t g = 0; g < neff.graph_count; g++) {
            assert_int_equal(neff.graphs[g].runtime_semaphore_count, 3);
            assert_int_equal(neff.graphs[g].cc_streams, 0);
            check_graph(&neff.graphs[g]);
        }
        nx_neff_close(&neff);
    }
}

/* ------------------------------------------------------------------ the four attention kernels */
static const char *const attention[] = {"attention-baseline-bf16-s512", "attention-fused-bf16-s1024",
                                        "attention-fused-bf16-s512", "attention-fused-fp32-s512"};
#define ATTENTION (sizeof(attention) / sizeof(attention[0]))

static void open_attention(size_t i, struct nx_neff *neff)
{
    char name[256];

    snprintf(name, sizeof(name), "profiles/%s/kernel.neff", attention[i]);
    open_real(name, neff);
}

static void hex(const uint8_t *bytes, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

static void headers_are_equal(void **state)
{
    (void)state;
    need_shared();
    for (size_t i = 0; i < ATTENTION; i++) {
        json_t *json = expected(attention[i]);
        const json_t *row = json_array_get(json_object_get(json, "neff_header"), 0);
        struct nx_neff neff;
        char buffer[256];

        open_attention(i, &neff);
        assert_int_equal(neff.header.package_version, number(row, "package_version"));
        assert_int_equal(neff.header.header_size, number(row, "header_size"));
        assert_int_equal(neff.header.data_size, number(row, "data_size"));
        assert_int_equal(neff.header.major_version, number(row, "major_version"));
        assert_int_equal(neff.header.minor_version, number(row, "minor_version"));
        assert_int_equal(neff.header.num_tpb, number(row, "number_of_logical_neuroncores"));
        assert_int_equal(neff.header.lnc_size, number(row, "number_of_neuroncores_per_lnc"));
        assert_string_equal(neff.header.build_version, text(row, "build_version"));
        assert_string_equal(neff.header.name, text(row, "network_name"));
        nx_neff_feature_names(neff.header.feature_bits, buffer, sizeof(buffer));
        assert_string_equal(buffer, text(row, "enabled_features"));
        hex(neff.header.uuid, 16, buffer);
        assert_string_equal(buffer, text(row, "uuid"));
        hex(neff.header.hash, 16, buffer);
        assert_string_equal(buffer, text(row, "hash"));
        nx_neff_close(&neff);
        json_decref(json);
    }
}

static const char *type_name(enum nx_var_kind kind)
{
    switch (kind) {
    case NX_VAR_INPUT:
        return "IN";
    case NX_VAR_OUTPUT:
        return "OUT";
    case NX_VAR_WEIGHT:
        return "WEIGHT";
    default:
        return NULL;
    }
}

/* Rows of tensors stand behind the row of their node; each tensor of the kernel has one, and no other does.
 */
static void tensors_are_equal(void **state)
{
    (void)state;
    need_shared();
    for (size_t i = 0; i < ATTENTION; i++) {
        json_t *json = expected(attention[i]), *row;
        size_t rows = 0, tensors = 0, r;
        struct nx_neff neff;
        const struct nx_neff_graph *graph;

        open_attention(i, &neff);
        graph = &neff.graphs[0];
        json_array_foreach(json_object_get(json, "neff_node"), r, row)
        {
            const struct nx_neff_var *var = NULL;

            if (text(row, "variable_name")[0] == '\0') {
                assert_int_equal(neff.kernel_node, number(row, "node"));
                assert_non_null(nx_neff_find_graph(&neff, text(row, "sg_name")));
                continue;
            }
            for (size_t v = 0; v < graph->var_count && !var; v++)
                if (strcmp(graph->vars[v].name, text(row, "variable_name")) == 0)
                    var = &graph->vars[v];
            assert_non_null(var);
            assert_string_equal(type_name(var->kind), text(row, "type"));
            assert_int_equal(var->size, number(row, "size"));
            assert_string_equal(var->shape, text(row, "shape"));
            assert_string_equal(var->format, text(row, "format"));
            rows++;
        }
        for (size_t v = 0; v < graph->var_count; v++)
            tensors += type_name(graph->vars[v].kind) != NULL;
        assert_true(rows > 0);
        assert_int_equal(rows, tensors);
        nx_neff_close(&neff);
        json_decref(json);
    }
}

/* Row -> compiler pc -> assembly entry -> BIR -> penguin, as the closed tool has them. */
static void bir_names_are_equal(void **state)
{
    size_t total = 0;

    (void)state;
    need_shared();
    for (size_t i = 0; i < ATTENTION; i++) {
        json_t *json = expected(attention[i]), *row;
        struct nx_neff neff;
        size_t r, with_bir = 0;

        open_attention(i, &neff);
        json_array_foreach(json_object_get(json, "instruction"), r, row)
        {
            const char *engine = text(row, "label"), *name = text(row, "bir_instruction_name");
            const struct nx_neff_graph *graph = nx_neff_find_graph(&neff, text(row, "subgraph"));
            const struct nx_dbg_entry *bir = NULL;
            uint64_t pc = number(row, "compiler_pc");

            if (!name[0])
                continue;
            assert_non_null(graph);
            for (int e = 0; e < NX_ENGINE_COUNT && !bir; e++) {
                const char *title = nx_engine_title((enum nx_engine)e);
                const struct nx_dbg *assembly = &graph->engines[e].assembly;

                if (strncmp(engine, title, strlen(title)) != 0)
                    continue;
                assert_true(pc < assembly->count && assembly->entries[pc].parent_count == 1);
                bir = nx_dbg_find(&graph->bir, assembly->entries[pc].parents[0]);
            }
            assert_non_null(bir);
            assert_string_equal(bir->name, name);
            assert_int_equal(bir->id, number(row, "raw_bir_id"));
            assert_int_equal(bir->parents[0], number(row, "raw_penguin_id"));
            with_bir++;
        }
        print_message("           %s: %zu rows\n", attention[i], with_bir);
        total += with_bir;
        nx_neff_close(&neff);
        json_decref(json);
    }
    assert_true(total > 1000);
}

/* ------------------------------------------------------------------ static DMA */
static const struct nx_neff_var *var_of(const struct nx_neff_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->var_count; i++)
        if (strcmp(graph->vars[i].name, name) == 0)
            return &graph->vars[i];
    return NULL;
}

/* Bytes that the blocks of all graphs move into SBUF and out of it. */
static void moved(const struct nx_neff *neff, uint64_t *in, uint64_t *out)
{
    *in = *out = 0;
    for (size_t g = 0; g < neff->graph_count; g++) {
        const struct nx_neff_graph *graph = &neff->graphs[g];

        for (size_t b = 0; b < graph->block_count; b++) {
            const struct nx_neff_block *block = &graph->blocks[b];

            for (size_t d = 0; d < block->desc_count; d++) {
                const struct nx_neff_var *from = var_of(graph, block->descs[d].from.var);
                const struct nx_neff_var *to = var_of(graph, block->descs[d].to.var);

                assert_true(from && to);
                if (to->kind == NX_VAR_STATE_BUFFER)
                    *in += block->descs[d].to.bytes;
                else if (from->kind == NX_VAR_STATE_BUFFER)
                    *out += block->descs[d].to.bytes;
            }
        }
    }
}

/* c = a + b of 256,000 float32: two tensors in, one out. A 1024 x 1024 transposition: one in, one out. */
static void blocks_move_the_tensors(void **state)
{
    static const struct {
        const char *name;
        uint64_t in, out;
    } cases[] = {
        {"profiles/vector-add-trn1-fd1k/kernel.neff", 2048000, 1024000},
        {"profiles/vector-add-trn2-fd1k/kernel.neff", 2048000, 1024000},
        {"profiles/transpose-1024-trn2/kernel.neff", 4194304, 4194304},
    };

    (void)state;
    need_shared();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct nx_neff neff;
        uint64_t in, out;

        open_real(cases[i].name, &neff);
        moved(&neff, &in, &out);
        assert_int_equal(out, cases[i].out);
        assert_true(in >= cases[i].in); /* the transposition loads an identity matrix as well */
        if (cases[i].in == 2048000)
            assert_int_equal(in, cases[i].in);
        nx_neff_close(&neff);
    }
}

/* The two kernels whose debug information names a source file. */
static void source_lines_are_there(void **state)
{
    (void)state;
    need_shared();
    for (size_t i = ALL - 2; i < ALL; i++) {
        struct nx_neff neff;
        const struct nx_dbg *penguin;

        open_real(all[i], &neff);
        penguin = &neff.graphs[0].penguin;
        assert_int_equal(penguin->source_file_count, 1);
        assert_non_null(strstr(penguin->source_files[0], "conv2d.py"));
        assert_int_equal(penguin->count, 14);
        for (size_t k = 0; k < penguin->count; k++) {
            assert_int_equal(penguin->entries[k].attr_count, 2);
            assert_string_equal(penguin->entries[k].attrs[0].key, "kernel_file");
            assert_string_equal(penguin->entries[k].attrs[0].value, "0");
            assert_string_equal(penguin->entries[k].attrs[1].key, "kernel_line");
            assert_true(strtol(penguin->entries[k].attrs[1].value, NULL, 10) > 100);
        }
        nx_neff_close(&neff);
    }
}

/* ... and those whose debug information names the kernel: the attribute counts the file's list of names. */
static void kernel_names_are_there(void **state)
{
    (void)state;
    need_shared();
    for (size_t i = 0; i < ATTENTION; i++) {
        struct nx_neff neff;
        const struct nx_dbg *penguin;

        open_attention(i, &neff);
        penguin = &neff.graphs[0].penguin;
        assert_int_equal(penguin->kernel_name_count, 1);
        assert_string_equal(penguin->kernel_names[0], i ? "fused_attention" : "baseline_attention");
        for (size_t k = 0; k < penguin->count; k++) {
            assert_int_equal(penguin->entries[k].attr_count, 1);
            assert_string_equal(penguin->entries[k].attrs[0].key, "kernel_name");
            assert_string_equal(penguin->entries[k].attrs[0].value, "0");
        }
        nx_neff_close(&neff);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_understood),      cmocka_unit_test(headers_are_equal),
        cmocka_unit_test(tensors_are_equal),       cmocka_unit_test(bir_names_are_equal),
        cmocka_unit_test(blocks_move_the_tensors), cmocka_unit_test(source_lines_are_there),
        cmocka_unit_test(kernel_names_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
