#include "server/analyses.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"

#define MAX_VERSIONS 20 /* each takes a worker's time */

/* False: the request is wrong, and *reply says so. */
static bool read_options(const json_t *body, struct nx_analysis_options *options,
                         struct nx_reply_document *reply)
{
    const json_t *window = json_object_get(body, "window"), *show_sql = json_object_get(body, "showSql");

    if (window &&
        (!json_is_string(window) || !nx_window_parse(json_string_value(window), &options->window))) {
        nx_api_error(reply, 422, "bad_request",
                     "window must be the text FROM:TO: nanoseconds, first-dma, last-dma, start or end", NULL);
        return false;
    }
    if (show_sql && !json_is_boolean(show_sql)) {
        nx_api_error(reply, 422, "bad_request", "showSql must be true or false", NULL);
        return false;
    }
    options->show_sql = json_is_true(show_sql);
    return true;
}

/* Takes over document and failure. */
static void reply_document(json_t *document, struct nx_answer *failure, struct nx_reply_document *reply)
{
    char *text = document ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;

    if (text)
        *reply = (struct nx_reply_document){.status = 200, .body = text, .size = strlen(text)};
    else if (document)
        nx_api_error(reply, 500, "internal", "the report cannot be written", NULL);
    else
        nx_api_error(reply, nx_query_http_status(failure->code), nx_query_code_name(failure->code),
                     failure->message ? failure->message : nx_query_code_name(failure->code), failure->hint);
    json_decref(document);
    nx_answer_free(failure);
}

void nx_api_analyze(const struct nx_server_options *options, const char *profile, const json_t *body,
                    unsigned timeout_ms, int cancel_fd, struct nx_reply_document *reply)
{
    struct nx_analysis_options how = {
        .window = NX_DEFAULT_WINDOW, .timeout_ms = timeout_ms, .cancel_fd = cancel_fd};
    struct nx_answer failure = {0};

    if (read_options(body, &how, reply))
        reply_document(nx_analyze(options->pool, profile, &how, &failure), &failure, reply);
}

void nx_api_compare(const struct nx_server_options *options, const char *profile, const json_t *body,
                    unsigned timeout_ms, int cancel_fd, struct nx_reply_document *reply)
{
    struct nx_analysis_options how = {
        .window = NX_DEFAULT_WINDOW, .timeout_ms = timeout_ms, .cancel_fd = cancel_fd};
    const json_t *with = json_object_get(body, "with"), *name;
    const char *profiles[MAX_VERSIONS + 1] = {profile};
    struct nx_answer failure = {0};
    struct nx_error error;
    size_t i;

    if (json_array_size(with) == 0 || json_array_size(with) > MAX_VERSIONS) {
        nx_api_error(reply, 422, "bad_request",
                     "a compare needs \"with\": a list of 1 to 20 names of other profiles", NULL);
        return;
    }
    json_array_foreach(with, i, name)
    {
        profiles[i + 1] = json_string_value(name);
        if (!profiles[i + 1] || nx_profile_name_check(profiles[i + 1], &error) != NX_OK) {
            nx_api_error(reply, 422, "bad_request",
                         profiles[i + 1] ? error.text : "\"with\" must hold names of profiles", NULL);
            return;
        }
    }
    if (read_options(body, &how, reply))
        reply_document(nx_compare(options->pool, profiles, i + 1, &how, &failure), &failure, reply);
}
