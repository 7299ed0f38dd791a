/*
 * HTTP/1.1 by libmicrohttpd: a thread a connection, on sockets of our own.
 * What is answered is api.c's business.
 */
#include "server/server.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "server/api.h"
#include "server/connections.h"
#include "server/listen.h"

#define MAX_CONNECTIONS 1000     /* on both addresses together; beyond it, those that wait longest are let go ... */
#define MAX_CLOSING 250          /* ... and that many may be on their way out */
#define MIN_CONNECTIONS 16       /* however few descriptors there are */
#define OTHER_DESCRIPTORS 400    /* of workers and of the profiles' files that are handed to them */
#define DEFAULT_UNSENT ((size_t)1 << 30)
#define IDLE_SECONDS 30          /* a client that sends nothing is let go */
#define RETRY_SECONDS "1"        /* when it is worth to ask again after a 503 */
#define HEADER_BYTES (32 * 1024) /* memory of a connection for its request line and headers */

struct nx_server {
    struct nx_server_options options;
    struct MHD_Daemon *daemons[2]; /* 127.0.0.1 and ::1 */
    struct nx_connections connections;
    atomic_size_t unsent;
    uint16_t port;
};

/* A document on its way to a client. */
struct parcel {
    struct nx_server *server;
    char *body;
    size_t size;
};

/* One request, from its headers to its answer. */
struct exchange {
    struct nx_text body;
    bool too_large;
    bool answered; /* at the headers already: the rest is only taken in */
};

static void set_phase(struct nx_server *server, struct MHD_Connection *connection, enum nx_phase phase)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    nx_connections_set_phase(&server->connections, info->socket_context, phase);
}

static void parcel_free(void *opaque)
{
    struct parcel *parcel = opaque;

    atomic_fetch_sub(&parcel->server->unsent, parcel->size);
    free(parcel->body);
    free(parcel);
}

/* Clients that ask for much and do not take it must not use up the memory. */
static void limit_unsent(struct nx_server *server, struct nx_reply_document *document)
{
    if (atomic_fetch_add(&server->unsent, document->size) + document->size <= server->options.max_unsent)
        return;
    atomic_fetch_sub(&server->unsent, document->size);
    free(document->body);
    nx_api_error(document, 503, "busy", "too many answers wait to be taken by their clients",
                 "try again in a moment, or ask for fewer rows");
    atomic_fetch_add(&server->unsent, document->size);
}

static enum MHD_Result send_document(struct nx_server *server, struct MHD_Connection *connection,
                                     struct nx_reply_document *document, const char *origin)
{
    struct parcel *parcel = nx_alloc(sizeof(*parcel));
    struct MHD_Response *response;
    enum MHD_Result result;

    limit_unsent(server, document);
    *parcel = (struct parcel){server, document->body, document->size};
    response = MHD_create_response_from_buffer_with_free_callback_cls(parcel->size, parcel->body, parcel_free, parcel);
    if (!response) {
        parcel_free(parcel);
        return MHD_NO;
    }
    set_phase(server, connection, NX_PHASE_SENDING);
    if (document->size)
        MHD_add_response_header(response, "Content-Type", "application/json; charset=utf-8");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (document->status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(response, "Retry-After", RETRY_SECONDS);
    if (document->allow)
        MHD_add_response_header(response, "Allow", document->allow);
    if (origin && document->status != 403) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", origin);
        MHD_add_response_header(response, "Access-Control-Allow-Methods", "GET, POST");
        MHD_add_response_header(response, "Access-Control-Allow-Headers", "Content-Type");
        MHD_add_response_header(response, "Vary", "Origin");
    }
    result = MHD_queue_response(connection, (unsigned)document->status, response);
    MHD_destroy_response(response);
    return result;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static struct nx_request read_headers(struct MHD_Connection *connection, const char *url, const char *method)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return (struct nx_request){.method = method,
                               .path = url,
                               .host = header(connection, "Host"),
                               .origin = header(connection, "Origin"),
                               .content_type = header(connection, "Content-Type"),
                               .fetch_site = header(connection, "Sec-Fetch-Site"),
                               .cancel_fd = info ? info->connect_fd : -1};
}

static void too_large(struct nx_reply_document *reply)
{
    nx_api_error(reply, 413, "body_too_large", "the body is larger than 1 MiB", NULL);
}

/* At the headers: what can be refused now is, before a body is read. */
static enum MHD_Result begin(struct nx_server *server, struct MHD_Connection *connection, const struct nx_request *request,
                             struct exchange *exchange)
{
    const char *length = header(connection, "Content-Length");
    struct nx_reply_document reply;

    if (!nx_api_admit(request, &reply)) {
        exchange->answered = true;
        return send_document(server, connection, &reply, NULL);
    }
    if (length && strtoull(length, NULL, 10) > NX_BODY_LIMIT) {
        exchange->answered = true;
        too_large(&reply);
        return send_document(server, connection, &reply, request->origin);
    }
    return MHD_YES;
}

static void take_in(struct exchange *exchange, const char *data, size_t size)
{
    if (exchange->answered || exchange->too_large)
        return;
    if (exchange->body.size + size > NX_BODY_LIMIT)
        exchange->too_large = true;
    else
        nx_text_append(&exchange->body, data, size);
}

static enum MHD_Result finish(struct nx_server *server, struct MHD_Connection *connection,
                              struct nx_request *request, struct exchange *exchange)
{
    struct nx_reply_document reply = {0};

    if (strcmp(request->method, "OPTIONS") == 0 && request->origin) {
        reply = (struct nx_reply_document){.status = 204, .body = nx_strdup(""), .size = 0}; /* a preflight */
    } else if (exchange->too_large) {
        too_large(&reply);
    } else {
        request->body = nx_text_string(&exchange->body);
        request->body_size = exchange->body.size;
        set_phase(server, connection, NX_PHASE_WORKING);
        nx_api_answer(&server->options, request, &reply);
    }
    if (!reply.body)
        nx_api_error(&reply, 500, "internal", "no answer could be made", NULL);
    return send_document(server, connection, &reply, request->origin);
}

static enum MHD_Result handle(void *opaque, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *data_size, void **state)
{
    struct nx_server *server = opaque;
    struct nx_request request = read_headers(connection, url, method);
    struct exchange *exchange = *state;

    (void)version;
    if (!exchange) {
        *state = nx_zalloc(1, sizeof(*exchange));
        return begin(server, connection, &request, *state);
    }
    if (*data_size) {
        take_in(exchange, data, *data_size);
        *data_size = 0;
        return MHD_YES;
    }
    return exchange->answered ? MHD_YES : finish(server, connection, &request, exchange);
}

static void completed(void *opaque, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode why)
{
    struct exchange *exchange = *state;

    (void)why;
    if (exchange)
        nx_text_free(&exchange->body);
    free(exchange);
    *state = NULL;
    set_phase(opaque, connection, NX_PHASE_RECEIVING);
}

static void come_or_gone(void *opaque, struct MHD_Connection *connection, void **context,
                         enum MHD_ConnectionNotificationCode what)
{
    struct nx_server *server = opaque;

    if (what == MHD_CONNECTION_NOTIFY_CLOSED)
        nx_connections_remove(&server->connections, *context);
    else
        *context = nx_connections_add(
            &server->connections, MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
}

/* Each takes a descriptor; when there are none left, no worker can be started. */
static unsigned connection_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= MAX_CONNECTIONS + MAX_CLOSING + OTHER_DESCRIPTORS)
        return MAX_CONNECTIONS;
    if (limit.rlim_cur < MIN_CONNECTIONS + MAX_CLOSING + OTHER_DESCRIPTORS)
        return MIN_CONNECTIONS;
    return (unsigned)limit.rlim_cur - MAX_CLOSING - OTHER_DESCRIPTORS;
}

static struct MHD_Daemon *start_daemon(struct nx_server *server, int fd)
{
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ITC, 0, NULL, NULL,
        handle, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, completed, server,
        MHD_OPTION_NOTIFY_CONNECTION, come_or_gone, server, MHD_OPTION_CONNECTION_LIMIT,
        server->connections.limit + MAX_CLOSING, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES, MHD_OPTION_END);

    if (!daemon)
        close(fd);
    return daemon;
}

enum nx_status nx_server_start(const struct nx_server_options *options, struct nx_server **out,
                               struct nx_error *error)
{
    struct nx_server *server;
    uint16_t port = options->api_port;
    int v4, v6;
    enum nx_status status = nx_listen(&port, &v4, &v6, error);

    *out = NULL;
    if (status != NX_OK)
        return status;
    server = nx_zalloc(1, sizeof(*server));
    server->options = *options;
    if (!server->options.max_unsent)
        server->options.max_unsent = DEFAULT_UNSENT;
    server->port = port;
    nx_connections_init(&server->connections, connection_limit());
    server->daemons[0] = start_daemon(server, v4);
    if (v6 >= 0)
        server->daemons[1] = start_daemon(server, v6);
    if (!server->daemons[0] || (v6 >= 0 && !server->daemons[1])) {
        nx_server_stop(server);
        return nx_fail(error, NX_FAILED, "cannot start the HTTP server on port %u", port);
    }
    *out = server;
    return NX_OK;
}

uint16_t nx_server_port(const struct nx_server *server)
{
    return server->port;
}

void nx_server_stop(struct nx_server *server)
{
    for (int i = 0; i < 2; i++)
        if (server->daemons[i])
            MHD_stop_daemon(server->daemons[i]);
    nx_connections_destroy(&server->connections);
    free(server);
}
