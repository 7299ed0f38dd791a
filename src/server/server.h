/*
 * server.h - the HTTP/JSON API on the loopback interface (docs/api.md).
 *
 *     GET  /                                  what this is
 *     GET  /api/v1/health                     {"status":"healthy",...}
 *     GET  /api/v1/profiles                   the profiles of the data path
 *     POST /api/v1/db/{profile}/_search       databaseExplorerQuery, tableSchema, listDbFiles
 *
 * Bound to 127.0.0.1 and ::1 only.  A request whose Host is not a loopback
 * name or address, or that carries a foreign Origin, is refused before
 * anything else is looked at.  Each answer is one JSON document.
 */
#ifndef NX_SERVER_SERVER_H
#define NX_SERVER_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "query/query.h"
#include "store/store.h"

struct nx_server_options {
    uint16_t api_port; /* 0: any free port */
    const struct nx_store *store;
    struct nx_pool *pool;
    unsigned timeout_ms; /* of a query, unless the request says otherwise */
    size_t max_unsent;   /* bytes of answers that their clients have not taken; 0: default (1 GiB) */
    const char *version;
};
struct nx_server;

/* NX_UNAVAILABLE when the port is in use; the text names the port (and the process that holds it, if it can be told). */
enum nx_status nx_server_start(const struct nx_server_options *options, struct nx_server **server,
                               struct nx_error *error);
uint16_t nx_server_port(const struct nx_server *server);
void nx_server_stop(struct nx_server *server); /* stops queries under way, refuses new requests */

#endif
