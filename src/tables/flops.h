/*
 * flops.h - floating-point operations of a MATMUL.
 *
 *   raw       2 x rows x columns x elements of the moving operand, as executed
 *   adjusted  its cost in BF16-equivalent FLOPs: x1 for 2-byte types, x2 for
 *             one pass of an fp32 matmul (an fp32 matmul is two passes and runs
 *             at a quarter of the BF16 rate, so each pass costs twice its raw)
 */
#ifndef NX_TABLES_FLOPS_H
#define NX_TABLES_FLOPS_H

#include "trace/trace.h"

struct nx_flops {
    uint64_t raw, adjusted;
    bool adjusted_known; /* false: the rate of the data type is not known */
    bool is_transpose;   /* by the debug info of its BIR instruction */
};

/* All zero for an instruction that is not a MATMUL. */
struct nx_flops nx_flops_of(const struct nx_code_inst *inst);

#endif
