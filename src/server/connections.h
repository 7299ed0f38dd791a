/*
 * connections.h - the connections of a server, and which of them must go when
 * there are too many.  Private to this folder.
 *
 * A client that sends nothing, half a request, or a byte now and then costs a
 * place.  As long as there are places, it may; when they are used up, the
 * connection that has waited for its client longest makes room for the new one,
 * so that idle ones keep nobody from being answered.
 */
#ifndef NX_SERVER_CONNECTIONS_H
#define NX_SERVER_CONNECTIONS_H

#include <pthread.h>

enum nx_phase {
    NX_PHASE_RECEIVING, /* the client is to send a request, or the rest of it */
    NX_PHASE_WORKING,   /* on its answer: such a connection never makes room */
    NX_PHASE_SENDING,   /* the client is to take the answer; makes room if no connection is receiving */
};

struct nx_connection;
struct nx_connections {
    pthread_mutex_t lock;
    unsigned limit, count; /* count: without those that are being closed */
    struct nx_connection *oldest, *newest; /* by the time of their last change of phase */
};

void nx_connections_init(struct nx_connections *connections, unsigned limit);
void nx_connections_destroy(struct nx_connections *connections); /* all were removed */
/* A new one, receiving. Shuts down the socket of another one if there are more than `limit`. */
struct nx_connection *nx_connections_add(struct nx_connections *connections, int fd);
void nx_connections_set_phase(struct nx_connections *connections, struct nx_connection *connection,
                              enum nx_phase phase);
/* Before the socket is closed: its number could be another's by the time it is shut down. */
void nx_connections_remove(struct nx_connections *connections, struct nx_connection *connection);

#endif
