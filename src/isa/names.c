#include "isa/names.h"

#include <stddef.h>
#include <stdio.h>

#include "isa/isa.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *nx_isa_opcode_name(uint8_t opcode, char *buffer)
{
    static const char *const names[256] = {
        [NX_OP_LDWEIGHTS] = "LDWEIGHTS",
        [NX_OP_MATMUL] = "MATMUL",
        [NX_OP_ACTIVATE] = "ACTIVATE",
        [NX_OP_ACT_TABLE_LOAD] = "ACT_TABLE_LOAD",
        [NX_OP_TENSOR_TENSOR] = "TENSOR_TENSOR",
        [NX_OP_TENSOR_REDUCE] = "TENSOR_REDUCE",
        [NX_OP_TENSOR_SCALAR] = "TENSOR_SCALAR",
        [NX_OP_COPY] = "COPY",
        [NX_OP_CAST] = "CAST",
        [NX_OP_RECIPROCAL] = "RECIPROCAL",
        [NX_OP_MEMSET] = "MEMSET",
        [NX_OP_EVENT_SEMAPHORE] = "EVENT_SEMAPHORE",
        [NX_OP_DRAIN] = "DRAIN",
        [NX_OP_NOP] = "NOP",
        [NX_OP_WRITE] = "WRITE",
        [NX_OP_NOTIFY] = "NOTIFY",
        [NX_OP_COMPARE_BRANCH] = "COMPARE_BRANCH",
        [NX_OP_TENSOR_LOAD] = "TENSOR_LOAD",
        [NX_OP_EVENT_SEMAPHORE_RANGE_CLEAR] = "EVENT_SEMAPHORE_RANGE_CLEAR",
        [NX_OP_SET_ORDERING_MODE] = "SET_ORDERING_MODE",
        [NX_OP_DMA_DIRECT2D] = "DMA_DIRECT2D",
        [NX_OP_PSEUDO_DMA_TRIGGER] = "PSEUDO_DMA_TRIGGER",
        [NX_OP_PSEUDO_DMA_DIRECT2D] = "PSEUDO_DMA_DIRECT2D",
    };

    if (names[opcode])
        return names[opcode];
    if (!buffer)
        return NULL;
    snprintf(buffer, 16, "OPCODE_0x%02x", opcode);
    return buffer;
}

bool nx_isa_opcode_known(uint8_t opcode)
{
    return nx_isa_opcode_name(opcode, NULL) != NULL;
}

static const struct {
    const char *name;
    uint8_t size;
} dtypes[16] = {
    [0x6] = {"bfloat16", 2}, [0x7] = {"fp16", 2}, [0x8] = {"int32", 4}, [0x9] = {"uint32", 4}, [0xa] = {"fp32", 4},
};

bool nx_isa_dtype_known(uint8_t dtype)
{
    return dtype < COUNT(dtypes) && dtypes[dtype].name;
}

const char *nx_isa_dtype_name(uint8_t dtype, char *buffer)
{
    if (nx_isa_dtype_known(dtype))
        return dtypes[dtype].name;
    snprintf(buffer, 16, "dtype%u", dtype);
    return buffer;
}

unsigned nx_isa_dtype_size(uint8_t dtype)
{
    return dtype < COUNT(dtypes) ? dtypes[dtype].size : 0;
}

static const char *activation_name(uint8_t function)
{
    switch (function) {
    case 1: return "IDENTITY";
    case 2: return "RELU";
    case 3: return "LEAKY_RELU";
    case 4: return "PARAMETRIC_RELU";
    case 6: return "TANH";
    case 7: return "EXP";
    case 30: return "SQUARE";
    case 31: return "SIGN";
    case 33: return "ABS";
    case 128: return "COPY";
    case 130: return "MEMSET_ZERO";
    default: return NULL;
    }
}

bool nx_isa_activation_known(uint8_t function)
{
    return activation_name(function) != NULL;
}

const char *nx_isa_activation_name(uint8_t function, char *buffer)
{
    const char *name = activation_name(function);

    if (name)
        return name;
    snprintf(buffer, 16, "FUNC%u", function);
    return buffer;
}

const char *nx_isa_alu_name(uint8_t code)
{
    switch (code) {
    case 0: return "BYPASS";
    case 4: return "ADD";
    case 6: return "MULTIPLY";
    case 8: return "MAX";
    default: return NULL;
    }
}

const char *nx_isa_fp32_mode_name(uint8_t code)
{
    static const char *const names[] = {NULL, "LOW", "HIGH", "LOW_HIGH"};

    return code < COUNT(names) ? names[code] : NULL;
}

const char *nx_isa_compare_name(uint8_t code)
{
    return code == 0 ? "ALWAYS" : code == 3 ? "EQ" : NULL;
}
