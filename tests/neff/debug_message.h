/* debug_message.h - pieces of .dbg protobufs, written by hand.  For inclusion by test programs. */
#ifndef NX_TESTS_NEFF_DEBUG_MESSAGE_H
#define NX_TESTS_NEFF_DEBUG_MESSAGE_H

#include "generate_wire.h"

static inline void packed(struct nx_text *out, uint32_t field, const uint64_t *values, size_t count)
{
    struct nx_text list = {0};

    for (size_t i = 0; i < count; i++)
        gen_pb_varint(&list, values[i]);
    gen_pb_bytes(out, field, nx_text_string(&list), list.size);
    nx_text_free(&list);
}

static inline void attr(struct nx_text *entry, const char *key, const char *value)
{
    struct nx_text message = {0};

    gen_pb_string(&message, 1, key);
    gen_pb_string(&message, 2, value);
    gen_pb_message(entry, 7, &message);
    nx_text_free(&message);
}

#endif
