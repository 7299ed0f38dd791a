#include "query/query.h"

#include <stdlib.h>

static const struct {
    const char *name;
    int http;
} codes[] = {
    [NX_QUERY_OK] = {"ok", 200},
    [NX_QUERY_NO_PROFILE] = {"profile_not_found", 404},
    [NX_QUERY_NO_TABLE] = {"table_not_found", 404},
    [NX_QUERY_SQL_ERROR] = {"sql_error", 400},
    [NX_QUERY_NOT_ALLOWED] = {"not_allowed", 422},
    [NX_QUERY_TIMEOUT] = {"timeout", 504},
    [NX_QUERY_OUT_OF_MEMORY] = {"out_of_memory", 422},
    [NX_QUERY_CANCELLED] = {"cancelled", 499},
    [NX_QUERY_BUSY] = {"busy", 503},
    [NX_QUERY_FAILED] = {"internal", 500},
};

const char *nx_query_code_name(enum nx_query_code code)
{
    return codes[code].name;
}

int nx_query_http_status(enum nx_query_code code)
{
    return codes[code].http;
}

void nx_answer_free(struct nx_answer *answer)
{
    free(answer->body);
    free(answer->message);
    free(answer->hint);
    *answer = (struct nx_answer){0};
}
