/* kernel_debug_info.json: the layout that is read, and what becomes of others. */
#include "package.h"

#define MEMBER "kernel_debug_info.json"

static const char sound[] =
    "{\"version\": 3,"
    " \"KernelInstructions\": ["
    "  {\"kernel_instruction_name\": \"inst.72:0\", \"stack_frame_id\": 42, \"stack_frame_depth\": 1,"
    "   \"iteration_variables_id\": 156, \"iteration_variable_depth\": 2, \"pcore_idx\": 1,"
    "   \"file_path\": \"kernel.py\", \"line_number\": 76},"
    "  {\"kernel_instruction_name\": \"inst.72:0\", \"pcore_idx\": 0, \"line_number\": 75},"
    "  {\"kernel_instruction_name\": \"inst.9:0\", \"stack_frame_id\": null, \"file_path\": \"kernel.py\"}],"
    " \"KernelStackFrames\": ["
    "  {\"stack_frame_id\": 42, \"fully_qualified_function_name\": \"a.b.c\", \"parent_stack_frame_id\": 41,"
    "   \"file_path\": \"kernel.py\", \"line_number\": 17}],"
    " \"KernelIterationVariables\": ["
    "  {\"iteration_variable_id\": 156, \"variable_name\": \"k\", \"variable_value\": -3,"
    "   \"parent_iteration_variable_id\": 101, \"line_number\": 72},"
    "  {\"iteration_variable_id\": 101}]}";

static void the_assumed_layout_is_read(void **state)
{
    const struct part change = {MEMBER, sound, 0};
    struct nx_neff neff;
    const struct nx_kernel_debug *kernel;

    (void)state;
    read_with(&change, 1, &neff);
    kernel = &neff.kernel;
    assert_int_equal(neff.warnings.count, 0);
    assert_int_equal(kernel->inst_count, 3);
    assert_string_equal(kernel->insts[0].name, "inst.72:0");
    assert_int_equal(kernel->insts[0].frame, 42);
    assert_int_equal(kernel->insts[0].frame_depth, 1);
    assert_int_equal(kernel->insts[0].loop, 156);
    assert_int_equal(kernel->insts[0].loop_depth, 2);
    assert_int_equal(kernel->insts[0].place.core, 1);
    assert_string_equal(kernel->insts[0].place.file, "kernel.py");
    assert_int_equal(kernel->insts[0].place.line, 76);
    assert_null(kernel->insts[1].place.file);
    assert_true(kernel->insts[1].frame == NX_NOT_GIVEN);
    assert_true(kernel->insts[2].frame == NX_NOT_GIVEN);
    assert_true(kernel->insts[2].place.core == NX_NOT_GIVEN);
    assert_ptr_equal(kernel->insts[2].place.file, kernel->insts[0].place.file); /* kept once */
    assert_int_equal(kernel->frame_count, 1);
    assert_int_equal(kernel->frames[0].id, 42);
    assert_int_equal(kernel->frames[0].parent, 41);
    assert_string_equal(kernel->frames[0].function, "a.b.c");
    assert_int_equal(kernel->frames[0].place.line, 17);
    assert_int_equal(kernel->loop_count, 2);
    assert_int_equal(kernel->loops[0].id, 156);
    assert_int_equal(kernel->loops[0].parent, 101);
    assert_string_equal(kernel->loops[0].variable, "k");
    assert_int_equal(kernel->loops[0].value, -3);
    assert_null(kernel->loops[1].variable);
    assert_true(kernel->loops[1].value == NX_NOT_GIVEN);

    assert_ptr_equal(nx_kernel_find(kernel, "inst.72:0", 0), &kernel->insts[1]);
    assert_ptr_equal(nx_kernel_find(kernel, "inst.72:0", 1), &kernel->insts[0]);
    assert_null(nx_kernel_find(kernel, "inst.72:0", 2)); /* it is of other cores */
    assert_ptr_equal(nx_kernel_find(kernel, "inst.9:0", 2), &kernel->insts[2]);
    assert_null(nx_kernel_find(kernel, "inst.9", 0));
    assert_null(nx_kernel_find(kernel, "", 0));
    nx_neff_close(&neff);
}

/* The NEFF is sound all the same; nothing of the member is taken, and the warning names it. */
static void other_layouts_are_a_warning(void **state)
{
    static const char *const others[] = {
        "{}",
        "[]",
        "7",
        "\"text\"",
        "",
        "{\"KernelInstructions\": [",
        "{\"instructions\": [{\"name\": \"inst.1\", \"line\": 7}]}",
        "{\"KernelInstructions\": {\"inst.72:0\": {}}}",
        "{\"KernelInstructions\": [[\"inst.72:0\", 42]]}",
        "{\"KernelInstructions\": [\"inst.72:0\"]}",
        "{\"KernelInstructions\": [{\"stack_frame_id\": 42}]}",
        "{\"KernelInstructions\": [{\"kernel_instruction_name\": 7}]}",
        "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"a\"}, {\"kernel_instruction_name\": \"b\","
        " \"line_number\": \"7\"}]}",
        "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"a\", \"line_number\": 7.5}]}",
        "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"a\", \"file_path\": 1}]}",
        "{\"KernelStackFrames\": [{\"fully_qualified_function_name\": \"f\"}]}",
        "{\"KernelStackFrames\": [{\"stack_frame_id\": null}]}",
        "{\"KernelIterationVariables\": [{\"variable_name\": \"k\"}]}",
        "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"a\"}],"
        " \"KernelIterationVariables\": [{\"iteration_variable_id\": 1, \"variable_value\": \"3\"}]}",
        "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"a\"}]} x",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct part change = {MEMBER, others[i], 0};
        struct nx_neff neff;

        read_with(&change, 1, &neff);
        assert_int_equal(neff.kernel.inst_count + neff.kernel.frame_count + neff.kernel.loop_count, 0);
        assert_null(nx_kernel_find(&neff.kernel, "a", 0));
        assert_int_equal(neff.warnings.count, 1);
        if (!has_warning(&neff, MEMBER " is there, but in a layout that this build does not know"))
            fail_msg("of %s: %s", others[i], neff.warnings.list[0].message);
        nx_neff_close(&neff);
    }
}

static void unknown_keys_are_told(void **state)
{
    const struct part change = {
        MEMBER, "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"a\", \"column\": 7}]}", 0};
    struct nx_neff neff;

    (void)state;
    read_with(&change, 1, &neff);
    assert_int_equal(neff.kernel.inst_count, 1);
    assert_true(has_warning(&neff, MEMBER " holds keys that this build does not know"));
    nx_neff_close(&neff);
}

/* One a graph, whose folder says which core its rows are of; one of another layout does not harm the others.
 */
static void there_may_be_several(void **state)
{
    static const struct part changes[] = {
        {"sg00/" MEMBER,
         "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"a\", \"line_number\": 1}]}", 0},
        {"sg01/" MEMBER,
         "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"a\", \"line_number\": 2},"
         " {\"kernel_instruction_name\": \"a\", \"pcore_idx\": 0, \"line_number\": 3}]}",
         0},
        {"sg02/" MEMBER, "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"b\"}, 7]}", 0},
        {"sg03/x_" MEMBER, "{\"KernelInstructions\": [{\"kernel_instruction_name\": \"c\"}]}", 0},
    };
    struct nx_neff neff;

    (void)state;
    read_with(changes, 4, &neff);
    assert_int_equal(neff.kernel.inst_count, 3);
    assert_int_equal(nx_kernel_find(&neff.kernel, "a", 0)->place.line, 1); /* of two, the first */
    assert_int_equal(nx_kernel_find(&neff.kernel, "a", 1)->place.line, 2);
    assert_null(nx_kernel_find(&neff.kernel, "b", 2));
    assert_null(nx_kernel_find(&neff.kernel, "c", 3));
    assert_int_equal(neff.warnings.count, 1);
    assert_true(has_warning(&neff, "sg02/" MEMBER " is there, but"));
    nx_neff_close(&neff);
}

static void large_ones_are_read_in_order_and_found(void **state)
{
    enum { COUNT = 50000 };
    struct nx_text text = {0};
    struct part change = {MEMBER, NULL, 0};
    struct nx_neff neff;
    char name[32];

    (void)state;
    nx_text_puts(&text, "{\"KernelInstructions\": [");
    for (unsigned i = 0; i < COUNT; i++)
        nx_text_printf(&text, "%s{\"kernel_instruction_name\": \"I-%u\", \"line_number\": %u}", i ? "," : "",
                       i * 7 % COUNT, i);
    nx_text_puts(&text, "]}");
    change.content = nx_text_string(&text);
    change.size = text.size;
    read_with(&change, 1, &neff);
    assert_int_equal(neff.kernel.inst_count, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "I-%u", i * 7 % COUNT);
        assert_ptr_equal(nx_kernel_find(&neff.kernel, name, 0), &neff.kernel.insts[i]);
    }
    nx_neff_close(&neff);
    nx_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_assumed_layout_is_read),
        cmocka_unit_test(other_layouts_are_a_warning),
        cmocka_unit_test(unknown_keys_are_told),
        cmocka_unit_test(there_may_be_several),
        cmocka_unit_test(large_ones_are_read_in_order_and_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
