/* analyses.h - the API's "analyze" and "compare". Private to this folder. */
#ifndef NX_SERVER_ANALYSES_H
#define NX_SERVER_ANALYSES_H

#include <jansson.h>

#include "server/api.h"

/* `body` is the request: {"window": "FROM:TO", "showSql": true}, both optional; for compare also "with":
 * [names]. */
void nx_api_analyze(const struct nx_server_options *options, const char *profile, const json_t *body,
                    unsigned timeout_ms, int cancel_fd, struct nx_reply_document *reply);
void nx_api_compare(const struct nx_server_options *options, const char *profile, const json_t *body,
                    unsigned timeout_ms, int cancel_fd, struct nx_reply_document *reply);

#endif
