/*
 * bytes.h - a piece of memory with its length, and unaligned little-endian
 * loads from it.  All multi-byte integers of NEFF and NTFF are little endian.
 *
 * nx_load_*() do not check: the caller has compared the offset with the size
 * before (nx_bytes_slice() is the checked way to get a smaller piece).
 */
#ifndef NX_BASE_BYTES_H
#define NX_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct nx_bytes {
    const uint8_t *data;
    size_t size;
};

/* bytes[offset, offset + size) as *piece; false if that is not inside. Cannot overflow. */
static inline bool nx_bytes_slice(struct nx_bytes bytes, uint64_t offset, uint64_t size,
                                  struct nx_bytes *piece)
{
    if (offset > bytes.size || size > bytes.size - offset)
        return false;
    piece->data = bytes.data ? bytes.data + offset : NULL;
    piece->size = (size_t)size;
    return true;
}

static inline uint16_t nx_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t nx_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t nx_load_u64(const uint8_t *p)
{
    return (uint64_t)nx_load_u32(p) | (uint64_t)nx_load_u32(p + 4) << 32;
}

static inline float nx_load_f32(const uint8_t *p)
{
    uint32_t bits = nx_load_u32(p);
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

#endif
