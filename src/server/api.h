/*
 * api.h - what the server answers, without HTTP's machinery: a request in, a
 * status and a JSON document out (docs/api.md).
 */
#ifndef NX_SERVER_API_H
#define NX_SERVER_API_H

#include <stdbool.h>
#include <stddef.h>

#include "server/server.h"

struct nx_request {
    const char *method, *path; /* the path is percent-decoded */
    const char *host, *origin, *content_type, *fetch_site; /* headers; NULL if absent */
    const char *body;
    size_t body_size;
    int cancel_fd; /* -1, or the connection's socket */
};

struct nx_reply_document {
    int status;
    char *body; /* JSON; heap */
    size_t size;
    const char *allow; /* Allow header of a 405, else NULL */
};

/* Checks that need no body: false, and *reply is the refusal. */
bool nx_api_admit(const struct nx_request *request, struct nx_reply_document *reply);
void nx_api_answer(const struct nx_server_options *options, const struct nx_request *request,
                   struct nx_reply_document *reply);
/* {"error":{"code","message","hint"}}; the texts are copied, `hint` may be NULL. */
void nx_api_error(struct nx_reply_document *reply, int status, const char *code, const char *message,
                  const char *hint);

#define NX_BODY_LIMIT ((size_t)1 << 20)

#endif
