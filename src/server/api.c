#include "server/api.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/analysis.h"
#include "analysis/check.h"
#include "base/memory.h"
#include "base/text.h"
#include "query/suggest.h"
#include "server/analyses.h"
#include "server/gate.h"
#include "tables/schema.h"

#define API "/api/v1"
#define TYPES "types: databaseExplorerQuery, tableSchema, listDbFiles, check, analyze, compare"
#define MAX_ROWS 10000000
#define MAX_TIMEOUT_MS 3600000

static void reply_text(struct nx_reply_document *reply, int status, struct nx_text *text)
{
    *reply = (struct nx_reply_document){.status = status, .body = text->data, .size = text->size};
    *text = (struct nx_text){0};
}

void nx_api_error(struct nx_reply_document *reply, int status, const char *code, const char *message, const char *hint)
{
    struct nx_text text = {0};

    nx_text_puts(&text, "{\"error\":{\"code\":");
    nx_text_json_string(&text, code, strlen(code));
    nx_text_puts(&text, ",\"message\":");
    nx_text_json_string(&text, message, strlen(message));
    nx_text_puts(&text, ",\"hint\":");
    if (hint)
        nx_text_json_string(&text, hint, strlen(hint));
    else
        nx_text_puts(&text, "null");
    nx_text_puts(&text, "}}");
    reply_text(reply, status, &text);
}

bool nx_api_admit(const struct nx_request *request, struct nx_reply_document *reply)
{
    if (!nx_gate_host(request->host)) {
        nx_api_error(reply, 403, "forbidden_host", "the Host of the request is not this machine's loopback name",
                     "use http://localhost, http://127.0.0.1 or http://[::1] (forward the port to reach another machine)");
        return false;
    }
    if ((request->origin && !nx_gate_origin(request->origin)) ||
        (request->fetch_site && strcasecmp(request->fetch_site, "cross-site") == 0)) {
        nx_api_error(reply, 403, "forbidden_origin", "requests of pages from other sites are refused", NULL);
        return false;
    }
    if (strcmp(request->method, "POST") == 0 && !nx_gate_json(request->content_type)) {
        nx_api_error(reply, 415, "unsupported_media_type", "the body must be sent as application/json",
                     "curl: add -H 'Content-Type: application/json'");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------------ answers of the pool */

static void reply_failure(struct nx_reply_document *reply, const struct nx_answer *answer)
{
    nx_api_error(reply, nx_query_http_status(answer->code), nx_query_code_name(answer->code),
                 answer->message ? answer->message : nx_query_code_name(answer->code), answer->hint);
}

static void reply_tables(struct nx_reply_document *reply, const struct nx_answer *answer)
{
    struct nx_text text = {0};

    nx_text_puts(&text, "{\"data\":");
    nx_text_append(&text, answer->body, answer->size);
    nx_text_printf(&text, ",\"rowCount\":%llu}", (unsigned long long)answer->rows);
    reply_text(reply, 200, &text);
}

/* ------------------------------------------------------------------ _search */

/* An optional whole number of the request; false: it is something else, and *reply says so. */
static bool read_limit(const json_t *body, const char *key, json_int_t highest, json_int_t otherwise, json_int_t *value,
                       struct nx_reply_document *reply)
{
    const json_t *given = json_object_get(body, key);
    char message[128];

    *value = otherwise;
    if (!given)
        return true;
    *value = json_integer_value(given);
    if (json_is_integer(given) && *value >= 0 && *value <= highest)
        return true;
    snprintf(message, sizeof(message), "%s must be a whole number from 0 to %lld", key, (long long)highest);
    nx_api_error(reply, 422, "bad_request", message, NULL);
    return false;
}

static void search_query(const struct nx_server_options *options, const char *profile, const json_t *body,
                         int cancel_fd, struct nx_reply_document *reply)
{
    const char *sql = json_string_value(json_object_get(body, "query"));
    json_int_t max_rows, timeout_ms;
    struct nx_answer answer;
    struct nx_query query;

    if (!sql) {
        nx_api_error(reply, 422, "bad_request", "a databaseExplorerQuery needs its SQL as the text \"query\"", NULL);
        return;
    }
    if (!read_limit(body, "maxRows", MAX_ROWS, NX_DEFAULT_MAX_ROWS, &max_rows, reply) ||
        !read_limit(body, "timeoutMs", MAX_TIMEOUT_MS, options->timeout_ms, &timeout_ms, reply))
        return;
    query = (struct nx_query){.profile = profile,
                              .sql = sql,
                              .format = NX_FORMAT_JSON,
                              .max_rows = (uint64_t)max_rows,
                              .max_bytes = NX_DEFAULT_MAX_BYTES,
                              .timeout_ms = timeout_ms ? (unsigned)timeout_ms : 1,
                              .cancel_fd = cancel_fd};
    nx_pool_query(options->pool, &query, &answer);
    if (answer.code == NX_QUERY_OK) {
        *reply = (struct nx_reply_document){.status = 200, .body = answer.body, .size = answer.size};
        answer.body = NULL;
    } else {
        reply_failure(reply, &answer);
    }
    nx_answer_free(&answer);
}

static void no_such_table(const char *table, struct nx_reply_document *reply)
{
    const char **names = nx_alloc(nx_schema_count * sizeof(*names));
    char *message = NULL, *hint;

    for (size_t i = 0; i < nx_schema_count; i++)
        names[i] = nx_schema[i].name;
    hint = nx_suggest(table, names, nx_schema_count);
    if (asprintf(&message, "the schema has no table %s", table) >= 0)
        nx_api_error(reply, 404, "table_not_found", message, hint);
    free(message);
    free(hint);
    free(names);
}

static void search_schema(const struct nx_server_options *options, const char *profile, const json_t *body,
                          int cancel_fd, struct nx_reply_document *reply)
{
    const char *name = json_string_value(json_object_get(body, "tableName"));
    const struct nx_table_schema *table = name ? nx_schema_find(name, true) : NULL;
    struct nx_generation generation;
    struct nx_text text = {0};

    if (!nx_profile_generation(options->store, profile, &generation)) {
        struct nx_answer answer; /* the pool knows the near names */

        nx_pool_tables(options->pool, profile, options->timeout_ms, cancel_fd, &answer);
        reply_failure(reply, &answer);
        nx_answer_free(&answer);
    } else if (!name) {
        nx_api_error(reply, 422, "bad_request", "a tableSchema needs the text \"tableName\"", NULL);
    } else if (!table) {
        no_such_table(name, reply);
    } else {
        nx_schema_json(table, &text);
        reply_text(reply, 200, &text);
    }
}

static void search_tables(const struct nx_server_options *options, const char *profile, const json_t *body,
                          int cancel_fd, struct nx_reply_document *reply)
{
    json_int_t timeout_ms;
    struct nx_answer answer;

    if (!read_limit(body, "timeoutMs", MAX_TIMEOUT_MS, options->timeout_ms, &timeout_ms, reply))
        return;
    nx_pool_tables(options->pool, profile, timeout_ms ? (unsigned)timeout_ms : 1, cancel_fd, &answer);
    if (answer.code == NX_QUERY_OK)
        reply_tables(reply, &answer);
    else
        reply_failure(reply, &answer);
    nx_answer_free(&answer);
}

static void search_check(const struct nx_server_options *options, const char *profile, const json_t *body, int cancel_fd,
                         struct nx_reply_document *reply)
{
    json_int_t timeout_ms;
    struct nx_check check;

    if (!read_limit(body, "timeoutMs", MAX_TIMEOUT_MS, options->timeout_ms, &timeout_ms, reply))
        return;
    nx_check_profile(options->pool, profile, timeout_ms ? (unsigned)timeout_ms : 1, cancel_fd, &check);
    if (check.answer.code == NX_QUERY_OK) {
        *reply = (struct nx_reply_document){.status = 200, .body = check.answer.body, .size = check.answer.size};
        check.answer.body = NULL;
    } else {
        reply_failure(reply, &check.answer);
    }
    nx_answer_free(&check.answer);
}

static void search_analysis(const struct nx_server_options *options, const char *profile, const json_t *body,
                            const struct nx_request *request, bool compares, struct nx_reply_document *reply)
{
    json_int_t timeout_ms;

    if (read_limit(body, "timeoutMs", MAX_TIMEOUT_MS, NX_ANALYSIS_TIMEOUT_MS, &timeout_ms, reply))
        (compares ? nx_api_compare : nx_api_analyze)(options, profile, body, timeout_ms ? (unsigned)timeout_ms : 1,
                                                     request->cancel_fd, reply);
}

static void search(const struct nx_server_options *options, const char *profile, const struct nx_request *request,
                   struct nx_reply_document *reply)
{
    json_error_t why;
    json_t *body = json_loadb(request->body ? request->body : "", request->body_size, 0, &why);
    const char *type = json_string_value(json_object_get(body, "type"));
    char message[300];

    if (!body) {
        snprintf(message, sizeof(message), "the body is not JSON: line %d, column %d (offset %d): %s", why.line,
                 why.column, why.position, why.text);
        nx_api_error(reply, 400, "malformed_json", message, NULL);
    } else if (!type) {
        nx_api_error(reply, 422, "bad_request", "the body must be an object with the text \"type\"",
                     TYPES);
    } else if (strcmp(type, "databaseExplorerQuery") == 0) {
        search_query(options, profile, body, request->cancel_fd, reply);
    } else if (strcmp(type, "tableSchema") == 0) {
        search_schema(options, profile, body, request->cancel_fd, reply);
    } else if (strcmp(type, "listDbFiles") == 0) {
        search_tables(options, profile, body, request->cancel_fd, reply);
    } else if (strcmp(type, "check") == 0) {
        search_check(options, profile, body, request->cancel_fd, reply);
    } else if (strcmp(type, "analyze") == 0 || strcmp(type, "compare") == 0) {
        search_analysis(options, profile, body, request, strcmp(type, "compare") == 0, reply);
    } else {
        snprintf(message, sizeof(message), "the type %.*s is not known", (int)nx_utf8_cut(type, strlen(type), 100), type);
        nx_api_error(reply, 422, "bad_request", message, TYPES);
    }
    json_decref(body);
}

/* ------------------------------------------------------------------ the other routes */

static void health(const struct nx_server_options *options, struct nx_reply_document *reply)
{
    struct nx_text text = {0};

    nx_text_puts(&text, "{\"status\":\"healthy\",\"version\":");
    nx_text_json_string(&text, options->version, strlen(options->version));
    nx_text_puts(&text, "}");
    reply_text(reply, 200, &text);
}

static void about(const struct nx_server_options *options, struct nx_reply_document *reply)
{
    struct nx_text text = {0};

    nx_text_puts(&text, "{\"name\":\"neuron-explorer\",\"version\":");
    nx_text_json_string(&text, options->version, strlen(options->version));
    nx_text_puts(&text, ",\"api\":\"" API "\"}");
    reply_text(reply, 200, &text);
}

static void profiles(const struct nx_server_options *options, struct nx_reply_document *reply)
{
    struct nx_profile_entry *list;
    struct nx_error error;
    struct nx_text text = {0};
    size_t count;

    if (nx_store_list(options->store, &list, &count, &error) != NX_OK) {
        nx_api_error(reply, 500, "internal", error.text, NULL);
        return;
    }
    nx_text_puts(&text, "{\"data\":[");
    for (size_t i = 0; i < count; i++) {
        nx_text_puts(&text, i ? ",{\"profile_name\":" : "{\"profile_name\":");
        nx_text_json_string(&text, list[i].name, strlen(list[i].name));
        nx_text_printf(&text, ",\"type\":\"device\",\"status\":\"PROCESSED\",\"modified\":%lld,\"tables\":%llu,\"bytes\":%llu}",
                       (long long)list[i].modified, (unsigned long long)list[i].tables,
                       (unsigned long long)list[i].bytes);
    }
    nx_text_printf(&text, "],\"rowCount\":%zu}", count);
    nx_profile_list_free(list, count);
    reply_text(reply, 200, &text);
}

static void not_found(struct nx_reply_document *reply)
{
    nx_api_error(reply, 404, "not_found", "there is nothing at this path",
                 "GET " API "/health, GET " API "/profiles, POST " API "/db/{profile}/_search");
}

/* "/api/v1/db/NAME/_search" -> NAME (heap), else NULL. */
static char *searched_profile(const char *path)
{
    static const char before[] = API "/db/", after[] = "/_search";
    size_t size = strlen(path), head = sizeof(before) - 1, tail = sizeof(after) - 1;

    if (size <= head + tail || strncmp(path, before, head) != 0 || strcmp(path + size - tail, after) != 0)
        return NULL;
    return strndup(path + head, size - head - tail);
}

static bool allowed(const struct nx_request *request, const char *method, struct nx_reply_document *reply)
{
    char message[100];

    if (strcmp(request->method, method) == 0 || (strcmp(method, "GET") == 0 && strcmp(request->method, "HEAD") == 0))
        return true;
    snprintf(message, sizeof(message), "%.20s is not allowed here: use %s", request->method, method);
    nx_api_error(reply, 405, "method_not_allowed", message, NULL);
    reply->allow = method;
    return false;
}

void nx_api_answer(const struct nx_server_options *options, const struct nx_request *request,
                   struct nx_reply_document *reply)
{
    char *profile = searched_profile(request->path);
    struct nx_error error;

    if (profile) {
        if (!allowed(request, "POST", reply))
            ;
        else if (nx_profile_name_check(profile, &error) != NX_OK)
            nx_api_error(reply, 404, "profile_not_found", error.text, NULL);
        else
            search(options, profile, request, reply);
        free(profile);
        return;
    }
    if (strcmp(request->path, API "/health") == 0) {
        if (allowed(request, "GET", reply))
            health(options, reply);
    } else if (strcmp(request->path, API "/profiles") == 0 || strcmp(request->path, API "/profiles/search") == 0) {
        if (allowed(request, "GET", reply))
            profiles(options, reply);
    } else if (strcmp(request->path, "/") == 0) {
        if (allowed(request, "GET", reply))
            about(options, reply);
    } else {
        not_found(reply);
    }
}
