#include "tables/flops.h"

#include <string.h>

/* BF16-equivalent cost of one raw FLOP, or 0 where it is not known. */
static unsigned cost(const struct nx_code_inst *inst)
{
    char buffer[16];
    const char *dtype = nx_isa_dtype_name(inst->dtype, buffer);

    if (strcmp(dtype, "bfloat16") == 0 || strcmp(dtype, "fp16") == 0)
        return 1;
    if (strcmp(dtype, "fp32") == 0)
        return 2;
    return 0;
}

struct nx_flops nx_flops_of(const struct nx_code_inst *inst)
{
    unsigned factor = inst->opcode == NX_OP_MATMUL ? cost(inst) : 0;

    if (inst->opcode != NX_OP_MATMUL)
        return (struct nx_flops){0};
    return (struct nx_flops){
        .raw = 2 * inst->macs,
        .adjusted = 2 * inst->macs * factor,
        .adjusted_known = factor != 0,
        .is_transpose = inst->bir && inst->bir->kind == NX_DBG_TRANSPOSE,
    };
}
