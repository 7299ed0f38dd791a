#include "server/listen.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 1024
#define ATTEMPTS 20
#define STATE_LISTEN 0x0a

/* ------------------------------------------------------------------ who holds a port */

/* Inode of the listening socket on that port in /proc/net/tcp or tcp6; 0 if there is none. */
static unsigned long find_inode(const char *table, uint16_t port)
{
    FILE *file = fopen(table, "re");
    unsigned long found = 0;
    char line[512];

    while (file && !found && fgets(line, sizeof(line), file)) {
        unsigned local_port, state;
        unsigned long inode;

        if (sscanf(line, "%*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", &local_port,
                   &state, &inode) == 3 &&
            local_port == port && state == STATE_LISTEN)
            found = inode;
    }
    if (file)
        fclose(file);
    return found;
}

static int has_descriptor(const char *pid, const char *wanted)
{
    char path[300], link[64];
    struct dirent *entry;
    int found = 0;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%s/fd", pid);
    dir = opendir(path);
    while (dir && !found && (entry = readdir(dir))) {
        ssize_t size;

        snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", pid, entry->d_name);
        size = readlink(path, link, sizeof(link) - 1);
        if (size > 0) {
            link[size] = '\0';
            found = strcmp(link, wanted) == 0;
        }
    }
    if (dir)
        closedir(dir);
    return found;
}

static void read_command(const char *pid, char *out, size_t size)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
    file = fopen(path, "re");
    out[0] = '\0';
    if (!file)
        return;
    if (fgets(out, (int)size, file))
        out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

/* ", held by process 123 (name)", or "" where that cannot be seen. */
static void describe_holder(uint16_t port, char *out, size_t size)
{
    unsigned long inode = find_inode("/proc/net/tcp", port);
    char wanted[64], command[64];
    struct dirent *entry;
    DIR *dir;

    out[0] = '\0';
    if (!inode)
        inode = find_inode("/proc/net/tcp6", port);
    if (!inode)
        return;
    snprintf(wanted, sizeof(wanted), "socket:[%lu]", inode);
    dir = opendir("/proc");
    while (dir && !out[0] && (entry = readdir(dir))) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !has_descriptor(entry->d_name, wanted))
            continue;
        read_command(entry->d_name, command, sizeof(command));
        snprintf(out, size, ", held by process %.20s (%.60s)", entry->d_name, command);
    }
    if (dir)
        closedir(dir);
}

/* ------------------------------------------------------------------ sockets */

static int open_socket(int family, uint16_t port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    socklen_t size = family == AF_INET ? sizeof(address.v4) : sizeof(address.v6);
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, why;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (family == AF_INET) {
        address.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port),
                                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    } else {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
        address.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port),
                                           .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    }
    if (bind(fd, &address.any, size) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    why = errno;
    close(fd);
    errno = why;
    return -1;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in address;
    socklen_t size = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &size) == 0 ? ntohs(address.sin_port) : 0;
}

static enum nx_status refuse(uint16_t port, int why, struct nx_error *error)
{
    char holder[128];

    if (why != EADDRINUSE)
        return nx_fail(error, NX_UNAVAILABLE, "cannot listen on port %u: %s", port, strerror(why));
    describe_holder(port, holder, sizeof(holder));
    return nx_fail(error, NX_UNAVAILABLE, "port %u is in use%s", port, holder);
}

enum nx_status nx_listen(uint16_t *port, int *v4, int *v6, struct nx_error *error)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        uint16_t chosen;
        int why;

        *v4 = open_socket(AF_INET, *port);
        if (*v4 < 0)
            return refuse(*port, errno, error);
        chosen = port_of(*v4);
        *v6 = open_socket(AF_INET6, chosen);
        why = errno;
        if (*v6 >= 0 || why != EADDRINUSE) { /* a machine without ::1 is served on 127.0.0.1 alone */
            *port = chosen;
            return NX_OK;
        }
        close(*v4);
        if (*port)
            return refuse(*port, why, error);
    }
    return nx_fail(error, NX_UNAVAILABLE, "no port is free on both 127.0.0.1 and ::1");
}
