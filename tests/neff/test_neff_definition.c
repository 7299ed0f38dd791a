/* Graphs: variables, queues, semaphores, static DMA - and JSON that is not what it should be. */
#include "package.h"

#include "neff/reader.h"

static const struct nx_neff_var *var(const struct nx_neff_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->var_count; i++)
        if (strcmp(graph->vars[i].name, name) == 0)
            return &graph->vars[i];
    fail_msg("no variable %s", name);
    return NULL;
}

static void a_neff_is_read(void **state)
{
    struct nx_neff neff;
    const struct nx_neff_graph *graph;

    (void)state;
    read_with(NULL, 0, &neff);
    assert_int_equal(neff.warnings.count, 0);
    assert_string_equal(neff.target, "cayman");
    assert_string_equal(neff.compiler_version, "2.23.0");
    assert_int_equal(neff.kernel_node, 2);
    assert_false(neff.has_metrics);
    assert_false(neff.has_hlo_stats);
    assert_int_equal(neff.graph_count, 1);
    graph = nx_neff_find_graph(&neff, "sg00");
    assert_ptr_equal(graph, &neff.graphs[0]);
    assert_null(nx_neff_find_graph(&neff, "sg01"));
    assert_int_equal(graph->engines[NX_PE].code.size, 128);
    assert_memory_equal(graph->engines[NX_PE].code.data, CODE_64 CODE_64, 128);
    assert_int_equal(graph->engines[NX_DVE].code.size, 64);
    assert_int_equal(graph->engines[NX_SP].code.size, 0);
    nx_neff_close(&neff);
}

static void variables_have_shapes(void **state)
{
    struct nx_neff neff;
    const struct nx_neff_graph *graph;
    const struct nx_neff_var *v;

    (void)state;
    read_with(NULL, 0, &neff);
    graph = &neff.graphs[0];
    assert_int_equal(graph->var_count, 4);
    for (size_t i = 1; i < graph->var_count; i++)
        assert_true(strcmp(graph->vars[i - 1].name, graph->vars[i].name) < 0);

    v = var(graph, "a");
    assert_int_equal(v->kind, NX_VAR_INPUT);
    assert_string_equal(v->type, "input");
    assert_int_equal(v->size, 512);
    assert_int_equal(v->var_id, 1);
    assert_string_equal(v->shape, "[2 64]");
    assert_string_equal(v->format, "NC");
    assert_string_equal(v->dtype, "float32");

    v = var(graph, "w_sg0000"); /* a constant: its shape stands under the stem of its file */
    assert_int_equal(v->kind, NX_VAR_WEIGHT);
    assert_string_equal(v->shape, "[16 1 1 1]");
    assert_string_equal(v->format, "CRSM");

    v = var(graph, "SB");
    assert_int_equal(v->kind, NX_VAR_STATE_BUFFER);
    assert_int_equal(v->size, 0);
    assert_null(v->shape);
    assert_null(v->format);

    v = var(graph, "t");
    assert_int_equal(v->kind, NX_VAR_DGE_TABLE);
    assert_int_equal(v->dge_count, 2);
    assert_int_equal(v->dge_list[0], 3);
    assert_int_equal(v->dge_list[1], 1);
    nx_neff_close(&neff);
}

static void queues_name_their_semaphores(void **state)
{
    struct nx_neff neff;
    const struct nx_neff_graph *graph;

    (void)state;
    read_with(NULL, 0, &neff);
    graph = &neff.graphs[0];
    assert_int_equal(graph->queue_count, 2);
    assert_string_equal(graph->queues[0].name, "qPoolDynamic"); /* sorted */
    assert_string_equal(graph->queues[0].display_name, "qGpSimdDynamic");
    assert_string_equal(graph->queues[1].name, "qSPIO0");
    assert_string_equal(graph->queues[1].display_name, "qSyncIO0");
    assert_string_equal(graph->queues[1].type, "in");
    assert_string_equal(graph->queues[1].owner, "sp");
    assert_int_equal(graph->queues[1].num_rings, 2);
    assert_int_equal(graph->queues[1].semaphore_count, 2);
    assert_int_equal(graph->queues[1].semaphores[1], 9);

    assert_int_equal(graph->runtime_semaphore_count, 3);
    for (int i = 0; i < 256; i++) {
        static const char *const first[10] = {NULL,     NULL,     NULL, "GpSimd",   "Scalar",
                                              "Tensor", "Vector", NULL, "qSyncIO0", "qSyncIO0"};
        const char *expected = i < 10 ? first[i] : i == 24 ? "qGpSimdDynamic" : NULL;

        if (expected)
            assert_string_equal(graph->semaphore_names[i], expected);
        else
            assert_null(graph->semaphore_names[i]);
    }
    nx_neff_close(&neff);
}

static void blocks_have_bytes(void **state)
{
    struct nx_neff neff;
    const struct nx_neff_graph *graph;
    const struct nx_neff_block *block;
    const struct nx_dma_desc *desc;

    (void)state;
    read_with(NULL, 0, &neff);
    graph = &neff.graphs[0];
    assert_int_equal(graph->block_count, 2);
    assert_int_equal(graph->blocks[0].id, 0); /* sorted, though 1 stands first in the file */
    assert_int_equal(graph->blocks[0].semaphore, -1);
    assert_int_equal(graph->blocks[0].write_bytes, 0);
    assert_null(graph->blocks[0].name);
    assert_null(nx_neff_find_block(graph, "qSPIO0", 2));
    assert_null(nx_neff_find_block(graph, "qPoolDynamic", 1));
    assert_null(nx_neff_find_block(graph, "qNone", 0));
    block = nx_neff_find_block(graph, "qSPIO0", 1);
    assert_non_null(block);
    assert_string_equal(graph->queues[block->queue].name, "qSPIO0");
    assert_int_equal(block->engine, NX_SP);
    assert_int_equal(block->semaphore, 9);
    assert_string_equal(block->name, "I-7-block-1");
    assert_int_equal(block->desc_count, 2);
    assert_int_equal(block->read_bytes, 8 * 4 + 4);
    assert_int_equal(block->write_bytes, 4 * 4 + 4); /* a cast writes less than it reads */
    desc = &block->descs[0];
    assert_string_equal(desc->op, "cast");
    assert_string_equal(desc->from.var, "a");
    assert_string_equal(desc->from.dtype, "float32");
    assert_int_equal(desc->from.offset, 16);
    assert_int_equal(desc->from.size_count, 2);
    assert_int_equal(desc->from.sizes[0], 8);
    assert_int_equal(desc->from.steps[1], 64);
    assert_string_equal(desc->to.var, "SB");
    assert_int_equal(desc->to.offset, 1024);
    assert_int_equal(desc->to.steps[1], 262144);
    assert_int_equal(desc->to.bytes, 16);
    assert_null(block->descs[1].from.dtype);
    nx_neff_close(&neff);
}

/* ------------------------------------------------------------------ what is missing or of another type */
static void missing_members_are_named(void **state)
{
    (void)state;
    refused_with("kelf-0.json", NULL, "member kelf-0.json: the archive does not have it");
    refused_with("sg00/def.json", NULL, "member sg00/def.json: the archive does not have it");
    refused_with("sg00/PE.bin", NULL, "member sg00/PE.bin: the archive does not have it");
    refused_with("sg00/SP.json", NULL, "member sg00/SP.json: the archive does not have it");
}

static void members_that_can_be_missing(void **state)
{
    static const struct part without[] = {{"info.json", NULL, 0},
                                          {"neff.json", NULL, 0},
                                          {"sg00/tensor_map.json", NULL, 0},
                                          {"sg00/bir_PE.dbg", NULL, 0}};
    struct nx_neff neff;

    (void)state;
    read_with(without, 4, &neff);
    assert_null(neff.compiler_version);
    assert_int_equal(neff.kernel_node, -1);
    assert_null(var(&neff.graphs[0], "a")->shape);
    assert_true(has_warning(&neff, "tensor_map.json"));
    assert_true(has_warning(&neff, "debug information"));
    assert_int_equal(neff.warnings.count, 2);
    nx_neff_close(&neff);
}

static void broken_json_is_located(void **state)
{
    char *deep = nx_zalloc(8 << 20, 1);

    (void)state;
    refused_with("kelf-0.json", "", "member kelf-0.json: line 1, column 0");
    refused_with("kelf-0.json", "{\n\"graphs\": [}", "member kelf-0.json: line 2, column 12");
    refused_with("kelf-0.json", "{\"a\": 1, \"a\": 2}", "member kelf-0.json: line 1, column ");
    refused_with("kelf-0.json", "[]", "member kelf-0.json: expected an object at the top");
    refused_with("info.json", "{\"tool_version\": \"\xff\"}", "member info.json: line 1");
    refused_with("neff.json", "{} trailing", "member neff.json: line 1");
    refused_with("sg00/tensor_map.json", "nothing", "member sg00/tensor_map.json: line 1");
    refused_with("sg00/SP.json", "{\"dma\": [{\"id\": 99999999999999999999999}]}", "too big");
    refused_with("sg00/def.json", "{\"var\": \n\x01\n}", "member sg00/def.json: line 2");
    memset(deep, '[', (8 << 20) - 1);
    refused_with("info.json", deep, "maximum parsing depth");
    for (size_t i = 0; i < 4000 * 6; i += 6)
        memcpy(deep + i, "{\"a\": ", 6);
    deep[4000 * 6] = '\0';
    refused_with("info.json", deep, "maximum parsing depth");
    free(deep);
}

#define GRAPHS(x) "{\"graphs\": " x "}"
static void kelf_must_name_graphs(void **state)
{
    (void)state;
    refused_with("kelf-0.json", "{}", "\"graphs\" is missing");
    refused_with("kelf-0.json", GRAPHS("{}"), "\"graphs\" is of another type");
    refused_with("kelf-0.json", GRAPHS("[]"), "\"graphs\" has 0 entries");
    refused_with("kelf-0.json", GRAPHS("[1]"), "graph 0 lacks its name");
    refused_with("kelf-0.json", GRAPHS("[{\"name\": \"sg00\"}]"), "graph 0 lacks its name or its definition");
    refused_with("kelf-0.json", GRAPHS("[{\"name\": 1, \"definition\": \"sg00/def.json\"}]"),
                 "graph 0 lacks its name");
    refused_with("kelf-0.json", GRAPHS("[{\"name\": \"sg00\", \"definition\": \"../../etc/passwd\"}]"),
                 "member ../../etc/passwd: the archive does not have it");
    refused_with("kelf-0.json",
                 GRAPHS("[{\"name\": \"sg00\", \"definition\": \"sg00/def.json\"},"
                        " {\"name\": \"sg00\", \"definition\": \"sg00/def.json\"}]"),
                 "two graphs are named \"sg00\"");
}

static void too_many_graphs_are_refused(void **state)
{
    struct nx_text kelf = {0};

    (void)state;
    nx_text_puts(&kelf, "{\"graphs\": [");
    for (int i = 0; i < 257; i++)
        nx_text_printf(&kelf, "%s{\"name\": \"sg%03d\", \"definition\": \"sg00/def.json\"}", i ? "," : "", i);
    nx_text_puts(&kelf, "]}");
    refused_with("kelf-0.json", kelf.data, "\"graphs\" has 257 entries");
    nx_text_free(&kelf);
}

static void definitions_must_be_complete(void **state)
{
    (void)state;
    refused_with("sg00/def.json", "{}", "member sg00/def.json: \"var\" is missing: expected an object");
    refused_with("sg00/def.json", "{\"var\": []}", "\"var\" is of another type");
    refused_with("sg00/def.json", "{\"var\": {}, \"dma_queue\": []}", "\"dma_queue\" is of another type");
    refused_with("sg00/def.json", "{\"var\": {}}", "\"pe_instr\" is missing");
    refused_with("sg00/def.json", "{\"var\": {}, \"pe_instr\": 1}", "\"pe_instr\" is missing");
    refused_with("sg00/def.json", "{\"var\": {}, \"pe_instr\": \"No.bin\"}",
                 "member sg00/No.bin: the archive does not");
    refused_with("neff.json", "{\"nodes\": {}}", "member neff.json: \"nodes\" is of another type");
}

#define BLOCK(x) "{\"dma\": [{\"queue\": \"qSPIO0\", " x "}]}"
#define SIDES(x) BLOCK("\"id\": 5, \"desc\": [{" x "}]")
#define FROM "\"from\": \"a\", \"from_sizes\": [4], \"from_steps\": [1]"
static void dma_blocks_must_make_sense(void **state)
{
    static const char *const member = "sg00/SP.json";

    (void)state;
    refused_with(member, "{\"dma\": {}}", "member sg00/SP.json: \"dma\" is of another type");
    refused_with(member, "{\"dma\": [1]}", "\"desc\" is missing");
    refused_with(member, "{\"dma\": [{\"queue\": \"qNone\", \"id\": 0, \"desc\": []}]}",
                 "queue \"qNone\", which def.json");
    refused_with(member, "{\"dma\": [{\"queue\": \"q\\u0007\\n\", \"id\": 0, \"desc\": []}]}",
                 "queue \"q??\"");
    refused_with(member, "{\"dma\": [{\"id\": 0, \"desc\": []}]}", "queue \"\"");
    refused_with(member, BLOCK("\"desc\": []"), "no usable id");
    refused_with(member, BLOCK("\"id\": -1, \"desc\": []"), "no usable id");
    refused_with(member, BLOCK("\"id\": 4294967296, \"desc\": []"), "no usable id");
    refused_with(member, BLOCK("\"id\": \"1\", \"desc\": []"), "no usable id");
    refused_with(member, BLOCK("\"id\": 5, \"desc\": {}"), "\"desc\" is of another type");
    refused_with(member, BLOCK("\"id\": 5, \"desc\": [7]"), "has no \"from\"");
    refused_with(member, SIDES(FROM), "has no \"to\"");
    refused_with(member, SIDES("\"from\": \"a\""),
                 "\"from_sizes\" of a DMA descriptor is not a list of integers");
    refused_with(member, SIDES(FROM ", \"to\": \"SB\", \"to_sizes\": [4, \"4\"], \"to_steps\": []"),
                 "\"to_sizes\" of a DMA descriptor is not a list of integers");
    refused_with(member, SIDES(FROM ", \"to\": \"SB\", \"to_sizes\": [4], \"to_steps\": [1.5]"),
                 "\"to_steps\" of a DMA descriptor is not a list of integers");
}

static void impossible_byte_counts_are_none(void **state)
{
    static const char *const sizes[] = {"[-4]", "[4294967296, 4294967296]", "[9223372036854775807, 3]",
                                        "[2, -1, 0]"};
    struct nx_neff neff;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char json[512];
        struct part change = {"sg00/SP.json", json, 0};
        const struct nx_neff_block *block;

        snprintf(json, sizeof(json), SIDES(FROM ", \"to\": \"SB\", \"to_sizes\": %s, \"to_steps\": [1]"),
                 sizes[i]);
        read_with(&change, 1, &neff);
        block = nx_neff_find_block(&neff.graphs[0], "qSPIO0", 5);
        assert_int_equal(block->read_bytes, 4);
        assert_int_equal(block->write_bytes, 0);
        assert_int_equal(block->descs[0].to.size_count, 0);
        assert_true(has_warning(&neff, "impossible number of bytes"));
        nx_neff_close(&neff);
    }
}

static void sums_of_bytes_do_not_wrap_around(void **state)
{
    static const struct part change = {
        "sg00/SP.json",
        BLOCK("\"id\": 5, \"desc\": [{" FROM
              ", \"to\": \"SB\", \"to_sizes\": [9223372036854775807], \"to_steps\": [1]},"
              "{" FROM ", \"to\": \"SB\", \"to_sizes\": [9223372036854775807], \"to_steps\": [1]},"
              "{" FROM ", \"to\": \"SB\", \"to_sizes\": [2], \"to_steps\": [1]}]"),
        0};
    struct nx_neff neff;

    (void)state;
    read_with(&change, 1, &neff);
    assert_int_equal(nx_neff_find_block(&neff.graphs[0], "qSPIO0", 5)->write_bytes, 0);
    assert_int_equal(nx_neff_find_block(&neff.graphs[0], "qSPIO0", 5)->read_bytes, 12);
    assert_true(has_warning(&neff, "impossible number of bytes"));
    nx_neff_close(&neff);
}

/* ------------------------------------------------------------------ what is only a warning */
static void what_is_odd_is_a_warning(void **state)
{
    static const struct part changes[] = {
        {"sg00/def.json",
         "{\"var\": {\"x\": {\"type\": \"wormhole\", \"size\": -1}, \"y\": 7,"
         "          \"f\": {\"type\": \"file\", \"file_name\": \"value_.npy\"},"
         "          \"t\": {\"type\": \"dge-table\", \"list\": [1, \"2\", null]}},"
         " \"dma_queue\": {\"q\": {\"num_queues\": -16, \"semaphore_set\": [255, 256, -1, \"8\", "
         "4294967297]}, \"r\": []},"
         " \"pe_instr\": \"PE.bin\", \"act_instr\": \"PE.bin\", \"pool_instr\": \"PE.bin\", \"dve_instr\": "
         "\"PE.bin\","
         " \"sp_instr\": \"PE.bin\", \"runtime_semaphore_count\": 253, \"pe_asm_dbg\": \"no list\", \"new "
         "key\": 1}",
         0},
        {"sg00/tensor_map.json", "{\"x\": {\"sim_shape\": [1, 2.5]}, \"y\": {\"sim_shape\": []}, \"f\": []}",
         0},
        {"sg00/PE.bin", CODE_64 "tail", 0},
    };
    struct nx_neff neff;
    const struct nx_neff_graph *graph;

    (void)state;
    read_with(changes, 3, &neff);
    graph = &neff.graphs[0];
    assert_int_equal(var(graph, "x")->kind, NX_VAR_OTHER);
    assert_string_equal(var(graph, "x")->type, "wormhole");
    assert_int_equal(var(graph, "x")->size, 0);
    assert_null(var(graph, "x")->shape);
    assert_string_equal(var(graph, "y")->type, "");
    assert_string_equal(var(graph, "y")->shape, "[]");
    assert_int_equal(var(graph, "y")->var_id, -1);
    assert_int_equal(var(graph, "t")->dge_count, 3);
    assert_int_equal(var(graph, "t")->dge_list[1], -1);
    assert_int_equal(graph->queues[0].num_rings, 0);
    assert_int_equal(graph->queues[0].semaphore_count, 1);
    assert_null(graph->queues[0].owner);
    assert_string_equal(graph->semaphore_names[255], "q");
    assert_null(graph->semaphore_names[253]); /* four names would not fit behind 253 */
    assert_int_equal(graph->engines[NX_PE].code.size, 68);
    assert_true(has_warning(&neff, "variables of type \"wormhole\""));
    assert_true(has_warning(&neff, "\"size\" is not an integer"));
    assert_true(has_warning(&neff, "\"num_queues\" is not an integer"));
    assert_true(has_warning(&neff, "no number from 0 to 255"));
    assert_true(has_warning(&neff, "PE.bin is not a whole number of instructions"));
    assert_true(has_warning(&neff, "names no \"act\" file"));
    nx_neff_close(&neff);
}

static void two_blocks_with_one_number_are_a_warning(void **state)
{
    static const struct part change = {"sg00/SP.json",
                                       "{\"dma\": [{\"queue\": \"qSPIO0\", \"id\": 3, \"desc\": []}, "
                                       "{\"queue\": \"qSPIO0\", \"id\": 3, \"desc\": []}]}",
                                       0};
    struct nx_neff neff;

    (void)state;
    read_with(&change, 1, &neff);
    assert_true(has_warning(&neff, "two DMA blocks"));
    nx_neff_close(&neff);
}

static void warnings_stay_few(void **state)
{
    struct nx_text def = {0};
    struct part change = {"sg00/def.json", NULL, 0};
    struct nx_neff neff;

    (void)state;
    nx_text_puts(&def, "{\"var\": {\"first\": {\"type\": \"input\"}");
    for (int i = 0; i < 50000; i++)
        nx_text_printf(&def, ", \"v%d\": {\"type\": \"unknown-%d\"}", i, i);
    nx_text_puts(&def, "}, \"pe_instr\": \"PE.bin\", \"act_instr\": \"PE.bin\", \"pool_instr\": \"PE.bin\","
                       " \"dve_instr\": \"PE.bin\", \"sp_instr\": \"PE.bin\"}");
    change.content = def.data;
    read_with(&change, 1, &neff);
    assert_int_equal(neff.graphs[0].var_count, 50001);
    assert_int_equal(neff.warnings.count, NX_WARNINGS_MAX);
    nx_neff_close(&neff);
    nx_text_free(&def);
}

static void metrics_tell_about_hlo(void **state)
{
    struct part change = {"metrics.json",
                          "[{\"MetricName\": \"TPBCount\", \"Value\": 1, \"Unit\": \"Count\"}]", 0};
    struct nx_neff neff;

    (void)state;
    read_with(&change, 1, &neff);
    assert_true(neff.has_metrics);
    assert_false(neff.has_hlo_stats);
    nx_neff_close(&neff);
    change.content = "[{\"MetricName\": \"TPBCount\"}, {\"MetricName\": \"HloMacCount\", \"Value\": 1160}]";
    read_with(&change, 1, &neff);
    assert_true(neff.has_hlo_stats);
    assert_int_equal(neff.warnings.count, 0);
    nx_neff_close(&neff);
    change.content = "{\"MetricName\": \"HloMacCount\"}"; /* of another kind: nothing depends on it */
    read_with(&change, 1, &neff);
    assert_true(neff.has_metrics);
    assert_false(neff.has_hlo_stats);
    assert_true(has_warning(&neff, "metrics.json"));
    nx_neff_close(&neff);
}

/* ------------------------------------------------------------------ limits */

/* 8 GiB of work is out of a test's reach; a smaller limit shows that all of it is counted. */
static enum nx_status json_within(struct nx_neff_reader *reader, const struct nx_text *file, uint64_t limit,
                                  const char *member)
{
    struct nx_bytes bytes = {(uint8_t *)file->data, file->size};
    enum nx_status status;
    json_t *value = NULL;

    reader->work = 0;
    reader->max_work = limit;
    assert_int_equal(nx_neff_read_header(reader, bytes), NX_OK);
    assert_int_equal(nx_neff_read_archive(reader, bytes), NX_OK);
    status = nx_neff_json(reader, member, true, true, &value);
    for (int i = 0; i < 100 && status == NX_OK; i++) { /* the same member again and again */
        json_decref(value);
        status = nx_neff_json(reader, member, true, true, &value);
    }
    json_decref(value);
    nx_neff_drop_archive(reader);
    nx_neff_close(reader->neff);
    return status;
}

static void json_cannot_ask_for_any_memory(void **state)
{
    char *lists = nx_zalloc(30001, 1);
    struct part change = {"a.json", lists, 0};
    struct nx_text file = {0};
    struct nx_neff neff = {0};
    struct nx_error error = {0};
    struct nx_neff_reader reader = {
        .neff = &neff, .path = "made.neff", .error = &error, .max_unpacked = NX_NEFF_MAX_UNPACKED};

    (void)state;
    memset(lists, ' ', 30000);
    lists[0] = '[';
    for (int i = 1; i + 3 < 30000; i += 3)
        memcpy(lists + i, i == 1 ? "[] " : ",[]", 3);
    lists[29999] = ']';
    neff_with(&change, 1, &file);
    assert_int_equal(json_within(&reader, &file, 1 << 20, "a.json"),
                     NX_BAD_INPUT); /* 10,000 lists once: 1.8 MB */
    assert_non_null(strstr(error.text, "too much memory"));
    assert_int_equal(json_within(&reader, &file, 64 << 20, "a.json"), NX_BAD_INPUT); /* a hundred times */
    assert_int_equal(json_within(&reader, &file, 1 << 30, "a.json"), NX_OK);
    nx_text_free(&file);
    free(lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_neff_is_read),
        cmocka_unit_test(variables_have_shapes),
        cmocka_unit_test(queues_name_their_semaphores),
        cmocka_unit_test(blocks_have_bytes),
        cmocka_unit_test(missing_members_are_named),
        cmocka_unit_test(members_that_can_be_missing),
        cmocka_unit_test(broken_json_is_located),
        cmocka_unit_test(kelf_must_name_graphs),
        cmocka_unit_test(too_many_graphs_are_refused),
        cmocka_unit_test(definitions_must_be_complete),
        cmocka_unit_test(dma_blocks_must_make_sense),
        cmocka_unit_test(impossible_byte_counts_are_none),
        cmocka_unit_test(sums_of_bytes_do_not_wrap_around),
        cmocka_unit_test(what_is_odd_is_a_warning),
        cmocka_unit_test(two_blocks_with_one_number_are_a_warning),
        cmocka_unit_test(warnings_stay_few),
        cmocka_unit_test(metrics_tell_about_hlo),
        cmocka_unit_test(json_cannot_ask_for_any_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
