/*
 * isa.h - what the 64 bytes of one instruction say.
 *
 * nx_isa_decode() turns them into fields; nx_isa_operands() prints the operand
 * text as the closed tool does (byte for byte on all expected outputs).  No
 * instruction is ever refused: an opcode or a code without a known meaning is
 * shown by its number, and `understood` is false, so that a caller can count.
 *
 * Layouts, names and their evidence: docs/isa.md.
 */
#ifndef NX_ISA_ISA_H
#define NX_ISA_ISA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define NX_ISA_SIZE 64 /* bytes an instruction */

enum nx_opcode {
    NX_OP_LDWEIGHTS = 0x01,
    NX_OP_MATMUL = 0x02,
    NX_OP_ACTIVATE = 0x21,
    NX_OP_ACT_TABLE_LOAD = 0x23,
    NX_OP_TENSOR_TENSOR = 0x41,
    NX_OP_TENSOR_REDUCE = 0x42,
    NX_OP_TENSOR_SCALAR = 0x43,
    NX_OP_COPY = 0x46,
    NX_OP_CAST = 0x47,
    NX_OP_RECIPROCAL = 0x48,
    NX_OP_MEMSET = 0x49,
    NX_OP_EVENT_SEMAPHORE = 0xa0,
    NX_OP_DRAIN = 0xa2,
    NX_OP_NOP = 0xa4,
    NX_OP_WRITE = 0xa5,
    NX_OP_NOTIFY = 0xa6,
    NX_OP_COMPARE_BRANCH = 0xa9,
    NX_OP_TENSOR_LOAD = 0xaa,
    NX_OP_EVENT_SEMAPHORE_RANGE_CLEAR = 0xb0,
    NX_OP_SET_ORDERING_MODE = 0xb1,
    NX_OP_DMA_DIRECT2D = 0xb8,
    NX_OP_PSEUDO_DMA_TRIGGER = 0xc1,
    NX_OP_LABEL = 0xcc,
    NX_OP_PSEUDO_DMA_DIRECT2D = 0xd4,
};

/* Access pattern: `rank` pairs of step and count, innermost first, in elements. */
struct nx_ap {
    uint32_t address; /* SBUF: byte offset in a partition; from NX_PSUM_BASE on: PSUM */
    uint8_t rank;     /* 3 or 4; 0 = absent */
    uint8_t dtype;    /* code; nx_isa_dtype_name() */
    int16_t step[4];
    uint16_t count[4];
};
#define NX_PSUM_BASE 0x2000000u
#define NX_PSUM_BANK_SIZE 0x800u
static inline bool nx_ap_is_psum(const struct nx_ap *ap) { return ap->address >= NX_PSUM_BASE; }

struct nx_sync { /* wait condition, or update */
    uint8_t mode, index;
    uint32_t value;
};

/* One side of a DMA_DIRECT2D. */
struct nx_dge_side {
    uint64_t address; /* as encoded: absolute, table form (top byte 0x20) or variable form (0x10) */
    int32_t step[2];
    uint16_t count[2];
    uint16_t element_size; /* bytes */
};

struct nx_inst {
    uint8_t opcode, hint;
    /*
     * The opcode is one whose layout is known, and each code that the operand
     * text shows (type, operation, function, mode) has a meaning that a file or
     * its maker confirms.  docs/isa.md has the list.
     */
    bool understood;
    struct nx_sync wait;
    struct nx_sync update; /* value not encoded: 0 */
    struct nx_ap src[2];   /* rank 0 = absent */
    struct nx_ap dst;      /* MATMUL's has the source dtype (PSUM byte rule) */
    uint8_t rows, cols;    /* LDWEIGHTS, MATMUL */
    uint8_t fp32_mode;     /* LDWEIGHTS, MATMUL: 1 LOW, 2 HIGH, 3 LOW_HIGH pass of an fp32 matmul; 0 none */
    uint8_t activation;    /* ACTIVATE: function code */
    uint8_t notification;  /* NOTIFY: id; 2 execution start, 3 end */
    bool has_branch;       /* COMPARE_BRANCH with a relative target */
    int32_t branch;        /* instructions from its own place */
    struct nx_sync set_wait, set_update; /* EVENT_SEMAPHORE: its second set */
    char queue[37];        /* PSEUDO_DMA_TRIGGER */
    uint32_t block;        /* PSEUDO_DMA_TRIGGER */
    struct nx_dge_side dge_src, dge_dst; /* DMA_DIRECT2D and its pseudo form */
    uint8_t dge_semaphore, dge_increment;
    const uint8_t *raw; /* the 64 bytes; must outlive this struct's use */
};

void nx_isa_decode(const uint8_t raw[NX_ISA_SIZE], struct nx_inst *inst);

/* Name of an opcode; "OPCODE_0xNN" (into `buffer`, 16 bytes) when there is none. */
const char *nx_isa_opcode_name(uint8_t opcode, char *buffer);
bool nx_isa_opcode_known(uint8_t opcode);

/* Display names of semaphores, index 0..255, NULL entries unnamed; may be NULL as a whole. */
void nx_isa_operands(const struct nx_inst *inst, const char *const semaphore_names[256],
                     struct nx_text *out);
/* "EXP", "FUNC99" (into `buffer`, 16 bytes) */
const char *nx_isa_activation_name(uint8_t function, char *buffer);
/* "bfloat16", or "dtype3" into `buffer` (16 bytes); size in bytes, 0 if not known. */
const char *nx_isa_dtype_name(uint8_t dtype, char *buffer);
unsigned nx_isa_dtype_size(uint8_t dtype);

/* Elements of an access pattern: product of its counts. */
uint64_t nx_ap_elements(const struct nx_ap *ap);

/*
 * Bytes that one execution moves.  On-chip figures are per partition,
 * DMA_DIRECT2D's are the whole transfer.  A type without a known size counts 0.
 */
struct nx_inst_bytes {
    uint64_t sbuf_read, sbuf_write, psum_read, psum_write, hbm_read, hbm_write;
};
struct nx_inst_bytes nx_isa_bytes(const struct nx_inst *inst);

/* Partitions that a compute instruction reads, or writes: its channels; rows and columns of the Tensor engine. */
uint8_t nx_isa_channels(const struct nx_inst *inst, bool write);

/* Multiply-accumulates of a MATMUL: rows * cols * elements of src; 0 for others. FLOPs are twice that. */
uint64_t nx_isa_macs(const struct nx_inst *inst);
/* Whether the sequencer runs it (0xa0..0xdf) rather than the data path: the two overlap in time. */
static inline bool nx_isa_is_sequencer(uint8_t opcode) { return opcode >= 0xa0 && opcode < 0xe0; }
/* Whether the compiler's code only stands it in (0xc0..0xdf): the runtime replaces it, or leaves it out. */
static inline bool nx_isa_is_pseudo(uint8_t opcode) { return opcode >= 0xc0 && opcode < 0xe0; }

#endif
