/* Instructions made by hand, field by field at the offsets of docs/isa.md. */
#ifndef TESTS_ISA_BUILD_H
#define TESTS_ISA_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"

enum { BF16 = 6, FP16 = 7, INT32 = 8, UINT32 = 9, FP32 = 10 };

struct code {
    uint8_t raw[NX_ISA_SIZE];
};

static inline void put(struct code *code, unsigned offset, unsigned size, uint64_t value)
{
    for (unsigned i = 0; i < size; i++)
        code->raw[offset + i] = (uint8_t)(value >> 8 * i);
}

static inline struct code make(uint8_t opcode)
{
    struct code code = {{0}};

    code.raw[0] = opcode;
    code.raw[1] = NX_ISA_SIZE / 4;
    return code;
}

static inline void put_float_at(struct code *code, unsigned offset, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put(code, offset, 4, bits);
}

static inline void put_wait_at(struct code *code, uint8_t mode, uint8_t index, uint32_t value)
{
    put(code, 4, 1, mode);
    put(code, 5, 1, index);
    put(code, 8, 4, value);
}

static inline void put_update_at(struct code *code, uint8_t mode, uint8_t index)
{
    put(code, 6, 1, mode);
    put(code, 7, 1, index);
}

/* Innermost first. */
static inline void put_ap3(struct code *code, unsigned offset, uint32_t address, const int16_t step[3],
                           const uint16_t count[3])
{
    put(code, offset, 4, address);
    for (unsigned i = 0; i < 3; i++) {
        put(code, offset + 4 + 2 * i, 2, (uint16_t)step[i]);
        put(code, offset + 10 + 2 * i, 2, count[i]);
    }
}

static inline void put_ap4(struct code *code, unsigned offset, uint32_t address, const int16_t step[4],
                           const uint16_t count[4])
{
    put(code, offset, 4, address);
    for (unsigned i = 0; i < 4; i++) {
        put(code, offset + 4 + 2 * i, 2, (uint16_t)step[i]);
        put(code, offset + 12 + 2 * i, 2, count[i]);
    }
}

/* The usual shape: one row of `count` elements that lie side by side. */
static inline void put_row3(struct code *code, unsigned offset, uint32_t address, uint16_t count)
{
    put_ap3(code, offset, address, (const int16_t[]){1, 1, 1}, (const uint16_t[]){count, 1, 1});
}

static inline void put_row4(struct code *code, unsigned offset, uint32_t address, uint16_t count)
{
    put_ap4(code, offset, address, (const int16_t[]){1, 1, 1, 1}, (const uint16_t[]){count, 1, 1, 1});
}

static inline struct nx_inst decoded(const struct code *code)
{
    struct nx_inst inst;

    nx_isa_decode(code->raw, &inst);
    return inst;
}

#endif
