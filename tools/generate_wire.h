/* generate_wire.h - protobuf and little-endian integers appended to a text. Private to the generator. */
#ifndef NX_TOOLS_GENERATE_WIRE_H
#define NX_TOOLS_GENERATE_WIRE_H

#include <string.h>

#include "base/text.h"

static inline void gen_pb_varint(struct nx_text *out, uint64_t value)
{
    char bytes[10];
    size_t n = 0;

    do {
        bytes[n++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    nx_text_append(out, bytes, n);
}

/* proto3: a zero is not written */
static inline void gen_pb_int(struct nx_text *out, uint32_t field, uint64_t value)
{
    if (!value)
        return;
    gen_pb_varint(out, (uint64_t)field << 3);
    gen_pb_varint(out, value);
}

static inline void gen_pb_bytes(struct nx_text *out, uint32_t field, const void *bytes, size_t size)
{
    gen_pb_varint(out, (uint64_t)field << 3 | 2);
    gen_pb_varint(out, size);
    nx_text_append(out, bytes, size);
}

static inline void gen_pb_string(struct nx_text *out, uint32_t field, const char *string)
{
    if (*string)
        gen_pb_bytes(out, field, string, strlen(string));
}

/* Appends `message` as a submessage (empty ones too) and empties it. */
static inline void gen_pb_message(struct nx_text *out, uint32_t field, struct nx_text *message)
{
    gen_pb_bytes(out, field, nx_text_string(message), message->size);
    nx_text_clear(message);
}

#endif
