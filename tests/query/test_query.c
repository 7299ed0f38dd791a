/*
 * Questions to a stored profile, through real workers: this program is its
 * own worker when it is called so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <duckdb.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "query/query.h"

#define SECRET "the-secret-of-this-test"

static char dir[] = "/tmp/nx-query-XXXXXX";
static struct nx_store store;
static struct nx_pool *pool;

/* ------------------------------------------------------------------ a data path with two profiles */

static void run_sql(duckdb_connection connection, const char *format, ...)
{
    char sql[4096];
    duckdb_result result;
    va_list args;

    va_start(args, format);
    vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    if (duckdb_query(connection, sql, &result) != DuckDBSuccess)
        fail_msg("%s: %s", sql, duckdb_result_error(&result));
    duckdb_destroy_result(&result);
}

/* Publishes a profile of two small tables as an ingestion does: whole, by one rename. */
static void make_profile(const char *name, int rows, const char *label)
{
    duckdb_database database;
    duckdb_connection connection;
    struct nx_ingest ingest;
    struct nx_error error;

    assert_int_equal(nx_ingest_begin(&store, name, true, &ingest, &error), NX_OK);
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    run_sql(connection, "COPY (SELECT range::BIGINT AS id, '%s' || range AS name FROM range(%d)) TO '%s/Item.parquet'",
            label, rows, ingest.dir_path);
    run_sql(connection, "COPY (SELECT range::BIGINT AS id FROM range(5)) TO '%s/Other.parquet'", ingest.dir_path);
    run_sql(connection, "COPY (SELECT '%s' AS secret) TO '%s/Secret_0.parquet'", "part 0", ingest.dir_path);
    run_sql(connection, "COPY (SELECT '%s' AS secret) TO '%s/Secret_1.parquet'", "part 1", ingest.dir_path);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    assert_int_equal(nx_ingest_commit(&ingest, &error), NX_OK);
}

static void write_file(const char *name, const char *content)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static int set_up(void **state)
{
    struct nx_pool_options options = {0};
    struct nx_error error;

    (void)state;
    assert_non_null(mkdtemp(dir));
    setenv("NX_SECRET", SECRET, 1);
    assert_int_equal(nx_store_open(dir, true, &store, &error), NX_OK);
    make_profile("mine", 10, "n");
    make_profile("other", 3, SECRET);
    write_file("secret.txt", SECRET);
    write_file("secret.csv", "a\n" SECRET "\n");
    pool = nx_pool_new(&store, &options);
    return 0;
}

static int tear_down(void **state)
{
    char command[128];

    (void)state;
    nx_pool_free(pool);
    nx_store_close(&store);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}

static struct nx_query query_of(const char *sql)
{
    return (struct nx_query){.profile = "mine",
                             .sql = sql,
                             .format = NX_FORMAT_JSON,
                             .max_rows = NX_DEFAULT_MAX_ROWS,
                             .max_bytes = NX_DEFAULT_MAX_BYTES,
                             .timeout_ms = 10000,
                             .cancel_fd = -1};
}

static struct nx_answer ask(const char *sql)
{
    struct nx_query query = query_of(sql);
    struct nx_answer answer;

    nx_pool_query(pool, &query, &answer);
    return answer;
}

/* ------------------------------------------------------------------ lists of statements */

typedef void each_statement(const char *sql);

/* Puts the data path and line ends into a line of the list. */
static char *expand(const char *line)
{
    struct nx_text text = {0};

    for (; *line; line++) {
        if (strncmp(line, "@DIR@", 5) == 0) {
            nx_text_puts(&text, dir);
            line += 4;
        } else if (line[0] == '\\' && line[1] == 'n') {
            nx_text_puts(&text, "\n");
            line++;
        } else {
            nx_text_append(&text, line, 1);
        }
    }
    return text.data;
}

static int for_each(const char *file, each_statement *what)
{
    char path[512], line[4096];
    FILE *list;
    int count = 0;

    snprintf(path, sizeof(path), NX_SOURCE_DIR "/tests/query/%s", file);
    list = fopen(path, "r");
    assert_non_null(list);
    while (fgets(line, sizeof(line), list)) {
        char *sql;

        line[strcspn(line, "\n")] = '\0';
        /* a comment that holds a statement has a line end in it */
        if (!line[0] || (strncmp(line, "--", 2) == 0 && !strstr(line, "\\n")))
            continue;
        sql = expand(line);
        what(sql);
        free(sql);
        count++;
    }
    fclose(list);
    return count;
}

/* How many files the data path holds: nothing may come or go. */
static int count_files(void)
{
    char command[128], line[64] = "";
    FILE *pipe;

    snprintf(command, sizeof(command), "find %s | wc -l", dir);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof(line), pipe));
    pclose(pipe);
    return atoi(line);
}

static void must_be_harmless(const char *sql)
{
    int before = count_files();
    struct nx_answer answer = ask(sql);

    if (answer.code == NX_QUERY_OK)
        fail_msg("answered: %s -> %.200s", sql, answer.body);
    if (answer.code == NX_QUERY_FAILED || answer.code == NX_QUERY_TIMEOUT || answer.code == NX_QUERY_OUT_OF_MEMORY)
        fail_msg("not refused in order (%s): %s -> %s", nx_query_code_name(answer.code), sql, answer.message);
    assert_non_null(answer.message);
    if (strstr(answer.message, SECRET))
        fail_msg("leaks: %s -> %s", sql, answer.message);
    assert_int_equal(count_files(), before);
    nx_answer_free(&answer);
}

static void hostile_statements_are_refused(void **state)
{
    struct nx_answer answer;
    int count;

    (void)state;
    count = for_each("hostile.sql", must_be_harmless);
    print_message("%d hostile statements\n", count);
    assert_true(count >= 150);
    answer = ask("SELECT count(*) AS n FROM Item"); /* and the worker is as it was */
    assert_int_equal(answer.code, NX_QUERY_OK);
    assert_non_null(strstr(answer.body, "{\"n\":10}"));
    nx_answer_free(&answer);
}

static void must_answer(const char *sql)
{
    struct nx_answer answer = ask(sql);
    json_t *json;

    if (answer.code != NX_QUERY_OK)
        fail_msg("%s -> %s: %s", sql, nx_query_code_name(answer.code), answer.message);
    json = json_loadb(answer.body, answer.size, JSON_DECODE_INT_AS_REAL, NULL);
    if (!json)
        fail_msg("not JSON: %s -> %.300s", sql, answer.body);
    assert_true(json_is_array(json_object_get(json, "columns")));
    assert_int_equal(json_array_size(json_object_get(json, "data")), answer.rows);
    json_decref(json);
    nx_answer_free(&answer);
}

/* A name that the engine does not have would be a slip, and one that stands twice an oversight. */
static void every_allowed_function_is_the_engines(void **state)
{
    static const char *const allowed[] = {
#define NX_FUNCTION(name) name,
#include "query/functions.def"
#undef NX_FUNCTION
    };
    duckdb_database database;
    duckdb_connection connection;
    duckdb_result result;
    char *known, name[80];

    (void)state;
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    assert_int_equal(duckdb_query(connection,
                                  "SELECT ' ' || string_agg(DISTINCT lower(function_name), ' ') || ' ' FROM duckdb_functions()",
                                  &result),
                     DuckDBSuccess);
    known = duckdb_value_varchar(&result, 0, 0);
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(allowed[i], allowed[j]) == 0)
                fail_msg("%s stands twice in functions.def", allowed[i]);
        snprintf(name, sizeof(name), " %s ", allowed[i]);
        if (!strstr(known, name) && strcmp(allowed[i], "->") != 0) /* an arrow is no function there */
            fail_msg("the engine has no function %s", allowed[i]);
    }
    duckdb_free(known);
    duckdb_destroy_result(&result);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
}

static void good_queries_are_answered(void **state)
{
    int count;

    (void)state;
    count = for_each("good.sql", must_answer);
    print_message("%d good queries\n", count);
    assert_true(count >= 60);
}

/* ------------------------------------------------------------------ answers */

static void expect_body(const char *sql, const char *part)
{
    struct nx_answer answer = ask(sql);

    assert_int_equal(answer.code, NX_QUERY_OK);
    if (!strstr(answer.body, part))
        fail_msg("%s: no %s in %s", sql, part, answer.body);
    nx_answer_free(&answer);
}

static void numbers_keep_their_digits(void **state)
{
    (void)state;
    expect_body("SELECT 9007199254740993::BIGINT AS x", "{\"x\":9007199254740993}");
    expect_body("SELECT sum(x) AS x FROM (SELECT 9223372036854775807::BIGINT AS x FROM range(3))",
                "{\"x\":27670116110564327421}");
    expect_body("SELECT (-170141183460469231731687303715884105727)::HUGEINT AS x",
                "{\"x\":-170141183460469231731687303715884105727}");
    expect_body("SELECT -0.05::DECIMAL(9,2) AS x", "{\"x\":-0.05}");
    expect_body("SELECT 0.1::DOUBLE AS x", "{\"x\":0.1}");
    expect_body("SELECT 3.6351609e-05::DOUBLE AS x", "{\"x\":3.6351609e-05}");
    expect_body("SELECT 'NaN'::DOUBLE AS x", "{\"x\":null}");
    expect_body("SELECT '-inf'::DOUBLE AS x", "{\"x\":null}");
    expect_body("SELECT id, id FROM Item LIMIT 1", "{\"id\":0,\"id_1\":0}");
    expect_body("SELECT 'a\"b' || chr(10) AS x", "{\"x\":\"a\\\"b\\n\"}");
    expect_body("SELECT [1, NULL] AS x, {'a': 'b'} AS y", "{\"x\":[1,null],\"y\":{\"a\":\"b\"}}");
    expect_body("SELECT DATE '2020-01-02' AS x", "{\"x\":\"2020-01-02\"}");
    expect_body("SELECT '-infinity'::DATE AS x, 'infinity'::TIMESTAMP AS y, 'infinity'::TIMESTAMPTZ AS z",
                "{\"x\":\"-infinity\",\"y\":\"infinity\",\"z\":\"infinity\"}");
    expect_body("SELECT '-infinity'::TIMESTAMP_S AS x, 'infinity'::TIMESTAMP_MS AS y, '-infinity'::TIMESTAMP_NS AS z",
                "{\"x\":\"-infinity\",\"y\":\"infinity\",\"z\":\"-infinity\"}");
    expect_body("SELECT '1969-12-31 23:59:59.999999999'::TIMESTAMP_NS AS x", "\"1969-12-31 23:59:59.999999999\"");
    expect_body("SELECT '1969-12-31 23:59:58.75'::TIMESTAMP_MS AS x", "\"1969-12-31 23:59:58.750000\"");
    expect_body("SELECT '1969-12-31 23:59:58'::TIMESTAMP_S AS x", "\"1969-12-31 23:59:58\"");
    expect_body("SELECT '2020-01-02 03:04:05+00'::TIMESTAMPTZ AS x", "\"2020-01-02 03:04:05+00\"");
    expect_body("SELECT to_microseconds(-9223372036854775808) AS x", "{\"x\":\"-2562047788:00:54.775808\"}");
    expect_body("SELECT 1 AS a, 2 AS a_1, 3 AS a, 4 AS a", "{\"a\":1,\"a_1\":2,\"a_2\":3,\"a_3\":4}");
    expect_body("SELECT count(*) AS n FROM Secret", "{\"n\":2}"); /* two parts, one table */
}

static void formats_are_what_they_say(void **state)
{
    struct nx_query query = query_of("SELECT id, CASE WHEN id = 1 THEN 'a,\"b|' END AS t FROM range(2) r(id) ORDER BY id");
    static const struct {
        enum nx_format format;
        const char *body;
    } cases[] = {
        {NX_FORMAT_JSONL, "{\"id\":0,\"t\":null}\n{\"id\":1,\"t\":\"a,\\\"b|\"}\n"},
        {NX_FORMAT_CSV, "id,t\n0,\n1,\"a,\"\"b|\"\n"},
        {NX_FORMAT_MARKDOWN, "| id | t |\n| ---: | --- |\n| 0 | NULL |\n| 1 | a,\"b\\| |\n"},
        {NX_FORMAT_TABLE, "id  t\n--  -----\n 0  NULL\n 1  a,\"b|\n(2 rows)\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct nx_answer answer;

        query.format = cases[i].format;
        nx_pool_query(pool, &query, &answer);
        assert_int_equal(answer.code, NX_QUERY_OK);
        assert_string_equal(answer.body, cases[i].body);
        nx_answer_free(&answer);
    }
}

static void rows_and_bytes_are_limited(void **state)
{
    struct nx_query query = query_of("SELECT * FROM range(1000000)");
    struct nx_answer answer;

    (void)state;
    query.max_rows = 7;
    nx_pool_query(pool, &query, &answer);
    assert_int_equal(answer.code, NX_QUERY_OK);
    assert_true(answer.truncated);
    assert_int_equal(answer.rows, 7);
    assert_non_null(strstr(answer.body, "\"rowCount\":7,\"truncated\":true"));
    nx_answer_free(&answer);
    query.max_rows = 1000000;
    query.max_bytes = 5000;
    nx_pool_query(pool, &query, &answer);
    assert_true(answer.truncated);
    assert_true(answer.size < 6000);
    nx_answer_free(&answer);
    query.max_rows = 0;
    nx_pool_query(pool, &query, &answer);
    assert_int_equal(answer.rows, 0);
    assert_true(answer.truncated);
    nx_answer_free(&answer);
}

/* A row can be larger than any answer may be: it is left out, not delivered whole. */
static void a_large_row_is_left_out(void **state)
{
    (void)state;
    for (int format = NX_FORMAT_JSON; format <= NX_FORMAT_TABLE; format++) {
        struct nx_query query = query_of("SELECT repeat('x', 1 + range * 100000) AS t FROM range(3)");
        struct nx_answer answer;

        query.format = (enum nx_format)format;
        query.max_bytes = 5000;
        nx_pool_query(pool, &query, &answer);
        assert_int_equal(answer.code, NX_QUERY_OK);
        assert_true(answer.truncated);
        assert_int_equal(answer.rows, 1);
        assert_true(answer.size < 5200);
        nx_answer_free(&answer);
    }
}

static void many_equal_columns_take_no_longer(void **state)
{
    struct nx_text sql = {0};
    struct nx_answer answer;

    (void)state;
    nx_text_puts(&sql, "SELECT 1 AS a");
    for (int i = 1; i < 20000; i++)
        nx_text_puts(&sql, ", 1 AS a");
    answer = ask(sql.data);
    assert_int_equal(answer.code, NX_QUERY_OK);
    assert_non_null(strstr(answer.body, "\"a_19999\":1}"));
    nx_answer_free(&answer);
    nx_text_free(&sql);
}

static void failures_say_what_to_do(void **state)
{
    struct nx_answer answer = ask("SELECT * FROM Itme");
    struct nx_query query = query_of("SELECT 1");

    (void)state;
    assert_int_equal(answer.code, NX_QUERY_NO_TABLE);
    assert_non_null(strstr(answer.hint, "Item"));
    nx_answer_free(&answer);
    answer = ask("SELECT * FROM CpuUsage");
    assert_int_equal(answer.code, NX_QUERY_NO_TABLE);
    assert_non_null(strstr(answer.hint, "NEURON_RT_INSPECT_CPU_UTIL=1"));
    nx_answer_free(&answer);
    answer = ask("SELECT * FROM assemblyinstruction");
    assert_int_equal(answer.code, NX_QUERY_NO_TABLE);
    assert_non_null(strstr(answer.hint, "compiler_pc"));
    assert_null(strstr(answer.hint, "without rows"));
    nx_answer_free(&answer);
    answer = ask("SELECT * FROM DmaPacketAggregated");
    assert_int_equal(answer.code, NX_QUERY_NO_TABLE);
    assert_non_null(strstr(answer.hint, "without rows is not stored"));
    assert_non_null(strstr(answer.hint, "NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1"));
    nx_answer_free(&answer);
    answer = ask("SELECT nmae FROM Item");
    assert_int_equal(answer.code, NX_QUERY_SQL_ERROR);
    assert_non_null(strstr(answer.message, "name")); /* the engine's suggestion */
    nx_answer_free(&answer);
    answer = ask("SELEC 1");
    assert_int_equal(answer.code, NX_QUERY_SQL_ERROR);
    assert_non_null(strstr(answer.message, "syntax error"));
    nx_answer_free(&answer);
    answer = ask("/* x */ copy Item to 1"); /* a wrong syntax of what is refused in any case */
    assert_int_equal(answer.code, NX_QUERY_NOT_ALLOWED);
    nx_answer_free(&answer);
    answer = ask("SELECT ?");
    assert_int_equal(answer.code, NX_QUERY_SQL_ERROR);
    nx_answer_free(&answer);
    answer = ask("");
    assert_int_not_equal(answer.code, NX_QUERY_OK);
    nx_answer_free(&answer);
    query.profile = "mien";
    nx_pool_query(pool, &query, &answer);
    assert_int_equal(answer.code, NX_QUERY_NO_PROFILE);
    assert_non_null(strstr(answer.hint, "mine"));
    nx_answer_free(&answer);
    query.profile = "../mine";
    nx_pool_query(pool, &query, &answer);
    assert_int_equal(answer.code, NX_QUERY_NO_PROFILE);
    nx_answer_free(&answer);
}

static void tables_are_listed(void **state)
{
    struct nx_answer answer;
    json_t *list;

    (void)state;
    nx_pool_tables(pool, "mine", 10000, -1, &answer);
    assert_int_equal(answer.code, NX_QUERY_OK);
    list = json_loads(answer.body, 0, NULL);
    assert_int_equal(json_array_size(list), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "name")), "Item");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "rows")), 10);
    json_decref(list);
    nx_answer_free(&answer);
}

/* ------------------------------------------------------------------ limits */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void must_time_out(const char *sql)
{
    struct nx_query query = query_of(sql);
    struct nx_answer answer;
    double start = seconds(), took;

    query.timeout_ms = 500;
    nx_pool_query(pool, &query, &answer);
    took = seconds() - start;
    if (answer.code != NX_QUERY_TIMEOUT)
        fail_msg("%s -> %s: %s", sql, nx_query_code_name(answer.code), answer.message ? answer.message : "");
    if (took > 4)
        fail_msg("%s took %.1f s", sql, took);
    nx_answer_free(&answer);
}

static void long_queries_are_stopped(void **state)
{
    struct nx_answer answer;

    (void)state;
    must_time_out("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7");
    must_time_out("WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t) SELECT max(x) FROM t");
    /* one call that looks at no interrupt, folded while the statement is prepared */
    must_time_out("SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))");
    answer = ask("SELECT 1 AS x");
    assert_int_equal(answer.code, NX_QUERY_OK);
    nx_answer_free(&answer);
}

static void memory_is_limited(void **state)
{
    static const char *const greedy[] = {
        "SELECT len(list(a.range * b.range)) FROM range(30000) a, range(30000) b",
        "SELECT list_sum(range(3000000000))",
        "SELECT repeat('x', 9000000000)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(greedy) / sizeof(greedy[0]); i++) {
        struct nx_answer answer = ask(greedy[i]);

        if (answer.code == NX_QUERY_OK || answer.code == NX_QUERY_FAILED)
            fail_msg("%s -> %s: %s", greedy[i], nx_query_code_name(answer.code),
                     answer.message ? answer.message : "answered");
        nx_answer_free(&answer);
    }
}

static char *nested(const char *open, const char *middle, const char *close, size_t depth)
{
    struct nx_text text = {0};

    nx_text_puts(&text, "SELECT ");
    for (size_t i = 0; i < depth; i++)
        nx_text_puts(&text, open);
    nx_text_puts(&text, middle);
    for (size_t i = 0; i < depth; i++)
        nx_text_puts(&text, close);
    return text.data;
}

static void absurd_statements_end_in_an_error(void **state)
{
    static const struct {
        const char *open, *middle, *close;
        size_t depth;
    } cases[] = {
        {"(", "1", ")", 20000},      {"(", "1", ")", 400000},         {"1+", "1", "", 50000},
        {"(SELECT ", "1", ")", 5000}, {"[", "1", "]", 20000},          {"NOT ", "true", "", 50000},
        {"abs(", "1", ")", 20000},   {"CASE WHEN true THEN ", "1", " END", 5000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *sql = nested(cases[i].open, cases[i].middle, cases[i].close, cases[i].depth);
        double start = seconds();
        struct nx_answer answer = ask(sql);

        if (answer.code == NX_QUERY_OK || answer.code == NX_QUERY_FAILED)
            fail_msg("%s x %zu -> %s: %s", cases[i].open, cases[i].depth, nx_query_code_name(answer.code),
                     answer.message ? answer.message : "answered");
        assert_true(seconds() - start < 12);
        nx_answer_free(&answer);
        free(sql);
    }
}

static void bad_text_is_refused(void **state)
{
    struct nx_answer answer = ask("SELECT '\xff\xfe'");

    (void)state;
    assert_int_equal(answer.code, NX_QUERY_SQL_ERROR);
    nx_answer_free(&answer);
}

/* ------------------------------------------------------------------ many at once */

static void *slow_query(void *opaque)
{
    struct nx_query query = query_of("SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7");
    struct nx_answer *answer = opaque;

    query.timeout_ms = 2000;
    nx_pool_query(pool, &query, answer);
    return NULL;
}

static void a_slow_query_blocks_nobody(void **state)
{
    struct nx_answer slow;
    pthread_t thread;
    double start;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, slow_query, &slow), 0);
    usleep(300000);
    start = seconds();
    for (int i = 0; i < 5; i++)
        must_answer("SELECT count(*) FROM Item");
    assert_true(seconds() - start < 1.5);
    pthread_join(thread, NULL);
    assert_int_equal(slow.code, NX_QUERY_TIMEOUT);
    nx_answer_free(&slow);
}

static void a_client_that_leaves_stops_its_query(void **state)
{
    struct nx_query query = query_of("SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))");
    struct nx_answer answer;
    double start = seconds();
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    close(pair[1]);
    query.cancel_fd = pair[0];
    nx_pool_query(pool, &query, &answer);
    assert_int_equal(answer.code, NX_QUERY_CANCELLED);
    assert_true(seconds() - start < 2);
    nx_answer_free(&answer);
    nx_pool_tables(pool, "mine", 10000, pair[0], &answer);
    assert_int_equal(answer.code, NX_QUERY_CANCELLED);
    nx_answer_free(&answer);
    close(pair[0]);
}

/* The workers of this process, as the kernel lists them; how many there are, 0 also where it does not. */
static int list_workers(pid_t *pids, int limit)
{
    char path[64], line[4096] = "", *next = line;
    FILE *children;
    int count = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    children = fopen(path, "r");
    if (!children)
        return 0;
    if (!fgets(line, sizeof(line), children))
        line[0] = '\0';
    fclose(children);
    for (long pid; count < limit && (pid = strtol(next, &next, 10)) > 0;)
        pids[count++] = (pid_t)pid;
    return count;
}

static int kill_workers(void)
{
    pid_t pids[64];
    int count = list_workers(pids, 64);

    for (int i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
    usleep(100000);
    return count;
}

/* As the kernel does when the machine runs out of memory: nobody who asks later should see it. */
static void a_killed_worker_is_replaced(void **state)
{
    (void)state;
    must_answer("SELECT count(*) FROM Item");
    if (!kill_workers())
        skip(); /* the kernel does not list children */
    must_answer("SELECT count(*) FROM Item");
}

/* An engine that has met an internal error answers nothing more: its worker must not be asked again. */
static void a_broken_engine_is_replaced(void **state)
{
    pid_t before[64], after[64];
    struct nx_answer answer;
    int count;

    (void)state;
    if (!kill_workers())
        skip();
    must_answer("SELECT count(*) FROM Item"); /* ends the dead ones of this profile */
    count = list_workers(before, 64);
    answer = ask("SELECT error('INTERNAL Error: as the engine says it')");
    assert_int_equal(answer.code, NX_QUERY_SQL_ERROR);
    nx_answer_free(&answer);
    assert_int_equal(list_workers(after, 64), count - 1);
    must_answer("SELECT count(*) FROM Item");
}

static volatile int replacing;

static void *replace_again_and_again(void *opaque)
{
    (void)opaque;
    for (int i = 0; replacing; i++)
        make_profile("changing", i % 2 ? 1000 : 2000, i % 2 ? "b" : "a");
    return NULL;
}

/* Each answer is of one generation: 1000 rows of b, or 2000 of a. */
static void a_replaced_profile_is_whole(void **state)
{
    pthread_t thread;
    int seen_a = 0, seen_b = 0;

    (void)state;
    make_profile("changing", 2000, "a");
    replacing = 1;
    assert_int_equal(pthread_create(&thread, NULL, replace_again_and_again, NULL), 0);
    for (int i = 0; i < 60; i++) {
        struct nx_query query = query_of("SELECT count(*) || min(name[1]) || max(name[1]) AS x FROM Item");
        struct nx_answer answer;

        query.profile = "changing";
        nx_pool_query(pool, &query, &answer);
        if (answer.code != NX_QUERY_OK)
            continue; /* replaced during each of its tries: an error is honest, a mixture is not */
        if (strstr(answer.body, "\"2000aa\""))
            seen_a++;
        else if (strstr(answer.body, "\"1000bb\""))
            seen_b++;
        else
            fail_msg("neither generation: %s", answer.body);
        nx_answer_free(&answer);
    }
    replacing = 0;
    pthread_join(thread, NULL);
    print_message("%d answers of the one generation, %d of the other\n", seen_a, seen_b);
    assert_true(seen_a + seen_b >= 40);
}

/* ------------------------------------------------------------------ copies in memory */

/* The rows without the time that they took; to be freed. */
static char *rows_of(const char *profile, const char *sql)
{
    struct nx_query query = query_of(sql);
    struct nx_answer answer;
    char *end;

    query.profile = profile;
    nx_pool_query(pool, &query, &answer);
    if (answer.code != NX_QUERY_OK)
        fail_msg("%s: %s", sql, answer.message);
    end = strstr(answer.body, "\"elapsedMs\"");
    assert_non_null(end);
    *end = '\0';
    free(answer.message);
    free(answer.hint);
    return answer.body;
}

/* As a worker answers that was never asked before: from the files. */
static char *fresh_rows_of(const char *profile, const char *sql)
{
    struct nx_pool_options options = {0};
    struct nx_pool *warm = pool;
    char *rows;

    pool = nx_pool_new(&store, &options);
    rows = rows_of(profile, sql);
    nx_pool_free(pool);
    pool = warm;
    return rows;
}

static void expect_rows(const char *profile, const char *sql, const char *part)
{
    char *rows = rows_of(profile, sql);

    if (!strstr(rows, part))
        fail_msg("%s of %s: no %s in %s", sql, profile, part, rows);
    free(rows);
}

/* Where its rows come from: the plan says. */
static bool is_copied(const char *profile, const char *table)
{
    char sql[128], *rows;
    bool copied;

    snprintf(sql, sizeof(sql), "EXPLAIN SELECT * FROM \"%s\"", table);
    rows = rows_of(profile, sql);
    copied = strstr(rows, "READ_PARQUET") == NULL;
    free(rows);
    return copied;
}

/* Asks until it is copied; a file that was just written is not, for a moment. */
static void warm_up(const char *profile, const char *table)
{
    for (int i = 0; !is_copied(profile, table); i++) {
        assert_in_range(i, 0, 100);
        usleep(20000);
    }
}

/* Writes one file of a profile in place, as another program may. */
static void write_table(const char *profile, const char *table, const char *select)
{
    duckdb_database database;
    duckdb_connection connection;
    char path[256], temp[256], bytes[1 << 16];
    FILE *from, *to;
    size_t size;

    snprintf(path, sizeof(path), "%s/profiles/global/%s@latest/%s.parquet", dir, profile, table);
    snprintf(temp, sizeof(temp), "%s/written.tmp", dir);
    assert_int_equal(duckdb_open(NULL, &database), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    run_sql(connection, "COPY (%s) TO '%s' (FORMAT parquet)", select, temp);
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    from = fopen(temp, "r");
    to = fopen(path, "w");
    assert_non_null(from);
    assert_non_null(to);
    while ((size = fread(bytes, 1, sizeof(bytes), from)))
        assert_int_equal(fwrite(bytes, 1, size, to), size);
    fclose(from);
    assert_int_equal(fclose(to), 0);
}

static void copies_answer_as_files_do(void **state)
{
    static const char *const statements[] = {
        "SELECT * FROM Item",
        "SELECT * FROM Item LIMIT 3 OFFSET 4",
        "SELECT Item FROM Item",
        "DESCRIBE Item",
        "SUMMARIZE Item",
        "SHOW TABLES",
        "SELECT id AS rowid, rowid + 1 FROM Item ORDER BY rowid DESC LIMIT 2",
        "SELECT COLUMNS('.*i.*') FROM Item",
        "SELECT typeof(COLUMNS(*)) FROM Item LIMIT 1",
        "FROM main.Item i JOIN item ON i.id = item.id SELECT max(i.t), min(item.d), count(item.l)",
    };

    (void)state;
    make_profile("copied", 10, "n");
    write_table("copied", "Item", "SELECT range AS id, 'n' || range AS name, if(range = 3, NULL, range / 7) AS d, [range, NULL] AS l, "
                "{'a': range, 'b': 'x'} AS s, TIMESTAMP '2026-01-02' AS t, range::UTINYINT AS u, '{\"a\":1}'::JSON AS j FROM range(20)");
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        char *fresh = fresh_rows_of("copied", statements[i]), *rows;

        warm_up("copied", "Item");
        rows = rows_of("copied", statements[i]);
        assert_string_equal(rows, fresh);
        free(rows);
        free(fresh);
        if (strstr(statements[i], "rowid")) { /* its worker reads the files from now on: take another one */
            assert_false(is_copied("copied", "Item"));
            kill_workers();
        }
    }
}

/* The engine's own name for a row's place, which no file has. */
static void copies_have_no_more_columns(void **state)
{
    (void)state;
    make_profile("copied", 10, "n");
    warm_up("copied", "Other");
    for (int i = 0; i < 2; i++) {
        struct nx_query query = query_of("SELECT RowId FROM Other");
        struct nx_answer answer;

        query.profile = "copied";
        nx_pool_query(pool, &query, &answer);
        assert_int_equal(answer.code, NX_QUERY_SQL_ERROR);
        nx_answer_free(&answer);
    }
}

static void a_replaced_profile_leaves_no_copy(void **state)
{
    (void)state;
    make_profile("copied", 10, "a");
    make_profile("beside", 7, "b");
    for (int i = 1; i <= 4; i++) {
        char want[64];

        warm_up("copied", "Item");
        warm_up("beside", "Item");
        make_profile("copied", 10 * i, "a");
        snprintf(want, sizeof(want), "\"n\":%d,\"least\":\"a0\"", 10 * i);
        expect_rows("copied", "SELECT count(*) AS n, min(name) AS least FROM Item", want);
        expect_rows("beside", "SELECT count(*) AS n, min(name) AS least FROM Item", "\"n\":7,\"least\":\"b0\"");
    }
}

static void a_changed_file_leaves_no_copy(void **state)
{
    (void)state;
    make_profile("copied", 10, "a");
    warm_up("copied", "Item");
    expect_rows("copied", "SELECT max(name) AS x FROM Item", "\"a9\"");
    write_table("copied", "Item", "SELECT range::BIGINT AS id, 'c' || range AS name FROM range(10)");
    expect_rows("copied", "SELECT max(name) AS x FROM Item", "\"c9\"");
    assert_false(is_copied("copied", "Item"));
}

static void large_tables_are_not_copied(void **state)
{
    static const char *const selects[] = {
        "SELECT range AS id FROM range(20001)",
        /* a file of kilobytes, and in memory more than there may be */
        "SELECT range AS id, repeat('x', 20000) AS name FROM range(4000)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(selects) / sizeof(selects[0]); i++) {
        make_profile("copied", 10, "a");
        write_table("copied", "Item", selects[i]);
        warm_up("copied", "Other"); /* enough time */
        for (int n = 0; n < 3; n++)
            assert_false(is_copied("copied", "Item"));
        assert_true(is_copied("copied", "Other"));
        expect_rows("copied", "SELECT count(*) >= 4000 AS x FROM Item", "true");
    }
}

static void a_damaged_file_spoils_no_other(void **state)
{
    struct nx_query query = query_of("SELECT * FROM Other");
    struct nx_answer answer;

    (void)state;
    make_profile("copied", 10, "a");
    write_file("profiles/global/copied@latest/Other.parquet", "PAR1 this is none");
    query.profile = "copied";
    nx_pool_query(pool, &query, &answer);
    assert_int_equal(answer.code, NX_QUERY_FAILED);
    assert_non_null(strstr(answer.message, "the table Other cannot be read"));
    assert_non_null(strstr(answer.hint, "ingest"));
    nx_answer_free(&answer);
    expect_rows("copied", "SELECT count(*) AS n FROM Item", "\"n\":10");
}

static void warm_answers_are_quick(void **state)
{
    double start, best = 1;

    (void)state;
    for (int i = 0; i < 20; i++) {
        start = seconds();
        must_answer("SELECT count(*) FROM Item");
        if (seconds() - start < best)
            best = seconds() - start;
    }
    print_message("best of 20: %.2f ms\n", best * 1e3);
    assert_true(best < 0.05);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_queries_are_answered),
        cmocka_unit_test(every_allowed_function_is_the_engines),
        cmocka_unit_test(hostile_statements_are_refused),
        cmocka_unit_test(numbers_keep_their_digits),
        cmocka_unit_test(formats_are_what_they_say),
        cmocka_unit_test(rows_and_bytes_are_limited),
        cmocka_unit_test(a_large_row_is_left_out),
        cmocka_unit_test(many_equal_columns_take_no_longer),
        cmocka_unit_test(failures_say_what_to_do),
        cmocka_unit_test(tables_are_listed),
        cmocka_unit_test(long_queries_are_stopped),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(absurd_statements_end_in_an_error),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(a_slow_query_blocks_nobody),
        cmocka_unit_test(a_client_that_leaves_stops_its_query),
        cmocka_unit_test(a_killed_worker_is_replaced),
        cmocka_unit_test(a_broken_engine_is_replaced),
        cmocka_unit_test(a_replaced_profile_is_whole),
        cmocka_unit_test(copies_answer_as_files_do),
        cmocka_unit_test(copies_have_no_more_columns),
        cmocka_unit_test(a_replaced_profile_leaves_no_copy),
        cmocka_unit_test(a_changed_file_leaves_no_copy),
        cmocka_unit_test(large_tables_are_not_copied),
        cmocka_unit_test(a_damaged_file_spoils_no_other),
        cmocka_unit_test(warm_answers_are_quick),
    };

    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return nx_worker_main(3);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
