/* What one execution of an instruction moves and computes (docs/isa.md, "Derived figures"). */
#include "isa/isa.h"

/* Device addresses of SBUF on trn2: 0x8020_xxxx_xxxx; everything else that a DMA names is HBM. */
#define SBUF_ADDRESS_TAG 0x802u
#define SBUF_ADDRESS_SHIFT 36

uint64_t nx_ap_elements(const struct nx_ap *ap)
{
    uint64_t elements = ap->rank ? 1 : 0;

    for (unsigned i = 0; i < ap->rank; i++)
        elements *= ap->count[i];
    return elements;
}

/*
 * Four counts of 16 bits can ask for more bytes than 64 bits count, in a file
 * that is damaged.  The cap lets two patterns be added as signed numbers.
 */
#define MOST_BYTES ((uint64_t)1 << 61)

static void add_ap(const struct nx_ap *ap, uint64_t *sbuf, uint64_t *psum)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(nx_ap_elements(ap), (uint64_t)nx_isa_dtype_size(ap->dtype), &bytes) ||
        bytes > MOST_BYTES)
        bytes = MOST_BYTES;
    *(nx_ap_is_psum(ap) ? psum : sbuf) += bytes;
}

static void add_dge(const struct nx_dge_side *side, uint64_t *sbuf, uint64_t *hbm)
{
    uint64_t bytes = (uint64_t)side->count[0] * side->count[1] * side->element_size;

    *(side->address >> SBUF_ADDRESS_SHIFT == SBUF_ADDRESS_TAG ? sbuf : hbm) += bytes;
}

struct nx_inst_bytes nx_isa_bytes(const struct nx_inst *inst)
{
    struct nx_inst_bytes bytes = {0};

    add_ap(&inst->src[0], &bytes.sbuf_read, &bytes.psum_read);
    add_ap(&inst->src[1], &bytes.sbuf_read, &bytes.psum_read);
    add_ap(&inst->dst, &bytes.sbuf_write, &bytes.psum_write);
    if (inst->opcode == NX_OP_DMA_DIRECT2D) {
        add_dge(&inst->dge_src, &bytes.sbuf_read, &bytes.hbm_read);
        add_dge(&inst->dge_dst, &bytes.sbuf_write, &bytes.hbm_write);
    }
    return bytes;
}

uint64_t nx_isa_macs(const struct nx_inst *inst)
{
    if (inst->opcode != NX_OP_MATMUL)
        return 0;
    /* 8 + 8 + 3 * 16 bits: cannot overflow. */
    return (uint64_t)inst->rows * inst->cols * nx_ap_elements(&inst->src[0]);
}
