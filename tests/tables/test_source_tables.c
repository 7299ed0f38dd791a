/* KernelInstructions, KernelStackFrames, KernelIterationVariables, StackFrame and its three lookup tables. */
#include "content.h"

extern const struct nx_table nx_table_KernelInstructions, nx_table_KernelStackFrames,
    nx_table_KernelIterationVariables, nx_table_StackFrame, nx_table_StackFrameFileLocation,
    nx_table_StackFrameFileName, nx_table_StackFrameFunctionName;

static const struct nx_kernel_place nowhere = {NULL, NX_NOT_GIVEN, NX_NOT_GIVEN};

static void kernel_tables_show_what_is_given(void **state)
{
    struct nx_kernel_inst insts[] = {
        {"inst.1", {"k.py", 76, 1}, 42, 1, 156, 2},
        {"inst.2", nowhere, NX_NOT_GIVEN, NX_NOT_GIVEN, NX_NOT_GIVEN, NX_NOT_GIVEN},
    };
    struct nx_kernel_frame frames[] = {{42, 41, "a.b", {"k.py", 17, 0}}, {41, NX_NOT_GIVEN, NULL, nowhere}};
    struct nx_kernel_loop loops[] = {{156, 101, "k", -3, {"k.py", 72, 0}},
                                     {101, NX_NOT_GIVEN, NULL, NX_NOT_GIVEN, nowhere}};
    struct nx_neff neff = {.kernel = {.insts = insts,
                                      .inst_count = 2,
                                      .frames = frames,
                                      .frame_count = 2,
                                      .loops = loops,
                                      .loop_count = 2}};
    struct nx_profile profile = {.neff = &neff};
    struct content c;

    (void)state;
    read_content(&nx_table_KernelInstructions, &profile, &c);
    assert_int_equal(c.chunk.rows, 2);
    assert_string_equal(text(&c, NX_KernelInstructions_kernel_instruction_name, 0), "inst.1");
    assert_int_equal(integer(&c, NX_KernelInstructions_stack_frame_id, 0), 42);
    assert_int_equal(integer(&c, NX_KernelInstructions_stack_frame_depth, 0), 1);
    assert_int_equal(integer(&c, NX_KernelInstructions_iteration_variables_id, 0), 156);
    assert_int_equal(integer(&c, NX_KernelInstructions_iteration_variable_depth, 0), 2);
    assert_int_equal(integer(&c, NX_KernelInstructions_pcore_idx, 0), 1);
    assert_string_equal(text(&c, NX_KernelInstructions_file_path, 0), "k.py");
    assert_int_equal(integer(&c, NX_KernelInstructions_line_number, 0), 76);
    for (unsigned column = 0; column < NX_KernelInstructions_COUNT; column++)
        assert_int_equal(is_null(&c, column, 1), column != NX_KernelInstructions_kernel_instruction_name);
    close_content(&c);

    read_content(&nx_table_KernelStackFrames, &profile, &c);
    assert_int_equal(c.chunk.rows, 2);
    assert_int_equal(integer(&c, NX_KernelStackFrames_stack_frame_id, 0), 42);
    assert_int_equal(integer(&c, NX_KernelStackFrames_parent_stack_frame_id, 0), 41);
    assert_string_equal(text(&c, NX_KernelStackFrames_fully_qualified_function_name, 0), "a.b");
    assert_int_equal(integer(&c, NX_KernelStackFrames_line_number, 0), 17);
    assert_int_equal(integer(&c, NX_KernelStackFrames_pcore_idx, 0), 0);
    for (unsigned column = 0; column < NX_KernelStackFrames_COUNT; column++)
        assert_int_equal(is_null(&c, column, 1), column != NX_KernelStackFrames_stack_frame_id);
    close_content(&c);

    read_content(&nx_table_KernelIterationVariables, &profile, &c);
    assert_int_equal(c.chunk.rows, 2);
    assert_int_equal(integer(&c, NX_KernelIterationVariables_iteration_variable_id, 0), 156);
    assert_int_equal(integer(&c, NX_KernelIterationVariables_parent_iteration_variable_id, 0), 101);
    assert_string_equal(text(&c, NX_KernelIterationVariables_variable_name, 0), "k");
    assert_int_equal(integer(&c, NX_KernelIterationVariables_variable_value, 0), -3);
    assert_string_equal(text(&c, NX_KernelIterationVariables_file_path, 0), "k.py");
    for (unsigned column = 0; column < NX_KernelIterationVariables_COUNT; column++)
        assert_int_equal(is_null(&c, column, 1),
                         column != NX_KernelIterationVariables_iteration_variable_id);
    close_content(&c);
}

/* Numbers count from 1, as they do in the file; 0 is none. */
static void stack_tables_refer_to_each_other(void **state)
{
    const char *files[] = {"train.py", "model.py"}, *functions[] = {"main", "forward"};
    struct nx_stack_location locations[] = {{1, 1, 40}, {2, 2, 7}, {0, 0, 0}};
    struct nx_stack_frame frames[] = {{1, 0}, {2, 1}, {0, 2}};
    struct nx_neff neff = {.stack = {files, functions, locations, frames, 2, 2, 3, 3}};
    struct nx_profile profile = {.neff = &neff};
    struct content c;

    (void)state;
    read_content(&nx_table_StackFrame, &profile, &c);
    assert_int_equal(c.chunk.rows, 3);
    assert_string_equal(text(&c, NX_StackFrame_id, 1), "2");
    assert_int_equal(integer32(&c, NX_StackFrame_file_location_id, 1), 2);
    assert_string_equal(text(&c, NX_StackFrame_parent_frame_id, 1), "1");
    assert_string_equal(text(&c, NX_StackFrame_parent_frame_id, 0), "0");
    assert_int_equal(integer32(&c, NX_StackFrame_file_location_id, 2), 0);
    close_content(&c);

    read_content(&nx_table_StackFrameFileLocation, &profile, &c);
    assert_int_equal(c.chunk.rows, 3);
    assert_string_equal(text(&c, NX_StackFrameFileLocation_id, 1), "2");
    assert_int_equal(integer32(&c, NX_StackFrameFileLocation_file_name_id, 1), 2);
    assert_int_equal(integer32(&c, NX_StackFrameFileLocation_function_name_id, 1), 2);
    assert_int_equal(integer32(&c, NX_StackFrameFileLocation_line_number, 1), 7);
    assert_int_equal(integer32(&c, NX_StackFrameFileLocation_file_name_id, 2), 0);
    close_content(&c);

    read_content(&nx_table_StackFrameFileName, &profile, &c);
    assert_int_equal(c.chunk.rows, 2);
    assert_string_equal(text(&c, NX_StackFrameFileName_id, 1), "2");
    assert_string_equal(text(&c, NX_StackFrameFileName_name, 1), "model.py");
    close_content(&c);

    read_content(&nx_table_StackFrameFunctionName, &profile, &c);
    assert_int_equal(c.chunk.rows, 2);
    assert_string_equal(text(&c, NX_StackFrameFunctionName_id, 0), "1");
    assert_string_equal(text(&c, NX_StackFrameFunctionName_name, 0), "main");
    close_content(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_tables_show_what_is_given),
        cmocka_unit_test(stack_tables_refer_to_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
