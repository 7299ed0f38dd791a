#include "isa/isa.h"

uint8_t nx_isa_channels(const struct nx_inst *inst, bool write)
{
    switch (inst->opcode) {
    case NX_OP_LDWEIGHTS:
    case NX_OP_MATMUL:
        return write ? inst->cols : inst->rows;
    case NX_OP_TENSOR_TENSOR:
        return inst->raw[15];
    case NX_OP_ACTIVATE:
    case NX_OP_TENSOR_SCALAR:
    case NX_OP_TENSOR_REDUCE:
    case NX_OP_COPY:
    case NX_OP_CAST:
    case NX_OP_RECIPROCAL:
    case NX_OP_MEMSET:
        return inst->raw[34];
    default:
        return 0;
    }
}
