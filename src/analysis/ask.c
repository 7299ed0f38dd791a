#include "analysis/ask.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "tables/schema.h"

#define MAX_ROWS 100000 /* of one statement: they aggregate */

static const char window_line[] = "WITH win AS (", engine_line[] = "chosen AS (";

/* ------------------------------------------------------------------ the text of a statement */

static const char *statement_text(const char *name)
{
    for (size_t i = 0; i < nx_statement_count; i++)
        if (strcmp(nx_statements[i].name, name) == 0)
            return nx_statements[i].text;
    return NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* What follows a comment that begins here; `p` itself if none does. */
static const char *after_comment(const char *p)
{
    const char *end = NULL;

    if (strncmp(p, "--", 2) == 0)
        end = strchr(p, '\n');
    else if (strncmp(p, "/*", 2) == 0 && (end = strstr(p, "*/")))
        end += 2;
    else
        return p;
    return end ? end : p + strlen(p);
}

/* Whether the statement names the table, comments aside. */
static bool mentions(const char *sql, const char *table)
{
    size_t size = strlen(table);

    for (const char *p = sql; *p;) {
        const char *after = after_comment(p);

        if (after != p) {
            p = after;
            continue;
        }
        if (strncmp(p, table, size) == 0 && !is_word(p[size]) && (p == sql || !is_word(p[-1])))
            return true;
        p++;
    }
    return false;
}

static const char *sql_type(enum nx_column_type type)
{
    switch (type) {
    case NX_TYPE_INT64:
        return "BIGINT";
    case NX_TYPE_INT32:
        return "INTEGER";
    case NX_TYPE_DOUBLE:
        return "DOUBLE";
    case NX_TYPE_BOOL:
        return "BOOLEAN";
    case NX_TYPE_TEXT:
    case NX_TYPE_ARRAY:
        break;
    }
    return "VARCHAR";
}

static void put_empty_table(struct nx_text *out, const struct nx_table_schema *table)
{
    nx_text_printf(out, "%s AS (SELECT", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        nx_text_printf(out, "%s NULL::%s AS %s", i ? "," : "", sql_type(table->columns[i].type),
                       table->columns[i].name);
    nx_text_puts(out, " WHERE false),\n");
}

/* Appends the tables that the statement wants and the profile lacks, as common table expressions without
 * rows. */
static void put_absent(struct nx_inquiry *inquiry, const char *sql, struct nx_text *out)
{
    for (size_t t = 0; t < nx_schema_count; t++) {
        const char *name = nx_schema[t].name;

        if (json_object_get(inquiry->tables, name) || !mentions(sql, name))
            continue;
        put_empty_table(out, &nx_schema[t]);
        json_object_set_new(inquiry->absent, name, json_true());
    }
}

/* Appends `sql`, with another engine where it chooses one. */
static void put_choosing(const char *sql, const char *engine, struct nx_text *out)
{
    const char *line = engine ? strstr(sql, engine_line) : NULL;

    if (line) {
        nx_text_append(out, sql, (size_t)(line - sql));
        nx_text_printf(out, "chosen AS (SELECT '%s' AS name),", engine);
        sql = strchr(line, '\n');
    }
    nx_text_puts(out, sql);
}

/* The statement as it is run. */
static void compose(struct nx_inquiry *inquiry, const char *sql, const char *engine, struct nx_text *out)
{
    const char *line = strstr(sql, window_line), *rest;
    struct nx_text empty = {0};

    put_absent(inquiry, sql, &empty);
    if (line && inquiry->has_window) {
        rest = strchr(line, '\n');
        nx_text_append(out, sql, (size_t)(line - sql));
        nx_text_printf(out, "WITH %swin AS (SELECT %lld AS t0, %lld AS t1),", nx_text_string(&empty),
                       (long long)inquiry->t0, (long long)inquiry->t1);
        put_choosing(rest, engine, out);
    } else if (empty.size) { /* no WITH of its own: the list loses its last comma */
        rest = after_comment(sql);
        nx_text_append(out, sql, (size_t)(rest - sql));
        nx_text_puts(out, "\nWITH ");
        nx_text_append(out, empty.data, empty.size - 2);
        nx_text_puts(out, rest);
    } else {
        nx_text_puts(out, sql);
    }
    nx_text_free(&empty);
}

/* ------------------------------------------------------------------ asking */

/* Takes the answer over. */
static void fail(struct nx_inquiry *inquiry, const char *name, struct nx_answer *answer)
{
    const char *message = answer->message ? answer->message : nx_query_code_name(answer->code);

    json_object_set_new(inquiry->failed, name, json_string(message));
    switch (answer->code) {
    case NX_QUERY_NO_PROFILE:
    case NX_QUERY_CANCELLED:
    case NX_QUERY_BUSY:
    case NX_QUERY_FAILED:
        inquiry->stopped = true;
        break;
    default:
        break; /* this statement's own: others may have an answer */
    }
    if (inquiry->failure.code == NX_QUERY_OK) {
        inquiry->failure = *answer;
        *answer = (struct nx_answer){0};
    }
    nx_answer_free(answer);
}

static json_t *take_rows(struct nx_inquiry *inquiry, const char *name, struct nx_answer *answer)
{
    json_t *document = answer->code == NX_QUERY_OK ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    json_t *rows = json_incref(json_object_get(document, "data"));

    json_decref(document);
    if (answer->code == NX_QUERY_OK && (!rows || answer->truncated)) {
        answer->code = NX_QUERY_FAILED;
        free(answer->message);
        answer->message = nx_strdup("the answer of a statement cannot be read");
    }
    if (answer->code != NX_QUERY_OK) {
        json_decref(rows);
        rows = NULL;
        fail(inquiry, name, answer);
    }
    nx_answer_free(answer);
    return rows ? rows : json_array();
}

char *nx_ask_key(const char *name, const char *engine)
{
    char *key = NULL;

    if (!engine || asprintf(&key, "%s:%s", name, engine) < 0)
        key = nx_strdup(name);
    return key;
}

static struct nx_query query_of(const struct nx_inquiry *inquiry, const char *sql)
{
    return (struct nx_query){.profile = inquiry->profile,
                             .sql = sql,
                             .format = NX_FORMAT_JSON,
                             .max_rows = MAX_ROWS,
                             .max_bytes = NX_DEFAULT_MAX_BYTES,
                             .timeout_ms = inquiry->timeout_ms,
                             .cancel_fd = inquiry->cancel_fd};
}

/* Keeps the answer and the SQL of a statement; takes the answer over. */
static const json_t *keep(struct nx_inquiry *inquiry, const char *key, const char *sql,
                          struct nx_answer *answer)
{
    json_t *rows = take_rows(inquiry, key, answer);

    json_object_set_new(inquiry->sql, key, json_string(sql));
    json_object_set_new(inquiry->answers, key, rows);
    return rows;
}

/* A statement under way: the thread touches nothing of the inquiry. */
struct nx_ahead {
    pthread_t thread;
    struct nx_pool *pool;
    const char *name;
    struct nx_text sql;
    struct nx_query query;
    struct nx_answer answer;
};

static void *run_ahead(void *opaque)
{
    struct nx_ahead *ahead = opaque;

    nx_pool_query(ahead->pool, &ahead->query, &ahead->answer);
    return NULL;
}

void nx_ask_ahead(struct nx_inquiry *inquiry, const char *name)
{
    struct nx_ahead *ahead;

    if (inquiry->ahead || inquiry->stopped || json_object_get(inquiry->answers, name))
        return;
    ahead = nx_zalloc(1, sizeof(*ahead));
    ahead->pool = inquiry->pool;
    ahead->name = name;
    compose(inquiry, statement_text(name), NULL, &ahead->sql);
    ahead->query = query_of(inquiry, nx_text_string(&ahead->sql));
    if (pthread_create(&ahead->thread, NULL, run_ahead, ahead) == 0) {
        inquiry->ahead = ahead;
    } else { /* then it is asked when it is wanted */
        nx_text_free(&ahead->sql);
        free(ahead);
    }
}

/* Waits for the statement that was started ahead. */
static void take_ahead(struct nx_inquiry *inquiry)
{
    struct nx_ahead *ahead = inquiry->ahead;

    if (!ahead)
        return;
    inquiry->ahead = NULL;
    pthread_join(ahead->thread, NULL);
    keep(inquiry, ahead->name, nx_text_string(&ahead->sql), &ahead->answer);
    nx_text_free(&ahead->sql);
    free(ahead);
}

const json_t *nx_ask_about(struct nx_inquiry *inquiry, const char *name, const char *engine)
{
    char *key = nx_ask_key(name, engine);
    const json_t *rows;
    struct nx_text sql = {0};
    struct nx_answer answer;
    struct nx_query query;

    if (inquiry->ahead && strcmp(inquiry->ahead->name, key) == 0)
        take_ahead(inquiry);
    rows = json_object_get(inquiry->answers, key);
    if (!rows && inquiry->stopped) {
        json_object_set_new(inquiry->answers, key, json_array());
        rows = json_object_get(inquiry->answers, key);
    } else if (!rows) {
        compose(inquiry, statement_text(name), engine, &sql);
        query = query_of(inquiry, nx_text_string(&sql));
        nx_pool_query(inquiry->pool, &query, &answer);
        rows = keep(inquiry, key, query.sql, &answer);
        nx_text_free(&sql);
    }
    free(key);
    return rows;
}

const json_t *nx_ask(struct nx_inquiry *inquiry, const char *name)
{
    return nx_ask_about(inquiry, name, NULL);
}

bool nx_inquiry_start(struct nx_inquiry *inquiry)
{
    struct nx_answer answer;
    json_t *list = NULL;
    const json_t *table;
    size_t i;

    inquiry->answers = json_object();
    inquiry->sql = json_object();
    inquiry->absent = json_object();
    inquiry->failed = json_object();
    inquiry->tables = json_object();
    nx_pool_tables(inquiry->pool, inquiry->profile, inquiry->timeout_ms, inquiry->cancel_fd, &answer);
    if (answer.code != NX_QUERY_OK) {
        fail(inquiry, "listDbFiles", &answer);
        return false;
    }
    list = json_loadb(answer.body, answer.size, 0, NULL);
    json_array_foreach(list, i, table) json_object_set(
        inquiry->tables, json_string_value(json_object_get(table, "name")), json_object_get(table, "rows"));
    json_decref(list);
    nx_answer_free(&answer);
    return true;
}

void nx_inquiry_end(struct nx_inquiry *inquiry)
{
    take_ahead(inquiry);
    json_decref(inquiry->answers);
    json_decref(inquiry->sql);
    json_decref(inquiry->absent);
    json_decref(inquiry->failed);
    json_decref(inquiry->tables);
    nx_answer_free(&inquiry->failure);
}

bool nx_inquiry_has(const struct nx_inquiry *inquiry, const char *table)
{
    return json_integer_value(json_object_get(inquiry->tables, table)) > 0;
}

/* ------------------------------------------------------------------ rows */

double nx_number(const json_t *row, const char *column)
{
    const json_t *value = json_object_get(row, column);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

double nx_number_or_0(const json_t *row, const char *column)
{
    double number = nx_number(row, column);

    return isnan(number) ? 0 : number;
}

const char *nx_string(const json_t *row, const char *column)
{
    return json_string_value(json_object_get(row, column));
}
