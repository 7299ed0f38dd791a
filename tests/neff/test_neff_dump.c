/* `dump neff`: the whole of a sound file, as much as there is of a damaged one, and nothing that steers a
 * terminal. */
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "debug_message.h"
#include "package.h"

/* Runs the program on the file; its standard output into *out (errors aside). Returns the exit status. */
static int dump(const struct nx_text *file, const char *option, struct nx_text *out)
{
    char path[64], command[1024], buffer[4096];
    FILE *stream;
    size_t size;
    int status;

    if (access(NX_PROGRAM, X_OK)) {
        print_message("           the program is not built (%s)\n", NX_PROGRAM);
        skip();
    }
    snprintf(path, sizeof(path), "dump-%ld.neff", (long)getpid());
    stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(file->data, 1, file->size, stream), file->size);
    assert_int_equal(fclose(stream), 0);
    snprintf(command, sizeof(command), "'%s' dump neff %s %s 2>/dev/null", NX_PROGRAM, path, option);
    stream = popen(command, "r");
    assert_non_null(stream);
    nx_text_clear(out);
    while ((size = fread(buffer, 1, sizeof(buffer), stream)) > 0)
        nx_text_append(out, buffer, size);
    status = pclose(stream);
    unlink(path);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static json_t *dump_json(const struct nx_text *file, int expected_status)
{
    struct nx_text out = {0};
    json_error_t why;
    json_t *json;

    assert_int_equal(dump(file, "--json", &out), expected_status);
    json = json_loads(nx_text_string(&out), JSON_REJECT_DUPLICATES, &why);
    if (!json)
        fail_msg("%s in %s", why.text, nx_text_string(&out));
    nx_text_free(&out);
    return json;
}

static json_int_t integer(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_integer(value))
        fail_msg("%s is no integer", key);
    return json_integer_value(value);
}

static void assert_text(const json_t *object, const char *key, const char *expected)
{
    const char *value = json_string_value(json_object_get(object, key));

    if (!value)
        fail_msg("%s is no text", key);
    assert_string_equal(value, expected);
}

static void a_sound_file_is_shown_whole(void **state)
{
    struct nx_text file = {0};
    json_t *json;
    const json_t *graph, *queue, *engine, *var;

    (void)state;
    neff_with(NULL, 0, &file);
    json = dump_json(&file, 0);
    assert_null(json_object_get(json, "error"));
    assert_text(json_object_get(json, "header"), "name", "made.neff");
    assert_int_equal(integer(json_object_get(json, "header"), "data_size"), file.size - 1024);
    assert_text(json, "target", "cayman");
    assert_int_equal(integer(json, "kernel_node"), 2);
    assert_int_equal(json_array_size(json_object_get(json, "members")), WHOLE_NEFF_PARTS);
    assert_int_equal(json_array_size(json_object_get(json, "warnings")), 0);
    graph = json_array_get(json_object_get(json, "graphs"), 0);
    assert_text(graph, "name", "sg00");
    assert_int_equal(integer(graph, "dma_blocks"), 2);
    assert_int_equal(integer(graph, "runtime_semaphore_count"), 3);
    queue = json_array_get(json_object_get(graph, "queues"), 1);
    assert_text(queue, "display_name", "qSyncIO0");
    assert_text(queue, "semaphores", "8-9");
    assert_int_equal(integer(queue, "blocks"), 2);
    assert_int_equal(integer(queue, "read_bytes"), 36);
    assert_int_equal(integer(queue, "write_bytes"), 20);
    var = json_array_get(json_object_get(graph, "variables"), 2);
    assert_text(var, "name", "t");
    assert_text(var, "var_ids", "3 1");
    engine = json_array_get(json_object_get(graph, "engines"), NX_PE);
    assert_text(engine, "engine", "Tensor");
    assert_int_equal(integer(engine, "instructions"), 2);
    assert_int_equal(integer(json_object_get(engine, "opcodes"), "OPCODE_0x30"), 2); /* '0' */
    json_decref(json);
    nx_text_free(&file);
}

/* Every level with its files, and how many entries say what; the stack frames of all of them. */
static void debug_information_is_shown(void **state)
{
    struct nx_text hlo = {0}, penguin = {0}, entry = {0}, index = {0}, file = {0};
    struct part changes[2];
    json_t *json;
    const json_t *levels, *level;

    (void)state;
    gen_pb_int(&entry, 1, 1);
    gen_pb_int(&entry, 6, 2);
    gen_pb_int(&entry, 8, 1);
    gen_pb_message(&hlo, 3, &entry);
    gen_pb_string(&index, 1, "model.py");
    gen_pb_int(&entry, 1, 0); /* a frame of no place */
    gen_pb_message(&index, 4, &entry);
    gen_pb_message(&hlo, 6, &index);
    gen_pb_string(&penguin, 2, "debug_info_hlo.dbg");
    gen_pb_string(&penguin, 5, "kernel.py");
    gen_pb_int(&entry, 1, 7);
    gen_pb_int(&entry, 3, 1);
    attr(&entry, "kernel_file", "0");
    attr(&entry, "kernel_line", "12");
    gen_pb_message(&penguin, 3, &entry);
    changes[0] = (struct part){"debug_info/debug_info_hlo.dbg_sg000000", nx_text_string(&hlo), hlo.size};
    changes[1] =
        (struct part){"debug_info/debug_info_penguin.dbg_sg000000", nx_text_string(&penguin), penguin.size};
    neff_with(changes, 2, &file);
    json = dump_json(&file, 0);
    assert_int_equal(integer(json_object_get(json, "stack_frames"), "frames"), 1);
    levels = json_object_get(json_array_get(json_object_get(json, "graphs"), 0), "debug_information");
    level = json_object_get(levels, "hlo");
    assert_int_equal(integer(level, "entries"), 1);
    assert_int_equal(integer(level, "spills"), 1);
    assert_int_equal(integer(level, "with_stack_frame"), 1);
    assert_int_equal(integer(level, "with_source_line"), 0);
    level = json_object_get(levels, "penguin");
    assert_int_equal(integer(level, "with_source_line"), 1);
    assert_int_equal(integer(level, "with_parent"), 1);
    assert_text(json_array_get(json_object_get(level, "files"), 0), "parent", "debug_info_hlo.dbg");
    assert_int_equal(integer(json_object_get(levels, "framework"), "entries"), 0);
    json_decref(json);
    nx_text_free(&hlo);
    nx_text_free(&penguin);
    nx_text_free(&entry);
    nx_text_free(&index);
    nx_text_free(&file);
}

static void a_damaged_file_is_shown_as_far_as_it_goes(void **state)
{
    static const struct part bad = {"sg00/SP.json",
                                    "{\"dma\": [{\"id\": 0, \"queue\": \"qSPIO0\", \"desc\": []},"
                                    " {\"id\": 1, \"queue\": \"qNone\", \"desc\": []},"
                                    " {\"id\": 2, \"queue\": \"qSPIO0\", \"desc\": []}]}",
                                    0};
    struct nx_text file = {0};
    json_t *json;
    const json_t *graph;

    (void)state;
    neff_with(&bad, 1, &file); /* one wrong block among sound ones */
    json = dump_json(&file, 3);
    assert_non_null(strstr(json_string_value(json_object_get(json, "error")), "qNone"));
    graph = json_array_get(json_object_get(json, "graphs"), 0);
    assert_int_equal(integer(graph, "dma_blocks"), 2);
    assert_int_equal(json_array_size(json_object_get(graph, "variables")), 4);
    json_decref(json);

    file.size -= 20; /* cut: the header, and nothing of a member unless it came whole */
    json = dump_json(&file, 3);
    assert_non_null(strstr(json_string_value(json_object_get(json, "error")), "cut short"));
    assert_text(json_object_get(json, "header"), "name", "made.neff");
    json_decref(json);

    file.size = 1000;
    json = dump_json(&file, 3);
    assert_true(json_is_null(json_object_get(json, "header")));
    assert_non_null(strstr(json_string_value(json_object_get(json, "error")), "too few for a NEFF"));
    json_decref(json);

    file.size = 1100;
    memset(file.data, 0xff, 1024); /* numbers beyond those of JSON readers become text */
    json = dump_json(&file, 3);
    assert_text(json_object_get(json, "header"), "package_version", "18446744073709551615");
    json_decref(json);
    nx_text_free(&file);
}

static void texts_cannot_steer_a_terminal(void **state)
{
    static const struct part hostile = {
        "sg00/tensor_map.json",
        "{\"a\": {\"sim_shape\": [1], \"sim_format\": \"\\u001b[2J\\u009b31m\\r\\nfake line\", \"dtype\": "
        "\"d\\u0007\\u00e9\"}}",
        0};
    struct nx_text file = {0}, out = {0};

    (void)state;
    neff_with(&hostile, 1, &file);
    memcpy(file.data + 220, "\x1b]0;title\x07", 10);
    assert_int_equal(dump(&file, "", &out), 0);
    for (size_t i = 0; i < out.size; i++) {
        unsigned char c = (unsigned char)out.data[i];

        assert_true(c >= 0x20 || c == '\n');
        assert_true(c != 0x7f);
        assert_false(c == 0xc2 && (unsigned char)out.data[i + 1] < 0xa0);
    }
    assert_non_null(strstr(out.data, "format ?[2J?31m??fake line  dtype d?\xc3\xa9"));
    assert_null(strstr(out.data, "\nfake line"));
    assert_non_null(strstr(out.data, "name  ?]0;title?"));
    nx_text_free(&file);
    nx_text_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_file_is_shown_whole),
        cmocka_unit_test(debug_information_is_shown),
        cmocka_unit_test(a_damaged_file_is_shown_as_far_as_it_goes),
        cmocka_unit_test(texts_cannot_steer_a_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
