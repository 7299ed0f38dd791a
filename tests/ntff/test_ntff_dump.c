/* `neuron-explorer dump ntff`, of a whole file, of damaged ones, and of what is none. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define OUT_SIZE 65536

static char folder[] = P_tmpdir "/nx-dump-XXXXXX";

static int start(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/x.ntff", folder);
    unlink(path);
    return rmdir(folder);
}

/* The exit status; standard output and error together in `out`. */
static int dump(const void *bytes, size_t size, const char *options, char *out)
{
    char path[128], command[1024];
    FILE *f;
    size_t got;
    int status;

    if (access(NX_PROGRAM, X_OK) != 0) {
        print_message("%s is not built: skipped\n", NX_PROGRAM);
        skip();
    }
    snprintf(path, sizeof(path), "%s/x.ntff", folder);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    snprintf(command, sizeof(command), "'%s' dump ntff '%s' %s 2>&1", NX_PROGRAM, path, options);
    f = popen(command, "r");
    assert_non_null(f);
    got = fread(out, 1, OUT_SIZE - 1, f);
    out[got] = 0;
    status = pclose(f);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void contains(const char *out, const char *part)
{
    if (!strstr(out, part))
        fail_msg("\"%s\" expected in:\n%s", part, out);
}

static void made_file(struct nx_text *file)
{
    struct nx_text core = {0}, top = {0}, raw = {0}, clocks = {0};

    pb_text(&core, 1, "sg00");
    for (uint32_t field = 1; field <= 6; field++)
        put_clock(&clocks, field, 1000, 1024, 2048);
    for (int i = 0; i < NX_DMA_ENGINES; i++)
        put_clock(&clocks, 8, 1000, 1024, 2048);
    pb_message(&core, 10, &clocks);
    put_section(&core, 6, 0, 0, 0, 32, 0);
    put_section(&core, 6, 1, 0, 32, 32, 0);
    put_cores(&top, &core, 1, NULL);
    pb_text(&top, 9, "odd \"type\" \xff");
    put_record(&raw, 0x84000123, 0x00050000, 1010);
    put_record(&raw, 0x85000123, 0xffffffff, 1020);
    put_record(&raw, 0xdbf30107, 0xffffffff, 999); /* before the clock's start; records were lost */
    put_record(&raw, 0x80000000, 0, 0);            /* of no kind */
    ntff_file(file, 5, &top, &raw);
    nx_text_free(&core);
    nx_text_free(&top);
    nx_text_free(&raw);
    nx_text_free(&clocks);
}

static void whole(void **state)
{
    struct nx_text file = {0};
    char *out = nx_alloc(OUT_SIZE);

    (void)state;
    made_file(&file);
    assert_int_equal(dump(file.data, file.size, "--json --records 3", out), 0);
    contains(out, "\"version\": 5");
    contains(out, "\"instance_type\": \"odd \\\"type\\\" \xef\xbf\xbd\"");
    contains(out, "\"records\": 4");
    contains(out, "\"records_unknown\": 1");
    contains(out, "\"Tensor instruction start\": 1");
    contains(out, "\"AXI semaphore\": 1");
    contains(out, "\"wait_cycles\": 5");
    contains(out, "\"ps\": 20,");
    contains(out, "\"ps\": null");
    contains(out, "\"value\": 4294967295");
    contains(out, "\"overflow\": true");
    assert_null(strstr(out, "80000000 00000000")); /* the fourth */
    assert_null(strstr(out, "\"error\":"));
    assert_int_equal(dump(file.data, file.size, "", out), 0);
    contains(out, "Tensor instruction start  1\n");
    nx_text_free(&file);
    free(out);
}

static void damaged(void **state)
{
    struct nx_text file = {0};
    char *out = nx_alloc(OUT_SIZE);

    (void)state;
    made_file(&file);
    assert_int_equal(dump(file.data, file.size - 40, "", out), NX_BAD_INPUT);
    contains(out, "name  sg00");
    contains(out, "Tensor instruction start  1\n");
    contains(out, "section of 32 bytes expected at offset 0 of the raw area, which has 24 bytes");
    assert_int_equal(dump(file.data, NX_NTFF_HEADER_SIZE + 3, "--json", out), NX_BAD_INPUT);
    contains(out, "\"error\": ");
    contains(out, "3 found: the file is cut short");
    nx_text_free(&file);
    free(out);
}

static void not_a_trace(void **state)
{
    char *out = nx_alloc(OUT_SIZE),
         text[] = "some text that is longer than the header of a trace, which has as many as "
                  "one hundred and twenty-eight bytes, so that it could be one";

    (void)state;
    assert_int_equal(dump(text, sizeof(text), "", out), NX_BAD_INPUT);
    contains(out, "NTFF version 115 is not supported");
    assert_null(strstr(out, "cores"));
    assert_int_equal(dump(text, 0, "", out), NX_BAD_INPUT);
    contains(out, "0 bytes are too few");
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole), cmocka_unit_test(damaged),
                                       cmocka_unit_test(not_a_trace)};

    return cmocka_run_group_tests(tests, start, end);
}
