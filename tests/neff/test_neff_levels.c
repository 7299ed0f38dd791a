/* Debug information above the backend: which members belong to which level and graph, source lines, and the
 * index of the model's stack frames. */
#include "debug_message.h"
#include "package.h"

static struct part part(const char *name, const struct nx_text *text)
{
    return (struct part){name, nx_text_string(text), text->size};
}

/* ------------------------------------------------------------------ messages */
static void put_entry(struct nx_text *file, uint64_t id, uint64_t frame)
{
    struct nx_text entry = {0};

    gen_pb_int(&entry, 1, id);
    gen_pb_int(&entry, 8, frame);
    gen_pb_message(file, 3, &entry);
    nx_text_free(&entry);
}

static void put_line(struct nx_text *file, uint64_t id, const char *number, const char *line)
{
    struct nx_text entry = {0};

    gen_pb_int(&entry, 1, id);
    if (number)
        attr(&entry, "kernel_file", number);
    if (line)
        attr(&entry, "kernel_line", line);
    attr(&entry, "kernel_name", "0");
    gen_pb_message(file, 3, &entry);
    nx_text_free(&entry);
}

static void put_pair(struct nx_text *index, uint32_t field, uint64_t first, uint64_t second, uint64_t third)
{
    struct nx_text row = {0};

    gen_pb_int(&row, 1, first);
    gen_pb_int(&row, 2, second);
    gen_pb_int(&row, 3, third);
    gen_pb_message(index, field, &row);
    nx_text_free(&row);
}

/* One file, two functions; g at line 20 called from f at line 10. */
static void put_index(struct nx_text *index, const char *file)
{
    gen_pb_string(index, 1, file);
    gen_pb_string(index, 2, "f");
    gen_pb_string(index, 2, "g");
    put_pair(index, 3, 1, 1, 10);
    put_pair(index, 3, 1, 2, 20);
    put_pair(index, 4, 1, 0, 0);
    put_pair(index, 4, 2, 1, 0);
}

static void check_frame(const struct nx_neff *neff, uint64_t frame, const char *file, const char *function,
                        int line, uint32_t parent)
{
    const struct nx_stack_index *stack = &neff->stack;
    const struct nx_stack_location *location;

    assert_true(frame >= 1 && frame <= stack->frame_count);
    assert_int_equal(stack->frames[frame - 1].parent, parent);
    location = &stack->locations[stack->frames[frame - 1].location - 1];
    assert_string_equal(stack->file_names[location->file - 1], file);
    assert_string_equal(stack->function_names[location->function - 1], function);
    assert_int_equal(location->line, line);
}

/* ------------------------------------------------------------------ members */
static void members_are_told_by_their_names(void **state)
{
    static const char *const names[] = {
        "debug_info/debug_info_penguin.dbg_sg000000",
        "debug_info/debug_info_hlo.dbg_sg000000",
        "debug_info/debug_info_hlo.dbg_sg000000_1",
        "debug_info/debug_info_pttf.dbg",
        "debug_info/debug_info_pttf_2.dbg_sg000000",
        "debug_info/debug_info_hlo.dbg_sg000001",
        "sg01/debug_info_penguin.dbg",
        "debug_info/debug_info_hlo.txt",
    };
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    struct nx_text files[COUNT] = {{0}};
    struct part changes[COUNT];
    struct nx_neff neff;
    const struct nx_neff_graph *graph;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        put_entry(&files[i], i + 1, 0);
        changes[i] = part(names[i], &files[i]);
    }
    read_with(changes, COUNT, &neff);
    graph = &neff.graphs[0];
    assert_int_equal(graph->penguin.count, 1);
    assert_non_null(nx_dbg_find(&graph->penguin, 1));
    assert_int_equal(graph->hlo.count, 2);
    assert_non_null(nx_dbg_find(&graph->hlo, 2));
    assert_non_null(nx_dbg_find(&graph->hlo, 3));
    assert_int_equal(graph->hlo.entries[1].file, 1);
    assert_string_equal(graph->hlo.files[1].member, names[2]);
    assert_int_equal(graph->framework.count, 2); /* one that names no graph is every graph's */
    assert_non_null(nx_dbg_find(&graph->framework, 4));
    assert_non_null(nx_dbg_find(&graph->framework, 5));
    assert_int_equal(neff.warnings.count, 0);
    nx_neff_close(&neff);
    for (size_t i = 0; i < COUNT; i++)
        nx_text_free(&files[i]);
}

static void packed_data_in_the_place_of_a_level_are_left_out(void **state)
{
    const struct part change = {"debug_info/debug_info_pttf.dbg", "\x1f\x8b\x08 simulator traces", 0};
    struct nx_neff neff;

    (void)state;
    read_with(&change, 1, &neff);
    assert_int_equal(neff.graphs[0].framework.count, 0);
    assert_true(has_warning(&neff, "debug_info_pttf.dbg holds packed data"));
    nx_neff_close(&neff);
}

static void a_malformed_level_is_refused(void **state)
{
    (void)state;
    refused_with("debug_info/debug_info_hlo.dbg_sg000000", "\x1a\x05\x08\x01", "past the end of its message");
    refused_with("debug_info/debug_info_hlo.dbg_sg000000", "\x32\x02\x0a\x05", "past the end of its message");
    refused_with("debug_info/debug_info_hlo.dbg_sg000000", "\x32\x03\x1a\x01\x80", "offset 4: ");
    refused_with("debug_info/debug_info_hlo.dbg_sg000000", "\x32\x03\x22\x01\x80", "offset 4: ");
}

/* ------------------------------------------------------------------ lines */
static void check_line(const struct nx_dbg *dbg, uint64_t id, const char *file, int64_t line)
{
    const char *found = NULL;
    int64_t at = 0;
    bool has = nx_dbg_source(dbg, nx_dbg_find(dbg, id), &found, &at);

    assert_int_equal(has, file != NULL);
    if (file) {
        assert_string_equal(found, file);
        assert_int_equal(at, line);
    }
}

/* Each engine's file counts in a list of its own; pieces of one level share that of the first that has one.
 */
static void lines_are_of_the_files_own_list(void **state)
{
    struct nx_text pe = {0}, dve = {0}, first = {0}, second = {0};
    struct part changes[6];
    struct nx_neff neff;
    const struct nx_neff_graph *graph;

    (void)state;
    gen_pb_int(&pe, 4, 1);
    gen_pb_string(&pe, 5, "pe.py");
    gen_pb_string(&pe, 7, "of_pe");
    put_line(&pe, 1, "0", "11");
    put_line(&pe, 2, "1", "12"); /* there is no file 1 */
    put_line(&pe, 3, "0", NULL);
    put_line(&pe, 4, NULL, "14");
    put_line(&pe, 5, "0", "0");
    put_line(&pe, 6, "0x0", "16");
    put_line(&pe, 7, "-1", "17");
    put_line(&pe, 8, "99999999999999999999", "18");
    put_line(&pe, 9, "0", "19 ");
    gen_pb_int(&dve, 4, 5);
    put_line(&dve, 21, "1", "21"); /* the list may stand behind it */
    gen_pb_string(&dve, 5, "dve0.py");
    gen_pb_string(&dve, 5, "dve1.py");
    gen_pb_string(&dve, 7, "of_dve");
    put_line(&first, 1, "0", "1");
    put_line(&second, 2, "0", "2");
    gen_pb_string(&second, 5, "penguin.py");
    changes[0] = part("sg00/bir_PE.dbg", &pe);
    changes[1] = part("sg00/bir_DMA.dbg", &dve);
    changes[2] = part("debug_info/debug_info_penguin.dbg_sg000000", &first);
    changes[3] = part("debug_info/debug_info_penguin.dbg_sg000000_1", &second);
    changes[4] = (struct part){"sg00/def.json",
                               "{\"var\": {}, \"pe\": \"PE.json\", \"act\": \"Act.json\", \"pool\": "
                               "\"Pool.json\", \"dve\": \"DVE.json\", \"sp\": \"SP.json\", \"pe_instr\": "
                               "\"Act.bin\", \"act_instr\": \"Act.bin\", \"pool_instr\": \"Act.bin\", "
                               "\"dve_instr\": \"Act.bin\", \"sp_instr\": \"Act.bin\", "
                               "\"pe_dbg\": [\"bir_PE.dbg\"], \"dve_dbg\": [\"bir_DMA.dbg\"]}",
                               0};
    changes[5] = (struct part){"sg00/SP.json", "{\"dma\": []}", 0}; /* whose queue is gone */
    read_with(changes, 6, &neff);
    graph = &neff.graphs[0];
    check_line(&graph->bir, 1, "pe.py", 11);
    for (uint64_t id = 2; id <= 9; id++)
        check_line(&graph->bir, id, NULL, 0);
    check_line(&graph->bir, 21, "dve1.py", 21);
    check_line(&graph->penguin, 1, "penguin.py", 1);
    check_line(&graph->penguin, 2, "penguin.py", 2);
    assert_string_equal(nx_dbg_kernel_name(&graph->bir, nx_dbg_find(&graph->bir, 1)), "of_pe");
    assert_string_equal(nx_dbg_kernel_name(&graph->bir, nx_dbg_find(&graph->bir, 21)), "of_dve");
    assert_null(nx_dbg_kernel_name(&graph->penguin, nx_dbg_find(&graph->penguin, 1)));
    nx_neff_close(&neff);
    nx_text_free(&pe);
    nx_text_free(&dve);
    nx_text_free(&first);
    nx_text_free(&second);
}

/* ------------------------------------------------------------------ stack frames */
static void frames_of_several_files_get_numbers_of_their_own(void **state)
{
    struct nx_text hlo = {0}, again = {0}, framework = {0}, index = {0}, other = {0}, penguin = {0};
    struct part changes[4];
    struct nx_neff neff;
    const struct nx_neff_graph *graph;

    (void)state;
    put_index(&index, "model.py");
    put_index(&other, "other.py");
    put_entry(&hlo, 1, 2);
    gen_pb_bytes(&hlo, 6, index.data, index.size);
    gen_pb_bytes(&again, 6, index.data, index.size); /* the same once more: kept once */
    put_entry(&again, 2, 1);
    gen_pb_bytes(&framework, 6, other.data, other.size);
    put_entry(&framework, 3, 2);
    put_entry(&framework, 4, 3); /* there are two */
    put_entry(&penguin, 5, 2);   /* has no index: that of the level above counts */
    changes[0] = part("debug_info/debug_info_hlo.dbg_sg000000", &hlo);
    changes[1] = part("debug_info/debug_info_hlo.dbg_sg000000_1", &again);
    changes[2] = part("debug_info/debug_info_pttf.dbg_sg000000", &framework);
    changes[3] = part("debug_info/debug_info_penguin.dbg_sg000000", &penguin);
    read_with(changes, 4, &neff);
    graph = &neff.graphs[0];
    assert_int_equal(neff.stack.frame_count, 4);
    assert_int_equal(nx_dbg_find(&graph->hlo, 1)->stack_frame_id, 2); /* the first index keeps its numbers */
    assert_int_equal(nx_dbg_find(&graph->hlo, 2)->stack_frame_id, 1);
    assert_int_equal(nx_dbg_find(&graph->framework, 3)->stack_frame_id, 4);
    assert_int_equal(nx_dbg_find(&graph->framework, 4)->stack_frame_id, 0);
    assert_int_equal(nx_dbg_find(&graph->penguin, 5)->stack_frame_id, 4);
    check_frame(&neff, 1, "model.py", "f", 10, 0);
    check_frame(&neff, 2, "model.py", "g", 20, 1);
    check_frame(&neff, 3, "other.py", "f", 10, 0);
    check_frame(&neff, 4, "other.py", "g", 20, 3);
    assert_true(has_warning(&neff, "names stack frames that their index does not have"));
    nx_neff_close(&neff);
    nx_text_free(&hlo);
    nx_text_free(&again);
    nx_text_free(&framework);
    nx_text_free(&index);
    nx_text_free(&other);
    nx_text_free(&penguin);
}

/* The member of its own holds the index bare, or inside of a debug message; it serves files that have none.
 */
static void an_index_may_stand_alone(void **state)
{
    struct nx_text hlo = {0}, index = {0}, inside = {0};
    struct part changes[2];

    (void)state;
    put_index(&index, "model.py");
    gen_pb_bytes(&inside, 6, index.data, index.size);
    put_entry(&hlo, 1, 2);
    changes[0] = part("debug_info/debug_info_hlo.dbg_sg000000", &hlo);
    for (int bare = 0; bare < 2; bare++) {
        struct nx_neff neff;

        changes[1] = part("stack_frame_index.dbg", bare ? &index : &inside);
        read_with(changes, 2, &neff);
        assert_int_equal(neff.warnings.count, 0);
        assert_int_equal(neff.graphs[0].hlo.entries[0].stack_frame_id, 2);
        check_frame(&neff, 2, "model.py", "g", 20, 1);
        nx_neff_close(&neff);
    }
    nx_text_free(&hlo);
    nx_text_free(&index);
    nx_text_free(&inside);
}

/* Its layout is an assumption: the NEFF is good all the same, and nothing of the member is kept. */
static void an_index_of_another_layout_is_a_warning(void **state)
{
    const struct part change = {"debug_info/stack_frame_index.dbg", "\x0a\x01x\x1a\x05\x08\x01", 0};
    struct nx_neff neff;

    (void)state;
    read_with(&change, 1, &neff);
    assert_int_equal(neff.stack.file_name_count, 0);
    assert_int_equal(neff.stack.location_count, 0);
    assert_true(has_warning(&neff, "stack_frame_index.dbg: offset "));
    nx_neff_close(&neff);
}

static void numbers_out_of_range_become_none(void **state)
{
    struct nx_text hlo = {0}, index = {0};
    struct part change;
    struct nx_neff neff;

    (void)state;
    gen_pb_string(&index, 1, "model.py");
    put_pair(&index, 3, 2, 1, UINT64_MAX); /* file 2 of 1, function 1 of 0, line -1 */
    put_pair(&index, 3, 1, 0, 7);
    put_pair(&index, 4, 3, UINT64_MAX, 0); /* location 3 of 2 */
    put_pair(&index, 4, 2, 2, 0);          /* its own parent: for the reader of chains to mind */
    put_pair(&index, 5, 1, 1, 1);          /* no such table */
    gen_pb_message(&hlo, 6, &index);
    change = part("debug_info/debug_info_hlo.dbg_sg000000", &hlo);
    read_with(&change, 1, &neff);
    assert_int_equal(neff.stack.locations[0].file, 0);
    assert_int_equal(neff.stack.locations[0].function, 0);
    assert_int_equal(neff.stack.locations[0].line, 0);
    assert_int_equal(neff.stack.locations[1].file, 1);
    assert_int_equal(neff.stack.locations[1].line, 7);
    assert_int_equal(neff.stack.frames[0].location, 0);
    assert_int_equal(neff.stack.frames[0].parent, 0);
    assert_int_equal(neff.stack.frames[1].location, 2);
    assert_int_equal(neff.stack.frames[1].parent, 2);
    assert_true(has_warning(&neff, "stack frames name places or names that their index does not have"));
    assert_true(has_warning(&neff, "field 5 of the stack frame index")); /* and field 3 of frames: not sent */
    nx_neff_close(&neff);
    nx_text_free(&hlo);
    nx_text_free(&index);
}

static void spills_are_a_kind(void **state)
{
    struct nx_text bir = {0}, entry = {0};
    struct part change;
    struct nx_neff neff;

    (void)state;
    gen_pb_int(&entry, 6, 2);
    gen_pb_message(&bir, 3, &entry);
    change = part("sg00/bir_PE.dbg", &bir);
    read_with(&change, 1, &neff);
    assert_int_equal(neff.graphs[0].bir.entries[0].kind, NX_DBG_SPILL);
    nx_neff_close(&neff);
    nx_text_free(&bir);
    nx_text_free(&entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_told_by_their_names),
        cmocka_unit_test(packed_data_in_the_place_of_a_level_are_left_out),
        cmocka_unit_test(a_malformed_level_is_refused),
        cmocka_unit_test(lines_are_of_the_files_own_list),
        cmocka_unit_test(frames_of_several_files_get_numbers_of_their_own),
        cmocka_unit_test(an_index_may_stand_alone),
        cmocka_unit_test(an_index_of_another_layout_is_a_warning),
        cmocka_unit_test(numbers_out_of_range_become_none),
        cmocka_unit_test(spills_are_a_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
