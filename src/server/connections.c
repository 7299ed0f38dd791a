#include "server/connections.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/memory.h"

struct nx_connection {
    struct nx_connection *older, *newer;
    int fd;
    enum nx_phase phase;
    bool closing;
};

void nx_connections_init(struct nx_connections *connections, unsigned limit)
{
    *connections = (struct nx_connections){.limit = limit};
    pthread_mutex_init(&connections->lock, NULL);
}

void nx_connections_destroy(struct nx_connections *connections)
{
    pthread_mutex_destroy(&connections->lock);
}

static void append(struct nx_connections *connections, struct nx_connection *connection)
{
    connection->older = connections->newest;
    connection->newer = NULL;
    *(connections->newest ? &connections->newest->newer : &connections->oldest) = connection;
    connections->newest = connection;
}

static void take_out(struct nx_connections *connections, struct nx_connection *connection)
{
    *(connection->older ? &connection->older->newer : &connections->oldest) = connection->newer;
    *(connection->newer ? &connection->newer->older : &connections->newest) = connection->older;
}

static struct nx_connection *oldest_in(const struct nx_connections *connections, enum nx_phase phase)
{
    struct nx_connection *connection = connections->oldest;

    while (connection && (connection->closing || connection->phase != phase))
        connection = connection->newer;
    return connection;
}

/* Its thread sees the end of the stream, and ends; nx_connections_remove() follows. */
static void let_one_go(struct nx_connections *connections)
{
    struct nx_connection *connection = oldest_in(connections, NX_PHASE_RECEIVING);

    if (!connection)
        connection = oldest_in(connections, NX_PHASE_SENDING);
    if (!connection)
        return;
    connection->closing = true;
    connections->count--;
    shutdown(connection->fd, SHUT_RDWR);
}

struct nx_connection *nx_connections_add(struct nx_connections *connections, int fd)
{
    struct nx_connection *connection = nx_zalloc(1, sizeof(*connection));

    connection->fd = fd;
    pthread_mutex_lock(&connections->lock);
    if (connections->count >= connections->limit)
        let_one_go(connections);
    append(connections, connection);
    connections->count++;
    pthread_mutex_unlock(&connections->lock);
    return connection;
}

void nx_connections_set_phase(struct nx_connections *connections, struct nx_connection *connection, enum nx_phase phase)
{
    pthread_mutex_lock(&connections->lock);
    connection->phase = phase;
    take_out(connections, connection);
    append(connections, connection);
    pthread_mutex_unlock(&connections->lock);
}

void nx_connections_remove(struct nx_connections *connections, struct nx_connection *connection)
{
    pthread_mutex_lock(&connections->lock);
    take_out(connections, connection);
    if (!connection->closing)
        connections->count--;
    pthread_mutex_unlock(&connections->lock);
    free(connection);
}
