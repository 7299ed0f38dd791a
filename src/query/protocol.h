/*
 * protocol.h - how a pool and its worker speak over their socket.  Private to
 * this folder; both ends are this program, so the form is simple:
 *
 *   pool -> worker   {u64 size} JSON              set-up, then one request at a time
 *                    one byte with descriptors    after the set-up: the tables' files
 *   worker -> pool   struct nx_reply, body, message, hint
 */
#ifndef NX_QUERY_PROTOCOL_H
#define NX_QUERY_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/query.h"

/* Exit status of a worker that cannot open its tables; 1 is a failed allocation (base/memory.h). */
#define NX_WORKER_NOT_READY 3
#define NX_FDS_A_MESSAGE 64 /* the kernel's limit is 253 */

struct nx_reply {
    uint32_t code; /* enum nx_query_code */
    uint32_t truncated;
    uint64_t rows;
    uint64_t body_size, message_size, hint_size;
    uint32_t has_hint;
    uint32_t unusable; /* the worker must not be asked again: the pool ends it */
};

/* All of it, or false. */
bool nx_write_all(int fd, const void *bytes, size_t size);
bool nx_read_all(int fd, void *bytes, size_t size);
bool nx_write_frame(int fd, const char *text, size_t size);
/* Heap, NUL-terminated; NULL at the end of the stream, on an error, or when it is longer than `limit`. */
char *nx_read_frame(int fd, size_t limit, size_t *size);
bool nx_send_fds(int fd, const int *fds, size_t count);
bool nx_receive_fds(int fd, int *fds, size_t count);

#endif
