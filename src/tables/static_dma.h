/*
 * static_dma.h - what one statically generated DMA block moves, and how its
 * descriptors read as text.  A block's descriptors name variables: "SB" is
 * SBUF, everything else lies in HBM.
 */
#ifndef NX_TABLES_STATIC_DMA_H
#define NX_TABLES_STATIC_DMA_H

#include "base/text.h"
#include "trace/trace.h"

struct nx_static_dma {
    struct nx_inst_bytes bytes; /* hbm and sbuf, read and written */
    uint64_t spill_save, spill_reload; /* SBUF -> HBM temporary, and back */
    uint64_t input_queue, output_queue, weight_queue; /* bytes written, by the type of its queue in the NEFF */
};

struct nx_static_dma nx_static_dma_of(const struct nx_neff_graph *graph, const struct nx_neff_block *block);

/* The static DMA that each instruction of a trace triggers: worked out once for each place in the code. */
struct nx_static_dmas {
    struct nx_static_dma *list;
    uint32_t *by_inst; /* by number of the nx_code_inst: into `list`, or NX_NONE */
};
void nx_static_dmas_open(const struct nx_trace *trace, struct nx_static_dmas *dmas);
void nx_static_dmas_close(struct nx_static_dmas *dmas);
/* NULL for an instruction that is not a trigger. */
static inline const struct nx_static_dma *nx_static_dmas_of(const struct nx_static_dmas *dmas, uint32_t inst)
{
    return dmas->by_inst[inst] == NX_NONE ? NULL : &dmas->list[dmas->by_inst[inst]];
}

bool nx_var_is_sbuf(const struct nx_neff_graph *graph, const char *var);

/* The one HBM variable that a block reads or writes; NULL if there is none or more than one. */
const char *nx_static_dma_variable(const struct nx_neff_graph *graph, const struct nx_neff_block *block);

enum nx_dma_direction { NX_DMA_READ_SIDE, NX_DMA_WRITE_SIDE };
/* Where one side lies: "SB", "INPUT", "OUTPUT", "WEIGHT", "VIRTUAL" (an HBM temporary), each once. */
void nx_static_dma_place(const struct nx_neff_graph *graph, const struct nx_neff_block *block,
                         enum nx_dma_direction side, struct nx_text *out);
/* "[4000, 128]", "[0x2c180]", "[1, 262144]": one list a descriptor, separated by ", ". */
void nx_static_dma_shape(const struct nx_neff_block *block, enum nx_dma_direction side, struct nx_text *out);
void nx_static_dma_offset(const struct nx_neff_block *block, enum nx_dma_direction side, struct nx_text *out);
void nx_static_dma_steps(const struct nx_neff_block *block, enum nx_dma_direction side, struct nx_text *out);
/* Where one side of a descriptor lies in SBUF: bytes [start, end) of each of `partitions` partitions from `first` on. */
struct nx_sbuf_extent {
    uint32_t first, partitions;
    uint32_t start, end;
};
/* False: it walks partitions other than one by one, or leaves them. */
bool nx_sbuf_extent_of(const struct nx_dma_side *side, struct nx_sbuf_extent *out);
/* SBUF partitions of one side as ranges: "0-127", "" where it is not in SBUF. Returns how many. */
uint32_t nx_static_dma_partitions(const struct nx_neff_graph *graph, const struct nx_neff_block *block,
                                  enum nx_dma_direction side, struct nx_text *out);

#endif
