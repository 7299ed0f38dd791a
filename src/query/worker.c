/*
 * The process that runs queries about one generation of one profile.
 *
 * It is given descriptors, never paths.  When it is ready to answer, it can
 * read those files and nothing else, and its database's configuration is
 * locked.  Whatever the SQL then does, the pool can kill it.
 */
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include <duckdb.h>

#include "base/memory.h"
#include "query/catalog.h"
#include "query/guard.h"
#include "query/protocol.h"
#include "query/query.h"
#include "query/render.h"
#include "query/sandbox.h"
#include "query/suggest.h"
#include "tables/absence.h"
#include "tables/schema.h"

#define SETUP_LIMIT ((size_t)1 << 20)
#define REQUEST_LIMIT ((size_t)8 << 20)
#define KEEP_MS 200   /* for a table's copy into memory: the next query waits meanwhile */
#define KEEP_TABLES 4 /* to be copied after one query */
#define KEPT_SHARE 64 /* of a worker's memory, for such copies */
#define TICK_MS 250 /* how often a running query's surroundings are looked at */

/* Interrupts the engine when a query's time is over. */
struct watchdog {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool armed, fired;
    struct timespec deadline; /* CLOCK_MONOTONIC */
    duckdb_connection connection;
    int fd; /* to the pool */
};

struct worker {
    int fd;
    struct nx_catalog_table *tables;
    size_t table_count;
    const char **names;
    bool *named; /* by the statement under way */
    duckdb_database database;
    duckdb_connection connection;
    struct watchdog watchdog;
    uint64_t memory;
};

/* ------------------------------------------------------------------ answers */

/* After an internal error the engine refuses every later query, and after a failed allocation it may be half done. */
static bool is_unusable(enum nx_query_code code, const char *message)
{
    return code == NX_QUERY_OUT_OF_MEMORY || (message && (strstr(message, "INTERNAL Error") ||
                                                         strstr(message, "FATAL Error") ||
                                                         strstr(message, "has been invalidated")));
}

static void answer(struct worker *w, enum nx_query_code code, const struct nx_rendered *rendered, const char *message,
                   const char *hint)
{
    struct nx_reply reply = {.code = code,
                             .unusable = is_unusable(code, message),
                             .truncated = rendered && rendered->truncated,
                             .rows = rendered ? rendered->rows : 0,
                             .body_size = rendered ? rendered->body.size : 0,
                             .message_size = message ? strlen(message) : 0,
                             .hint_size = hint ? strlen(hint) : 0,
                             .has_hint = hint != NULL};

    if (!nx_write_all(w->fd, &reply, sizeof(reply)) ||
        (rendered && !nx_write_all(w->fd, nx_text_string(&rendered->body), rendered->body.size)) ||
        (message && !nx_write_all(w->fd, message, reply.message_size)) ||
        (hint && !nx_write_all(w->fd, hint, reply.hint_size)))
        _exit(0); /* the pool is gone */
}

/* Why a profile can lack a table that the schema knows. */
static char *missing_table_hint(const struct worker *w, const char *name)
{
    const struct nx_table_schema *schema = nx_schema_find(name, true);
    char *hint = NULL;

    if (!schema)
        return nx_suggest(name, w->names, w->table_count);
    if (asprintf(&hint, "%s%s", schema->scope == NX_SCOPE_DEVICE ? "a table without rows is not stored: " : "",
                 nx_table_absence(schema)) < 0)
        return NULL;
    return hint;
}

static bool contains(const char *text, const char *part)
{
    return text && strcasestr(text, part);
}

/* What the engine says, sorted into the API's words. */
static enum nx_query_code code_of(const struct worker *w, const char *why)
{
    if (w->watchdog.fired || contains(why, "INTERRUPT Error"))
        return NX_QUERY_TIMEOUT;
    if (contains(why, "Out of Memory") || contains(why, "bad_alloc") || contains(why, "bad allocation") ||
        contains(why, "failed to allocate"))
        return NX_QUERY_OUT_OF_MEMORY;
    return NX_QUERY_SQL_ERROR;
}

static void engine_error(struct worker *w, const char *why, unsigned timeout_ms)
{
    enum nx_query_code code = code_of(w, why);
    char text[128];

    switch (code) {
    case NX_QUERY_TIMEOUT:
        snprintf(text, sizeof(text), "the query was stopped after its time limit of %.3g s", timeout_ms / 1000.0);
        answer(w, code, NULL, text, "make it narrower, or allow more time (timeoutMs, --timeout)");
        break;
    case NX_QUERY_OUT_OF_MEMORY:
        answer(w, code, NULL, "the query needs more memory than a query may use",
               "aggregate, or take fewer rows or columns");
        break;
    default:
        answer(w, code, NULL, why ? why : "the engine gave no reason", NULL);
        break;
    }
}

/* A file of the profile that the engine cannot read. */
static void table_error(struct worker *w, const char *table, const char *why, unsigned timeout_ms)
{
    char *text = NULL;

    if (code_of(w, why) != NX_QUERY_SQL_ERROR || asprintf(&text, "the table %s cannot be read: %s", table, why) < 0)
        engine_error(w, why, timeout_ms);
    else
        answer(w, NX_QUERY_FAILED, NULL, text, "its file may be damaged: ingest the profile again");
    free(text);
}

/* ------------------------------------------------------------------ the clock */

static bool is_over(const struct timespec *deadline)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

static struct timespec in_milliseconds(unsigned ms)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += ms / 1000;
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_nsec -= 1000000000;
        time.tv_sec++;
    }
    return time;
}

/*
 * While a query runs: interrupts it when its time is over, again and again, since it can be between two of its
 * interruptible parts; and ends the process when the pool has gone, which may have been killed.
 */
static void *watch(void *opaque)
{
    struct watchdog *dog = opaque;

    pthread_mutex_lock(&dog->lock);
    for (;;) {
        struct timespec tick;
        struct pollfd pool = {.fd = dog->fd, .events = 0};

        if (!dog->armed) {
            pthread_cond_wait(&dog->changed, &dog->lock);
            continue;
        }
        tick = dog->fired || is_over(&dog->deadline) ? in_milliseconds(20) : in_milliseconds(TICK_MS);
        if (!dog->fired && (dog->deadline.tv_sec < tick.tv_sec ||
                            (dog->deadline.tv_sec == tick.tv_sec && dog->deadline.tv_nsec < tick.tv_nsec)))
            tick = dog->deadline;
        pthread_cond_timedwait(&dog->changed, &dog->lock, &tick);
        if (poll(&pool, 1, 0) > 0 && pool.revents & (POLLHUP | POLLERR))
            _exit(0);
        if (dog->armed && is_over(&dog->deadline)) {
            dog->fired = true;
            duckdb_interrupt(dog->connection);
        }
    }
    return NULL;
}

static void arm(struct watchdog *dog, unsigned timeout_ms)
{
    pthread_mutex_lock(&dog->lock);
    dog->deadline = in_milliseconds(timeout_ms);
    dog->armed = true;
    dog->fired = false;
    pthread_cond_signal(&dog->changed);
    pthread_mutex_unlock(&dog->lock);
}

static void disarm(struct watchdog *dog)
{
    pthread_mutex_lock(&dog->lock);
    dog->armed = false;
    pthread_mutex_unlock(&dog->lock);
}

static void start_watchdog(struct worker *w)
{
    pthread_condattr_t attr;
    pthread_t thread;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->watchdog.lock, NULL);
    pthread_cond_init(&w->watchdog.changed, &attr);
    w->watchdog.connection = w->connection;
    w->watchdog.fd = w->fd;
    if (pthread_create(&thread, NULL, watch, &w->watchdog) == 0)
        pthread_detach(thread);
}

static double milliseconds_since(void *opaque)
{
    const struct timespec *start = opaque;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) * 1e3 + (double)(now.tv_nsec - start->tv_nsec) / 1e6;
}

/* ------------------------------------------------------------------ the database */

static bool run(struct worker *w, const char *sql)
{
    duckdb_result result;
    bool ok = duckdb_query(w->connection, sql, &result) == DuckDBSuccess;

    if (!ok)
        fprintf(stderr, "neuron-explorer: query worker: %s\n", duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    return ok;
}

/* The order matters: each step needs what a later one takes away. */
static bool lock_down(struct worker *w)
{
    struct nx_text sql = {0};
    bool ok;

    nx_text_puts(&sql, "SET allowed_paths=[");
    for (size_t t = 0; t < w->table_count; t++) {
        nx_text_puts(&sql, t ? "," : "");
        nx_catalog_files(&w->tables[t], &sql);
    }
    nx_text_puts(&sql, "]");
    ok = run(w, "SET autoinstall_known_extensions=false") && run(w, "SET autoload_known_extensions=false") &&
         run(w, "SET allow_community_extensions=false") && run(w, "SET allow_persistent_secrets=false") &&
         run(w, "SET temp_directory=''") && run(w, "SET TimeZone='UTC'") && run(w, "SET max_expression_depth=250") &&
         run(w, nx_text_string(&sql));
    nx_text_clear(&sql);
    nx_text_printf(&sql, "SET memory_limit='%lluB'", (unsigned long long)(w->memory / 2));
    ok = ok && run(w, nx_text_string(&sql)) && run(w, "SET enable_external_access=false") &&
         run(w, "SET lock_configuration=true");
    nx_text_free(&sql);
    return ok;
}

static bool open_database(struct worker *w)
{
    return duckdb_open(NULL, &w->database) == DuckDBSuccess &&
           duckdb_connect(w->database, &w->connection) == DuckDBSuccess && lock_down(w);
}

/* ------------------------------------------------------------------ one query */

/* The statement's syntax tree as JSON (heap), without binding anything; NULL: the engine failed, *why says how. */
static char *syntax_tree(struct worker *w, const char *sql, size_t *size, char **why)
{
    duckdb_prepared_statement statement = NULL;
    duckdb_result result = {0};
    char *tree = NULL;

    if (duckdb_prepare(w->connection, "SELECT json_serialize_sql(?::VARCHAR)", &statement) == DuckDBSuccess &&
        duckdb_bind_varchar(statement, 1, sql) == DuckDBSuccess &&
        duckdb_execute_prepared(statement, &result) == DuckDBSuccess) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);

        if (chunk && duckdb_data_chunk_get_size(chunk) == 1) {
            duckdb_string_t *text = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0));

            *size = duckdb_string_t_length(*text);
            tree = nx_alloc(*size + 1);
            memcpy(tree, duckdb_string_t_data(text), *size);
            tree[*size] = '\0';
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    if (!tree) {
        const char *text = duckdb_result_error(&result);

        *why = nx_strdup(text ? text : "the statement could not be read");
    }
    duckdb_destroy_result(&result);
    duckdb_destroy_prepare(&statement);
    return tree;
}

/* A syntax error is the engine's to explain: json_serialize_sql() passes its message on. */
static char *syntax_error(const char *tree, size_t size)
{
    json_t *json = json_loadb(tree, size, 0, NULL);
    const char *type = json_string_value(json_object_get(json, "error_type"));
    const char *message = json_string_value(json_object_get(json, "error_message"));
    char *text = NULL;

    if (json_is_true(json_object_get(json, "error")) && type && message && strcmp(type, "not implemented") != 0)
        text = nx_strdup(message);
    json_decref(json);
    return text;
}

/* What may be run of `sql` is appended to *vetted. False: refused, and answered. */
static bool vet(struct worker *w, const char *sql, unsigned timeout_ms, struct nx_text *vetted)
{
    char *reason = NULL, *missing = NULL, *why = NULL, *hint = NULL;
    static const char *const prefixes[] = {"", "EXPLAIN ", "EXPLAIN ANALYZE "};
    const char *rest;
    enum nx_guard_prefix prefix = nx_guard_split(sql, &rest);
    size_t size = 0;
    char *tree;
    bool ok = false;

    tree = syntax_tree(w, rest, &size, &why);
    if (!tree) {
        engine_error(w, why, timeout_ms);
    } else if ((reason = syntax_error(tree, size))) {
        answer(w, nx_guard_is_command(rest) ? NX_QUERY_NOT_ALLOWED : NX_QUERY_SQL_ERROR, NULL, reason, NULL);
    } else if (nx_guard_check(tree, size, w->names, w->table_count, w->named, &reason, &missing)) {
        nx_text_printf(vetted, "%s%s", prefixes[prefix], rest);
        ok = true;
    } else if (missing) {
        hint = missing_table_hint(w, missing);
        answer(w, NX_QUERY_NO_TABLE, NULL, reason, hint);
    } else {
        answer(w, NX_QUERY_NOT_ALLOWED, NULL, reason, NULL);
    }
    free(tree);
    free(reason);
    free(missing);
    free(why);
    free(hint);
    return ok;
}

static bool is_query(duckdb_statement_type type)
{
    return type == DUCKDB_STATEMENT_TYPE_SELECT || type == DUCKDB_STATEMENT_TYPE_EXPLAIN;
}

static void execute(struct worker *w, duckdb_prepared_statement statement, const struct nx_rendering *how,
                    unsigned timeout_ms, struct timespec *start)
{
    duckdb_pending_result pending = NULL;
    duckdb_result result = {0};
    struct nx_rendered rendered = {0};
    const char *why = NULL;
    bool ok = duckdb_pending_prepared_streaming(statement, &pending) == DuckDBSuccess;

    if (!ok)
        why = duckdb_pending_error(pending);
    else if (duckdb_execute_pending(pending, &result) != DuckDBSuccess)
        why = duckdb_result_error(&result), ok = false;
    if (ok) {
        nx_render(&result, how, milliseconds_since, start, &rendered);
        why = rendered.truncated ? NULL : duckdb_result_error(&result);
        ok = !why && !rendered.problem;
    }
    disarm(&w->watchdog);
    if (ok)
        answer(w, NX_QUERY_OK, &rendered, NULL, NULL);
    else if (rendered.problem)
        answer(w, NX_QUERY_SQL_ERROR, NULL, rendered.problem, NULL);
    else
        engine_error(w, why, timeout_ms);
    free(rendered.problem);
    nx_text_free(&rendered.body);
    duckdb_destroy_result(&result);
    duckdb_destroy_pending(&pending);
}

/* Prepares and runs a statement that has been vetted, or is the worker's own. */
static void run_statement(struct worker *w, const char *sql, const struct nx_rendering *how, unsigned timeout_ms,
                          struct timespec *start)
{
    duckdb_extracted_statements extracted = NULL;
    duckdb_prepared_statement statement = NULL;
    idx_t count = duckdb_extract_statements(w->connection, sql, &extracted);

    if (count == 0) {
        engine_error(w, duckdb_extract_statements_error(extracted), timeout_ms);
    } else if (count != 1) {
        answer(w, NX_QUERY_NOT_ALLOWED, NULL, "expected one statement", NULL);
    } else if (duckdb_prepare_extracted_statement(w->connection, extracted, 0, &statement) != DuckDBSuccess) {
        engine_error(w, duckdb_prepare_error(statement), timeout_ms);
    } else if (!is_query(duckdb_prepared_statement_type(statement))) {
        answer(w, NX_QUERY_NOT_ALLOWED, NULL, "only queries are answered", NULL);
    } else if (duckdb_nparams(statement)) {
        answer(w, NX_QUERY_SQL_ERROR, NULL, "the query has parameters ($1, ?), and there are no values for them", NULL);
    } else {
        execute(w, statement, how, timeout_ms, start);
    }
    duckdb_destroy_prepare(&statement);
    duckdb_destroy_extracted(&extracted);
}

/*
 * Has the engine know the tables that the statement names. Only a copy in memory has the engine's "rowid": a statement
 * that says the word gets views, and thus the same answer whatever came before it. False: answered.
 */
static bool show_tables(struct worker *w, const char *sql, unsigned timeout_ms)
{
    bool as_view = contains(sql, "rowid"), ok = true;
    char *why = NULL;

    for (size_t t = 0; t < w->table_count && ok; t++) {
        ok = !w->named[t] || nx_catalog_show(w->connection, &w->tables[t], as_view, &why);
        if (!ok)
            table_error(w, w->names[t], why, timeout_ms);
    }
    free(why);
    return ok;
}

/* The answer is given: what was asked for once may be asked for again. A few at a time, as the next query may wait. */
static void keep_tables(struct worker *w)
{
    unsigned some = KEEP_TABLES;

    for (size_t t = 0; t < w->table_count && some; t++) {
        if (!w->named[t])
            continue;
        arm(&w->watchdog, KEEP_MS);
        some -= nx_catalog_keep(w->connection, &w->tables[t], w->memory / KEPT_SHARE);
        disarm(&w->watchdog);
    }
}

/* Read only: what a statement may not do to the copies, it cannot do either. */
static void run_alone(struct worker *w, const char *sql, const struct nx_rendering *how, unsigned timeout_ms,
                      struct timespec *start)
{
    duckdb_result result;

    if (duckdb_query(w->connection, "BEGIN TRANSACTION READ ONLY", &result) == DuckDBSuccess)
        run_statement(w, sql, how, timeout_ms, start);
    else
        engine_error(w, duckdb_result_error(&result), timeout_ms);
    duckdb_destroy_result(&result);
    disarm(&w->watchdog);
    run(w, "ROLLBACK");
}

static void serve_query(struct worker *w, const json_t *request, const char *sql)
{
    struct nx_rendering how = {
        .format = (enum nx_format)json_integer_value(json_object_get(request, "format")),
        .max_rows = (uint64_t)json_integer_value(json_object_get(request, "max_rows")),
        .max_bytes = (uint64_t)json_integer_value(json_object_get(request, "max_bytes")),
        .width = (unsigned)json_integer_value(json_object_get(request, "width")),
    };
    unsigned timeout_ms = (unsigned)json_integer_value(json_object_get(request, "timeout_ms"));
    struct nx_text vetted = {0};
    struct timespec start;

    clock_gettime(CLOCK_MONOTONIC, &start);
    arm(&w->watchdog, timeout_ms);
    memset(w->named, 0, w->table_count * sizeof(*w->named));
    if (vet(w, sql, timeout_ms, &vetted) && show_tables(w, nx_text_string(&vetted), timeout_ms)) {
        run_alone(w, nx_text_string(&vetted), &how, timeout_ms, &start);
        keep_tables(w);
    }
    disarm(&w->watchdog);
    nx_text_free(&vetted);
}

/* ------------------------------------------------------------------ the list of tables */

static bool count_rows(struct worker *w, const struct nx_catalog_table *table, unsigned timeout_ms, int64_t *rows)
{
    struct nx_text sql = {0};
    duckdb_result result;
    bool ok;

    nx_text_puts(&sql, "SELECT count(*) FROM read_parquet([");
    nx_catalog_files(table, &sql);
    nx_text_puts(&sql, "])");
    ok = duckdb_query(w->connection, nx_text_string(&sql), &result) == DuckDBSuccess;
    nx_text_free(&sql);
    if (ok) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);

        ok = chunk != NULL;
        if (ok)
            *rows = ((int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0)))[0];
        duckdb_destroy_data_chunk(&chunk);
    } else {
        table_error(w, table->name, duckdb_result_error(&result), timeout_ms);
    }
    duckdb_destroy_result(&result);
    return ok;
}

static void list_tables(struct worker *w, unsigned timeout_ms)
{
    struct nx_rendered list = {0};

    nx_text_puts(&list.body, "[");
    for (size_t t = 0; t < w->table_count; t++) {
        const struct nx_catalog_table *table = &w->tables[t];
        int64_t rows = 0;

        if (!count_rows(w, table, timeout_ms, &rows)) {
            nx_text_free(&list.body);
            return;
        }
        nx_text_puts(&list.body, t ? ",{\"name\":" : "{\"name\":");
        nx_text_json_string(&list.body, table->name, strlen(table->name));
        nx_text_puts(&list.body, ",\"file\":");
        nx_text_json_string(&list.body, table->file, strlen(table->file));
        nx_text_printf(&list.body, ",\"rows\":%lld,\"bytes\":%llu}", (long long)rows,
                       (unsigned long long)table->bytes);
        list.rows++;
    }
    nx_text_puts(&list.body, "]");
    answer(w, NX_QUERY_OK, &list, NULL, NULL);
    nx_text_free(&list.body);
}

static void serve_tables(struct worker *w, const json_t *request)
{
    unsigned timeout_ms = (unsigned)json_integer_value(json_object_get(request, "timeout_ms"));

    arm(&w->watchdog, timeout_ms);
    list_tables(w, timeout_ms);
    disarm(&w->watchdog);
}

/* ------------------------------------------------------------------ life */

static bool read_setup(struct worker *w)
{
    size_t size, total = 0;
    char *text = nx_read_frame(w->fd, SETUP_LIMIT, &size);
    json_t *setup = text ? json_loadb(text, size, 0, NULL) : NULL;
    const json_t *tables = json_object_get(setup, "tables");
    int *fds;
    bool ok;

    free(text);
    w->memory = (uint64_t)json_integer_value(json_object_get(setup, "memory"));
    w->table_count = json_array_size(tables);
    w->tables = nx_zalloc(w->table_count, sizeof(*w->tables));
    w->names = nx_zalloc(w->table_count, sizeof(*w->names));
    w->named = nx_zalloc(w->table_count, sizeof(*w->named));
    for (size_t t = 0; t < w->table_count; t++) {
        const json_t *table = json_array_get(tables, t);

        w->tables[t].name = nx_strdup(json_string_value(json_object_get(table, "name")));
        w->tables[t].file = nx_strdup(json_string_value(json_object_get(table, "file")));
        w->tables[t].bytes = (uint64_t)json_integer_value(json_object_get(table, "bytes"));
        w->tables[t].part_count = (size_t)json_integer_value(json_object_get(table, "parts"));
        w->names[t] = w->tables[t].name;
        total += w->tables[t].part_count;
    }
    fds = nx_alloc(total * sizeof(*fds));
    ok = setup && nx_receive_fds(w->fd, fds, total);
    for (size_t t = 0, at = 0; t < w->table_count && ok; at += w->tables[t++].part_count)
        w->tables[t].fds = fds + at;
    json_decref(setup);
    if (ok)
        nx_sandbox_files(fds, total);
    return ok;
}

int nx_worker_main(int fd)
{
    struct worker w = {.fd = fd};
    char *text;
    size_t size;

    nx_render_init();
    if (!read_setup(&w) || !open_database(&w))
        return NX_WORKER_NOT_READY;
    nx_sandbox_memory(w.memory);
    start_watchdog(&w);
    while ((text = nx_read_frame(fd, REQUEST_LIMIT, &size))) {
        json_t *request = json_loadb(text, size, 0, NULL);
        const char *sql = json_string_value(json_object_get(request, "sql"));

        if (sql)
            serve_query(&w, request, sql);
        else
            serve_tables(&w, request);
        json_decref(request);
        free(text);
    }
    _exit(0); /* the watchdog may be looking at the connection: there is nothing left to tidy */
}
