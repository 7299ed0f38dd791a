/*
 * protobuf.h - walks the fields of one protobuf message in place.
 *
 * Only the wire format: the meaning of each field number is the business of
 * the format that uses it.  Unknown fields are met like known ones, so a
 * reader decides itself whether to skip or to count them.
 *
 *     struct nx_pb pb = nx_pb_open(message);
 *     struct nx_pb_field f;
 *     while (nx_pb_next(&pb, &f))
 *         switch (f.number) { ... }
 *     if (pb.problem)
 *         return nx_fail_at(error, file, base + pb.offset, "%s", pb.problem);
 */
#ifndef NX_BASE_PROTOBUF_H
#define NX_BASE_PROTOBUF_H

#include "base/bytes.h"

enum nx_pb_wire { NX_PB_VARINT = 0, NX_PB_FIXED64 = 1, NX_PB_BYTES = 2, NX_PB_FIXED32 = 5 };

struct nx_pb {
    struct nx_bytes message;
    size_t offset;       /* of the next unread byte in `message` */
    const char *problem; /* NULL, or why the walk stopped before the end (static text) */
};

struct nx_pb_field {
    uint32_t number;
    enum nx_pb_wire wire;
    uint64_t value;        /* VARINT, FIXED32, FIXED64; 0 for BYTES */
    struct nx_bytes bytes; /* BYTES: a piece of the message, not a copy; else empty */
};

struct nx_pb nx_pb_open(struct nx_bytes message);
/* The next field; false at the end of the message, or with pb->problem set where it is malformed. */
bool nx_pb_next(struct nx_pb *pb, struct nx_pb_field *field);

/*
 * A `repeated` integer field may come packed (BYTES) or one by one (VARINT).
 * Calls nx_pb_next_packed() until it is false; *at starts at 0.  Serves both.
 */
bool nx_pb_next_packed(struct nx_pb *pb, const struct nx_pb_field *field, size_t *at, uint64_t *value);

#endif
