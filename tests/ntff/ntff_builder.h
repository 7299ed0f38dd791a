/*
 * ntff_builder.h - NTFF files made field by field, for tests of the reader.
 *
 * It has a protobuf writer of its own, which also writes what no runtime
 * would: zeros, overlong varints, fields of the wrong wire type.
 *
 *     struct nx_text core = {0}, top = {0}, file = {0};
 *     pb_text(&core, 1, "sg00");
 *     put_cores(&top, &core, 1);
 *     ntff_file(&file, 6, &top, &raw);
 */
#ifndef NX_TESTS_NTFF_BUILDER_H
#define NX_TESTS_NTFF_BUILDER_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ntff/ntff.h"

static inline void put(struct nx_text *out, const void *bytes, size_t size)
{
    nx_text_append(out, bytes, size);
}

static inline void put_little_endian(struct nx_text *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char byte = (char)(value >> 8 * i & 0xff);

        put(out, &byte, 1);
    }
}

static inline void pb_varint(struct nx_text *out, uint64_t value)
{
    for (;;) {
        char byte = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        put(out, &byte, 1);
        value >>= 7;
        if (!value)
            return;
    }
}

static inline void pb_number(struct nx_text *out, uint32_t field, uint64_t value)
{
    pb_varint(out, (uint64_t)field << 3);
    pb_varint(out, value);
}

static inline void pb_bytes(struct nx_text *out, uint32_t field, const void *bytes, size_t size)
{
    pb_varint(out, (uint64_t)field << 3 | 2);
    pb_varint(out, size);
    if (size)
        put(out, bytes, size);
}

static inline void pb_text(struct nx_text *out, uint32_t field, const char *text)
{
    pb_bytes(out, field, text, strlen(text));
}

/* Appends the message and empties it, so that it can be used for the next one. */
static inline void pb_message(struct nx_text *out, uint32_t field, struct nx_text *message)
{
    pb_bytes(out, field, message->data, message->size);
    nx_text_clear(message);
}

static inline void put_clock(struct nx_text *clocks, uint32_t field, uint64_t init, uint64_t actual,
                             uint64_t expected)
{
    struct nx_text m = {0};

    pb_number(&m, 1, init);
    pb_number(&m, 2, actual);
    pb_number(&m, 3, expected);
    pb_message(clocks, field, &m);
    nx_text_free(&m);
}

/* All clocks of a core: picoseconds, as on trn2. */
static inline void put_plain_clocks(struct nx_text *core)
{
    struct nx_text clocks = {0};

    for (uint32_t field = 1; field <= 7; field++)
        put_clock(&clocks, field, 0, 1, 1);
    for (int i = 0; i < NX_DMA_ENGINES; i++)
        put_clock(&clocks, 8, 0, 1, 1);
    put_clock(&clocks, 9, 0, 1, 1);
    pb_message(core, 10, &clocks);
    nx_text_free(&clocks);
}

/* field 6 of a core (v4, v5), field 16 at the top (v6). */
static inline void put_section(struct nx_text *out, uint32_t field, uint32_t type, uint32_t block,
                               uint64_t offset, uint64_t size, uint32_t core_index)
{
    struct nx_text m = {0};

    if (type)
        pb_number(&m, 1, type);
    if (block)
        pb_number(&m, 3, block);
    if (offset)
        pb_number(&m, 5, offset);
    if (size)
        pb_number(&m, 6, size);
    if (core_index)
        pb_number(&m, 7, core_index);
    pb_message(out, field, &m);
    nx_text_free(&m);
}

/* top.4 { 4 { 1: core, 1: core, ... } }, and the UUID if there is one */
static inline void put_cores(struct nx_text *top, struct nx_text *cores, size_t count, const uint8_t *uuid)
{
    struct nx_text device = {0}, node = {0};

    for (size_t i = 0; i < count; i++)
        pb_message(&device, 1, &cores[i]);
    pb_message(&node, 4, &device);
    if (uuid)
        pb_bytes(&node, 5, uuid, 16);
    pb_message(top, 4, &node);
    nx_text_free(&device);
    nx_text_free(&node);
}

static inline void put_record(struct nx_text *raw, uint32_t w0, uint32_t w1, uint64_t timestamp)
{
    put_little_endian(raw, w0, 4);
    put_little_endian(raw, w1, 4);
    put_little_endian(raw, timestamp, 8);
}

/* A header that claims `claimed` bytes of metadata, whatever there are; the rest of it is noise, as in real
 * files. */
static inline void ntff_file_claiming(struct nx_text *file, unsigned version, uint64_t claimed,
                                      const struct nx_text *metadata, const struct nx_text *raw)
{
    nx_text_clear(file);
    put_little_endian(file, version, 1);
    put_little_endian(file, claimed, 8);
    while (file->size < NX_NTFF_HEADER_SIZE)
        put_little_endian(file, 0xa5, 1);
    if (metadata && metadata->size)
        put(file, metadata->data, metadata->size);
    if (raw && raw->size)
        put(file, raw->data, raw->size);
}

static inline void ntff_file(struct nx_text *file, unsigned version, const struct nx_text *metadata,
                             const struct nx_text *raw)
{
    ntff_file_claiming(file, version, metadata->size, metadata, raw);
}

#endif
