/* Instructions as 64 bytes (SPEC 6): only what the generated kernel uses. */
#include <string.h>

#include "generate_plan.h"

#define PSUM_FP32 10

void gen_put_u16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

void gen_put_u32(uint8_t *p, uint32_t value)
{
    gen_put_u16(p, value);
    gen_put_u16(p + 2, value >> 16);
}

void gen_put_u64(uint8_t *p, uint64_t value)
{
    gen_put_u32(p, (uint32_t)value);
    gen_put_u32(p + 4, (uint32_t)(value >> 32));
}

void gen_code_op(uint8_t *code, enum gen_opcode opcode)
{
    memset(code, 0, GEN_INST);
    code[0] = (uint8_t)opcode;
    code[1] = GEN_INST / 4;
}

void gen_code_wait(uint8_t *code, uint8_t mode, uint8_t index, uint32_t value)
{
    code[4] = mode;
    code[5] = index;
    gen_put_u32(code + 8, value);
}

void gen_code_update(uint8_t *code, uint8_t mode, uint8_t index)
{
    code[6] = mode;
    code[7] = index;
}

void gen_code_event_semaphore(uint8_t *code, uint8_t wait_mode, uint8_t wait_index, uint32_t wait_value,
                              uint8_t update_mode, uint8_t update_index, uint32_t update_value)
{
    gen_code_op(code, GEN_EVENT_SEMAPHORE);
    code[32] = wait_mode;
    code[33] = wait_index;
    code[34] = update_mode;
    code[35] = update_index;
    gen_put_u32(code + 36, wait_value);
    gen_put_u32(code + 40, update_value);
}

/* `rank` steps and counts; dimensions after the first have one element. */
static void access_pattern(uint8_t *code, struct gen_ap ap, unsigned rank)
{
    gen_put_u32(code, ap.address);
    for (unsigned i = 0; i < rank; i++) {
        gen_put_u16(code + 4 + 2 * i, i ? 1 : (uint16_t)ap.step);
        gen_put_u16(code + 4 + 2 * rank + 2 * i, i ? 1 : ap.count);
    }
}

static void array_shape(uint8_t *code, uint8_t dtype, uint8_t pass)
{
    code[32] = dtype;
    code[33] = pass;
    code[38] = GEN_TILE_K;
    code[39] = GEN_TILE_M;
    code[44] = 15; /* all row and column groups */
    code[45] = 15;
}

void gen_code_weights(uint8_t *code, uint8_t dtype, uint8_t pass, bool transpose, struct gen_ap src)
{
    gen_code_op(code, GEN_LDWEIGHTS);
    access_pattern(code + 16, src, 3);
    array_shape(code, dtype, pass);
    code[34] = transpose;
}

void gen_code_matmul(uint8_t *code, uint8_t dtype, uint8_t pass, uint8_t flags, struct gen_ap src,
                     uint32_t dst)
{
    gen_code_op(code, GEN_MATMUL);
    access_pattern(code + 16, src, 3);
    array_shape(code, dtype, pass);
    code[43] = flags;
    access_pattern(code + 48, (struct gen_ap){dst, 1, src.count}, 3);
}

void gen_code_copy(uint8_t *code, uint8_t from, uint8_t to, struct gen_ap src, uint32_t dst)
{
    gen_code_op(code, GEN_COPY);
    access_pattern(code + 12, src, 4);
    code[32] = from;
    code[33] = to;
    code[34] = GEN_PARTITIONS;
    access_pattern(code + 44, (struct gen_ap){dst, 1, src.count}, 4);
}

void gen_code_activate(uint8_t *code, uint8_t from, uint8_t to, uint8_t function, struct gen_ap src,
                       uint32_t dst, uint32_t bias)
{
    gen_code_op(code, GEN_ACTIVATE);
    access_pattern(code + 16, src, 3);
    code[32] = (uint8_t)(from | PSUM_FP32 << 4); /* dtype of the bias in the high nibble */
    code[33] = to;
    code[34] = GEN_PARTITIONS;
    code[35] = function;
    gen_put_u32(code + 36, 0x3f800000); /* scale 1.0f */
    gen_put_u32(code + 40, bias);
    access_pattern(code + 48, (struct gen_ap){dst, 1, src.count}, 3);
}

void gen_code_write(uint8_t *code, uint64_t to0, uint32_t data0, uint64_t to1, uint32_t data1)
{
    gen_code_op(code, GEN_WRITE);
    code[12] = 4;
    code[13] = to1 ? 4 : 0;
    gen_put_u64(code + 16, to0);
    gen_put_u64(code + 24, to1);
    gen_put_u64(code + 32, data0);
    gen_put_u64(code + 40, data1);
}

void gen_code_notify(uint8_t *code, uint8_t id)
{
    gen_code_op(code, GEN_NOTIFY);
    code[36] = id;
}

void gen_code_branch(uint8_t *code, bool compare, int32_t distance, uint8_t hint)
{
    gen_code_op(code, GEN_COMPARE_BRANCH);
    code[3] = hint;
    code[12] = compare ? 3 : 0; /* EQ, ALWAYS */
    code[13] = 8;               /* int32 */
    code[14] = 3;               /* relative */
    gen_put_u32(code + 48, (uint32_t)(distance * GEN_INST));
}

void gen_code_load(uint8_t *code, uint64_t address)
{
    gen_code_op(code, GEN_TENSOR_LOAD);
    code[12] = 9; /* uint32 */
    code[14] = 1;
    code[15] = 1;
    gen_put_u64(code + 16, address);
}

void gen_code_range_clear(uint8_t *code, uint8_t first, uint8_t last)
{
    gen_code_op(code, GEN_RANGE_CLEAR);
    code[12] = 1;
    code[13] = first;
    code[14] = last;
}

void gen_code_ordering(uint8_t *code, bool strict)
{
    gen_code_op(code, GEN_SET_ORDERING_MODE);
    code[12] = strict;
}

void gen_code_trigger(uint8_t *code, const char *queue, uint32_t block)
{
    gen_code_op(code, GEN_DMA_TRIGGER);
    memcpy(code + 12, queue, strlen(queue));
    gen_put_u32(code + 48, block);
}

static void direct2d_side(uint8_t *code, bool compiled, const struct gen_side *side)
{
    uint64_t address;

    if (side->table >= 0)
        address = (uint64_t)0x20 << 56 | (uint64_t)side->table << 32 | side->offset;
    else if (compiled)
        address = (uint64_t)0x10 << 56 | (uint64_t)side->var_id << 32 | side->offset;
    else
        address = side->base + side->offset;
    gen_put_u64(code, address);
    gen_put_u32(code + 8, side->step);
    gen_put_u32(code + 12, 1);
    gen_put_u16(code + 16, GEN_PARTITIONS);
    gen_put_u16(code + 18, 1);
    gen_put_u16(code + 20, side->row_bytes);
}

void gen_code_direct2d(uint8_t *code, bool compiled, const struct gen_transfer *transfer, uint8_t dtype)
{
    gen_code_op(code, compiled ? GEN_PSEUDO_DIRECT2D : GEN_DMA_DIRECT2D);
    code[13] = transfer->semaphore;
    code[14] = GEN_RINGS;
    direct2d_side(code + 16, compiled, &transfer->from);
    direct2d_side(code + 40, compiled, &transfer->to);
    code[62] = dtype;
    code[63] = dtype;
}
