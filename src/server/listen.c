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

/* Addresses as /proc/net/tcp and tcp6 print them: words of the machine's own byte order. */
#define ADDRESS_TEXT 33
static void address_text(const void *address, size_t size, char out[ADDRESS_TEXT])
{
    for (size_t i = 0; i < size / 4; i++) {
        uint32_t word;

        memcpy(&word, (const char *)address + i * 4, 4);
        snprintf(out + i * 8, ADDRESS_TEXT - i * 8, "%08X", word);
    }
}

/* Inode of the socket that listens on that port at one of two addresses, by /proc/net/tcp or tcp6; 0: none does. */
static unsigned long find_inode(const char *table, const char *one, const char *other, uint16_t port)
{
    FILE *file = fopen(table, "re");
    unsigned long found = 0;
    char line[512];

    while (file && !found && fgets(line, sizeof(line), file)) {
        char address[ADDRESS_TEXT];
        unsigned local_port, state;
        unsigned long inode;

        if (sscanf(line, "%*d: %32[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", address,
                   &local_port, &state, &inode) == 4 &&
            local_port == port && state == STATE_LISTEN && (strcmp(address, one) == 0 || strcmp(address, other) == 0))
            found = inode;
    }
    if (file)
        fclose(file);
    return found;
}

/* Of the listener that keeps us from that port of our loopback address: it has the address itself, or all of them. */
static unsigned long holder_inode(int family, uint16_t port)
{
    char loopback[ADDRESS_TEXT], any[ADDRESS_TEXT];
    struct in_addr v4 = {.s_addr = htonl(INADDR_LOOPBACK)}, any_v4 = {.s_addr = htonl(INADDR_ANY)};
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};
    unsigned long inode = 0;

    if (family == AF_INET) {
        address_text(&v4, sizeof(v4), loopback);
        address_text(&any_v4, sizeof(any_v4), any);
        inode = find_inode("/proc/net/tcp", loopback, any, port);
    }
    if (inode)
        return inode;
    address_text(family == AF_INET ? &mapped : &in6addr_loopback, sizeof(mapped), loopback);
    address_text(&in6addr_any, sizeof(in6addr_any), any);
    return find_inode("/proc/net/tcp6", loopback, any, port);
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
static void describe_holder(int family, uint16_t port, char *out, size_t size)
{
    unsigned long inode = holder_inode(family, port);
    char wanted[64], command[64];
    struct dirent *entry;
    DIR *dir;

    out[0] = '\0';
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

static enum nx_status refuse(int family, uint16_t port, int why, struct nx_error *error)
{
    char holder[128];

    if (why != EADDRINUSE)
        return nx_fail(error, NX_UNAVAILABLE, "cannot listen on port %u: %s", port, strerror(why));
    describe_holder(family, port, holder, sizeof(holder));
    return nx_fail(error, NX_UNAVAILABLE, "port %u is in use%s", port, holder);
}

enum nx_status nx_listen(uint16_t *port, int *v4, int *v6, struct nx_error *error)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        uint16_t chosen;
        int why;

        *v4 = open_socket(AF_INET, *port);
        if (*v4 < 0)
            return refuse(AF_INET, *port, errno, error);
        chosen = port_of(*v4);
        *v6 = open_socket(AF_INET6, chosen);
        why = errno;
        if (*v6 >= 0 || why != EADDRINUSE) { /* a machine without ::1 is served on 127.0.0.1 alone */
            *port = chosen;
            return NX_OK;
        }
        close(*v4);
        if (*port)
            return refuse(AF_INET6, *port, why, error);
    }
    return nx_fail(error, NX_UNAVAILABLE, "no port is free on both 127.0.0.1 and ::1");
}
