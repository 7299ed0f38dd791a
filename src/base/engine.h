/*
 * engine.h - the five engines of a NeuronCore, in the order in which NEFF and
 * NTFF number them (PE 0, ACT 1, POOL 2, DVE 3, SP 4), and the names they
 * have in the tables.
 */
#ifndef NX_BASE_ENGINE_H
#define NX_BASE_ENGINE_H

enum nx_engine { NX_PE, NX_ACT, NX_POOL, NX_DVE, NX_SP };
#define NX_ENGINE_COUNT 5

/* "Tensor", "Scalar", "GpSimd", "Vector", "Sync": Instruction.engine */
const char *nx_engine_title(enum nx_engine engine);
/* "tensor", "scalar", "gpsimd", "vector", "sync": ActiveTime.engine */
const char *nx_engine_lower(enum nx_engine engine);

#endif
