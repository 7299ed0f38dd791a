/* Tables of every type and size through the writer, read back through DuckDB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <duckdb.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/parquet.h"

static char dir[] = "/tmp/nx-parquet-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

/* ------------------------------------------------------------------ a table made to measure */

/*
 * Rows of OpcodeSummary's shape: engine is a small dictionary, opcode one of `opcodes` entries (more than an
 * ENUM takes, if asked for), the numbers follow the row, and every seventh count is left NULL.
 */
struct rows {
    uint64_t count;
    struct nx_dict engines, opcodes;
};

static struct rows *current; /* what open() hands out */
static int opened, closed;

static void *open_rows(const struct nx_profile *profile)
{
    (void)profile;
    opened++;
    return current;
}

static uint64_t count_rows(const void *state)
{
    return ((const struct rows *)state)->count;
}

static void fill_rows(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    const struct rows *rows = state;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        uint64_t n = first + i;

        nx_put_dict(chunk, NX_OpcodeSummary_engine, i,
                    n % 11 == 3 ? NX_NO_TEXT : (uint32_t)(n % rows->engines.count));
        nx_put_dict(chunk, NX_OpcodeSummary_opcode, i, (uint32_t)(n % rows->opcodes.count));
        if (n % 7)
            nx_put_i64(chunk, NX_OpcodeSummary_instruction_count, i, (int64_t)n);
        nx_put_i64(chunk, NX_OpcodeSummary_instruction_time_ns, i, -(int64_t)n);
        nx_put_i64(chunk, NX_OpcodeSummary_active_time_ns, i, INT64_MAX - (int64_t)n);
        nx_put_f64(chunk, NX_OpcodeSummary_active_time_percent, i, (double)n / 8);
    }
}

static const struct nx_dict *dictionary(const void *state, unsigned column)
{
    const struct rows *rows = state;

    return column == NX_OpcodeSummary_engine   ? &rows->engines
           : column == NX_OpcodeSummary_opcode ? &rows->opcodes
                                               : NULL;
}

static void close_rows(void *state)
{
    (void)state;
    closed++;
}

static const struct nx_table opcode_summary = {"OpcodeSummary", open_rows,  count_rows,
                                               fill_rows,       dictionary, close_rows};

/* Texts without a dictionary, and 32-bit numbers. */
static uint64_t three(const void *state)
{
    (void)state;
    return 3;
}

static void fill_frames(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    static const char *const ids[] = {"plain", "with 'quotes' and \xc3\xa9", ""};

    (void)state;
    for (uint32_t i = 0; i < chunk->rows; i++) {
        nx_put_text(chunk, NX_StackFrame_id, i, ids[first + i]);
        nx_put_i32(chunk, NX_StackFrame_file_location_id, i, INT32_MIN + (int32_t)i);
        nx_put_text(chunk, NX_StackFrame_parent_frame_id, i, i == 1 ? NULL : "p");
    }
}

static const struct nx_table stack_frame = {"StackFrame", open_rows, three, fill_frames, NULL, close_rows};

/* Truth values: true, false and NULL by turns, more than a chunk of them. */
static void fill_updates(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    (void)state;
    for (uint32_t i = 0; i < chunk->rows; i++) {
        uint64_t n = first + i;

        nx_put_i64(chunk, NX_SemaphoreUpdate_timestamp, i, (int64_t)n);
        if (n % 3 != 2)
            nx_put_bool(chunk, NX_SemaphoreUpdate_double_set_or_clear, i, n % 3 == 0);
    }
}

static const struct nx_table semaphore_update = {"SemaphoreUpdate", open_rows, count_rows,
                                                 fill_updates,      NULL,      close_rows};

/* ------------------------------------------------------------------ reading back */

static char *query(const char *format, ...)
{
    duckdb_database database;
    duckdb_connection connection;
    duckdb_result result;
    char sql[2048], *value;
    va_list args;

    va_start(args, format);
    vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s: %s", sql, duckdb_result_error(&result));
    value = duckdb_value_varchar(&result, 0, 0);
    duckdb_destroy_result(&result);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    return value;
}

static void expect(const char *expected, const char *select, const char *table)
{
    char *found = query("SELECT (%s)::VARCHAR FROM read_parquet('%s/%s.parquet')", select, dir, table);

    assert_non_null(found);
    assert_string_equal(found, expected);
    duckdb_free(found);
}

static void write_tables(const struct nx_table *const *tables, unsigned threads)
{
    struct nx_profile profile = {0};
    struct nx_error error;

    if (nx_parquet_write(dir, tables, &profile, threads, NULL, NULL, &error) != NX_OK)
        fail_msg("%s", error.text);
}

static void write_rows(uint64_t count, uint32_t opcodes, unsigned threads)
{
    const struct nx_table *tables[] = {&opcode_summary, &stack_frame, NULL};
    struct rows rows = {.count = count};
    char text[32];

    nx_dict_add_string(&rows.engines, "tensor");
    nx_dict_add_string(&rows.engines, "it's");
    for (uint32_t i = 0; i < opcodes; i++) {
        snprintf(text, sizeof(text), "op%u", i);
        nx_dict_add_string(&rows.opcodes, text);
    }
    current = &rows;
    write_tables(tables, threads);
    nx_dict_free(&rows.engines);
    nx_dict_free(&rows.opcodes);
}

static void check_rows(uint64_t count, uint32_t opcodes)
{
    char expected[64];

    snprintf(expected, sizeof(expected), "%llu", (unsigned long long)count);
    expect(expected, "count(*)", "OpcodeSummary");
    /* each row's values follow from its place in the file: order and content at once */
    {
        char *found = query(
            "SELECT bool_and(instruction_time_ns = -n AND active_time_ns = 9223372036854775807 - n AND "
            "active_time_percent = n / 8 AND instruction_count IS NOT DISTINCT FROM (CASE WHEN n %% 7 > 0 "
            "THEN n END) AND opcode = 'op' || (n %% %u) AND engine IS NOT DISTINCT FROM (CASE WHEN n %% 11 = "
            "3 "
            "THEN NULL WHEN n %% 2 = 0 THEN 'tensor' ELSE 'it''s' END))::VARCHAR FROM (SELECT *, "
            "file_row_number AS n FROM read_parquet('%s/OpcodeSummary.parquet', file_row_number = true))",
            opcodes, dir);

        assert_non_null(found);
        assert_string_equal(found, "true");
        duckdb_free(found);
    }
}

static void small_dictionaries_and_many_rows(void **state)
{
    (void)state;
    write_rows(300000, 40, 2); /* three row groups, an ENUM of one byte */
    check_rows(300000, 40);
}

static void dictionaries_of_two_bytes(void **state)
{
    (void)state;
    write_rows(20000, 3000, 1);
    check_rows(20000, 3000);
}

static void dictionaries_too_large_for_an_enum(void **state)
{
    (void)state;
    write_rows(20000, 9000, 2);
    check_rows(20000, 9000);
}

static void more_entries_than_rows(void **state)
{
    (void)state;
    write_rows(5, 100, 2);
    check_rows(5, 100);
}

static void texts_and_nulls_as_they_are(void **state)
{
    (void)state;
    write_rows(1, 1, 2);
    expect("plain|with 'quotes' and \xc3\xa9|", "string_agg(id, '|')", "StackFrame");
    expect("[-2147483648, -2147483647, -2147483646]", "list(file_location_id)", "StackFrame");
    expect("[p, NULL, p]", "list(parent_frame_id)", "StackFrame");
}

static void truth_values(void **state)
{
    const struct nx_table *tables[] = {&semaphore_update, NULL};
    struct rows rows = {.count = 10000};

    (void)state;
    current = &rows;
    write_tables(tables, 2);
    expect("BOOLEAN", "any_value(typeof(double_set_or_clear))", "SemaphoreUpdate");
    expect("10000", "count(*) FILTER (double_set_or_clear IS NOT DISTINCT FROM "
                    "CASE timestamp % 3 WHEN 0 THEN true WHEN 1 THEN false END)", "SemaphoreUpdate");
}

static void types_are_the_schema_s(void **state)
{
    char *found;

    (void)state;
    write_rows(10, 3, 1);
    found = query(
        "SELECT string_agg(column_name || ' ' || column_type, ', ')::VARCHAR FROM (DESCRIBE SELECT * FROM "
        "read_parquet('%s/OpcodeSummary.parquet'))",
        dir);
    assert_string_equal(
        found, "engine VARCHAR, opcode VARCHAR, instruction_count BIGINT, instruction_time_ns BIGINT, "
               "active_time_ns BIGINT, active_time_percent DOUBLE");
    duckdb_free(found);
    found = query("SELECT string_agg(DISTINCT compression, ',')::VARCHAR FROM "
                  "parquet_metadata('%s/OpcodeSummary.parquet')",
                  dir);
    assert_string_equal(found, "ZSTD");
    duckdb_free(found);
}

static void a_table_without_rows_is_not_written(void **state)
{
    const struct nx_table *tables[] = {&opcode_summary, NULL};
    struct rows rows = {0};
    char path[128];

    (void)state;
    snprintf(path, sizeof(path), "%s/OpcodeSummary.parquet", dir);
    unlink(path);
    current = &rows;
    write_tables(tables, 2);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* ------------------------------------------------------------------ bytes that are no text */

static const char *const odd[] = {"\xff\xfe", "ok", "\xed\xa0\x80" /* a surrogate */, "caf\xc3", ""};

static void fill_odd(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    const struct rows *rows = state;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        uint64_t n = first + i;

        nx_put_dict(chunk, NX_OpcodeSummary_engine, i, (uint32_t)(n % rows->engines.count));
        nx_put_text(chunk, NX_OpcodeSummary_opcode, i, odd[n % 5]);
        nx_put_i64(chunk, NX_OpcodeSummary_instruction_count, i, (int64_t)n);
    }
}

static const struct nx_dict *odd_dictionary(const void *state, unsigned column)
{
    return column == NX_OpcodeSummary_engine ? &((const struct rows *)state)->engines : NULL;
}

static const struct nx_table odd_texts = {"OpcodeSummary", open_rows,      count_rows,
                                          fill_odd,        odd_dictionary, close_rows};

/* The database takes what it is given for UTF-8: bytes of a hostile file must not get through. */
static void bytes_that_are_not_utf8_are_mended(void **state)
{
    const struct nx_table *tables[] = {&odd_texts, NULL};
    struct rows rows = {.count = 5000};

    (void)state;
    for (size_t i = 0; i < 5; i++)
        nx_dict_add_string(&rows.engines, odd[i]);
    current = &rows;
    write_tables(tables, 2);
    nx_dict_free(&rows.engines);
    for (int column = 0; column < 2; column++) {
        char select[256];

        snprintf(
            select, sizeof(select),
            "string_agg(%s, '|' ORDER BY instruction_count) FILTER (instruction_count BETWEEN 4000 AND 4004)",
            column ? "opcode" : "engine");
        expect("\xef\xbf\xbd\xef\xbf\xbd|ok|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|caf\xef\xbf\xbd|", select,
               "OpcodeSummary");
    }
}

/* An ENUM's names end at a NUL: such a dictionary must go another way. */
static void texts_with_a_nul_stay_apart(void **state)
{
    const struct nx_table *tables[] = {&odd_texts, NULL};
    struct rows rows = {.count = 4};

    (void)state;
    nx_dict_add(&rows.engines, "a", 1);
    nx_dict_add(&rows.engines, "a\0b", 3);
    current = &rows;
    write_tables(tables, 2);
    nx_dict_free(&rows.engines);
    expect("1,3,1,3", "string_agg(length(engine), ',' ORDER BY instruction_count)", "OpcodeSummary");
}

/* ------------------------------------------------------------------ order, progress, failures */

static void one_thread_and_two_write_the_same(void **state)
{
    char *one, *two;

    (void)state;
    write_rows(100000, 50, 1);
    one = query(
        "SELECT md5(string_agg(t::VARCHAR, '|'))::VARCHAR FROM read_parquet('%s/OpcodeSummary.parquet') t",
        dir);
    write_rows(100000, 50, 2);
    two = query(
        "SELECT md5(string_agg(t::VARCHAR, '|'))::VARCHAR FROM read_parquet('%s/OpcodeSummary.parquet') t",
        dir);
    assert_string_equal(one, two);
    duckdb_free(one);
    duckdb_free(two);
}

/* Both ways: three files, each of whole row groups but the last, which together are the rows in their order. */
static void many_rows_become_parts_in_order(void **state)
{
    char *before = NULL;

    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        char path[64], *found;

        snprintf(path, sizeof(path), "%s/OpcodeSummary.parquet", dir);
        unlink(path);
        write_rows(2000001, 40, threads);
        assert_int_not_equal(access(path, F_OK), 0);
        for (int part = 0; part < 3; part++) {
            snprintf(path, sizeof(path), "OpcodeSummary_%d", part);
            expect(part == 2 ? "33921" : "983040", "count(*)", path);
            found = query("SELECT bool_and(instruction_time_ns = -(n + %d * 983040))::VARCHAR FROM (SELECT *, "
                          "file_row_number AS n FROM read_parquet('%s/%s.parquet', file_row_number = true))",
                          part, dir, path);
            assert_string_equal(found, "true");
            duckdb_free(found);
        }
        found = query("SELECT md5(string_agg(content::VARCHAR, '' ORDER BY filename)) FROM read_blob('%s/OpcodeSummary_*.parquet')",
                      dir);
        if (before)
            assert_string_equal(found, before);
        duckdb_free(before);
        before = found;
    }
    duckdb_free(before);
    for (int part = 0; part < 3; part++) {
        char path[64];

        snprintf(path, sizeof(path), "%s/OpcodeSummary_%d.parquet", dir, part);
        assert_int_equal(unlink(path), 0);
    }
}

static enum nx_status try_to_write(const char *folder, uint64_t count, unsigned threads,
                                   nx_progress *progress, void *context, struct nx_error *error)
{
    const struct nx_table *tables[] = {&stack_frame, &opcode_summary, NULL};
    struct rows rows = {.count = count};
    struct nx_profile profile = {0};
    enum nx_status status;

    nx_dict_add_string(&rows.engines, "a");
    nx_dict_add_string(&rows.opcodes, "b");
    current = &rows;
    opened = closed = 0;
    status = nx_parquet_write(folder, tables, &profile, threads, progress, context, error);
    assert_int_equal(opened, 2);
    assert_int_equal(closed, 2);
    nx_dict_free(&rows.engines);
    nx_dict_free(&rows.opcodes);
    return status;
}

struct seen {
    uint64_t last, total, calls;
    bool backwards;
};

static void see(void *context, uint64_t rows, uint64_t total)
{
    struct seen *seen = context;

    seen->backwards |= rows <= seen->last;
    seen->last = rows;
    seen->total = total;
    seen->calls++;
}

static void progress_only_grows_and_ends_at_the_total(void **state)
{
    struct seen seen = {0};
    struct nx_error error;

    (void)state;
    assert_int_equal(try_to_write(dir, 50000, 2, see, &seen, &error), NX_OK);
    assert_false(seen.backwards);
    assert_int_equal(seen.total, 50003);
    assert_int_equal(seen.last, 50003);
    assert_true(seen.calls > 20);
}

static void what_cannot_be_written_is_an_error(void **state)
{
    struct nx_error error;

    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++) {
        assert_int_equal(try_to_write("/nonexistent/folder", 10, threads, NULL, NULL, &error), NX_FAILED);
        assert_non_null(strstr(error.text, "cannot write table "));
        assert_non_null(strstr(error.text, "/nonexistent/folder/"));
    }
}

static void a_full_disk_is_told_apart(void **state)
{
    struct nx_error error;
    char folder[64], link[128];

    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    snprintf(folder, sizeof(folder), "%s/full", dir);
    assert_int_equal(mkdir(folder, 0755), 0);
    snprintf(link, sizeof(link), "%s/OpcodeSummary.parquet", folder);
    assert_int_equal(symlink("/dev/full", link), 0);
    assert_int_equal(try_to_write(folder, 400000, 2, NULL, NULL, &error), NX_UNAVAILABLE);
    assert_non_null(strstr(error.text, "OpcodeSummary"));
    assert_non_null(strstr(error.text, "No space left"));
}

static void any_folder_can_be_written_to(void **state)
{
    struct nx_error error;
    char folder[64], file[128];

    (void)state;
    snprintf(folder, sizeof(folder), "%s/it's; a \"folder\" *?[x]{uuid}", dir);
    assert_int_equal(mkdir(folder, 0755), 0);
    if (try_to_write(folder, 10, 1, NULL, NULL, &error) != NX_OK)
        fail_msg("%s", error.text);
    snprintf(file, sizeof(file), "%s/OpcodeSummary.parquet", folder);
    assert_int_equal(access(file, R_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_dictionaries_and_many_rows),
        cmocka_unit_test(dictionaries_of_two_bytes),
        cmocka_unit_test(dictionaries_too_large_for_an_enum),
        cmocka_unit_test(more_entries_than_rows),
        cmocka_unit_test(texts_and_nulls_as_they_are),
        cmocka_unit_test(truth_values),
        cmocka_unit_test(types_are_the_schema_s),
        cmocka_unit_test(a_table_without_rows_is_not_written),
        cmocka_unit_test(one_thread_and_two_write_the_same),
        cmocka_unit_test(many_rows_become_parts_in_order),
        cmocka_unit_test(bytes_that_are_not_utf8_are_mended),
        cmocka_unit_test(texts_with_a_nul_stay_apart),
        cmocka_unit_test(progress_only_grows_and_ends_at_the_total),
        cmocka_unit_test(what_cannot_be_written_is_an_error),
        cmocka_unit_test(a_full_disk_is_told_apart),
        cmocka_unit_test(any_folder_can_be_written_to),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
