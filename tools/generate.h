/*
 * generate.h - writes NEFF + NTFF pairs whose right answers are known by
 * construction.
 *
 * The kernel is a tiled matrix multiplication C[M,N] = A[K,M]^T * B[K,N]:
 * for each tile of C (128 x 512), for each 128 of K, DMA brings a tile of A
 * and one of B into SBUF, the Tensor engine loads A as weights and multiplies
 * B through them into a PSUM bank; then the Vector engine (even tiles) or the
 * Scalar engine (odd tiles, by turns ACTIVATE and COPY) copies the bank to
 * SBUF, and DMA stores it.  Semaphores order all of it, as in real kernels.
 * One transposition of a constant on the Tensor engine comes first.  Around
 * the compiler's code stands the runtime's: a preamble up to NOTIFY 2, resets
 * and NOTIFY 3 at the end, an EVENT_SEMAPHORE of the Tensor engine that waits
 * for the next run and never ends, records of an idle loop outside the dump.
 *
 * Times come from a small model of the core (integer picoseconds; engines run
 * in order, semaphores make them wait, packets of a ring follow each other),
 * so the same options give the same bytes.  What a reader must find is counted
 * while the records are written and returned in struct nx_generated.
 *
 * With `repeat` > 1 the runtime wraps the kernel in a loop (a barrier, a clear
 * of the semaphores, a COMPARE_BRANCH back): every program counter then recurs
 * and the trace grows without the code growing.  Records are streamed: memory
 * does not depend on `repeat`.
 */
#ifndef NX_TOOLS_GENERATE_H
#define NX_TOOLS_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/engine.h"
#include "base/error.h"

enum nx_generate_dma {
    NX_DMA_STATIC,     /* PSEUDO_DMA_TRIGGER of blocks in the NEFF; WRITE in the code that ran */
    NX_DMA_DYNAMIC_HW, /* (PSEUDO_)DMA_DIRECT2D on qSPDynamicHW and qActDynamicHW */
    NX_DMA_DYNAMIC_SW, /* the same on qPoolDynamic */
    NX_DMA_MIXED,      /* A static, B by hardware, C by software */
};

/*
 * The kernel's source, as far as debug information tells of it (NX_GENERATE_SOURCE):
 *
 *      10  def matmul_tiled(a, b, c):
 *      11      identity = load(...)
 *      12      transposed = transpose(identity)
 *      13      copy(transposed)
 *      14      for m in ...:                   tiles of 128 rows of C
 *      15          for n in ...:               tiles of 512 columns
 *      16              for k in ...:           steps of 128
 *      17                  a_tile = load(...)
 *      18                  b_tile = load(...)
 *      19                  psum += a_tile.T @ b_tile
 *      20              c_tile = copy(psum)
 *      21              store(c_tile)
 */
#define NX_GENERATE_SOURCE "kernels/matmul_tiled.py"
enum nx_generate_line {
    NX_LINE_KERNEL = 10,
    NX_LINE_LOAD_IDENTITY,
    NX_LINE_TRANSPOSE,
    NX_LINE_COPY_IDENTITY,
    NX_LINE_LOOP_M,
    NX_LINE_LOOP_N,
    NX_LINE_LOOP_K,
    NX_LINE_LOAD_A,
    NX_LINE_LOAD_B,
    NX_LINE_MULTIPLY,
    NX_LINE_COPY_OUT,
    NX_LINE_STORE_C,
};

/* How much debug information there is beside names and dependencies. */
enum nx_generate_debug {
    NX_GEN_DEBUG_FULL,  /* lines; HLO and framework levels with stack frames; kernel_debug_info.json */
    NX_GEN_DEBUG_LINES, /* lines: of BIR entries, or (v4, whose compiler is older) of penguin entries */
    NX_GEN_DEBUG_NONE,
};

/* The dtype codes of the instruction set. */
enum nx_generate_dtype { NX_GEN_BF16 = 6, NX_GEN_FP16 = 7, NX_GEN_FP32 = 10 };

/*
 * Defects: each leaves the container well formed and everything else right.
 * The truth (struct nx_generated) is what a reader must say about the damaged pair.
 */
enum nx_generate_defect {
    /* One compiler instruction of the Vector engine has opcode 0x7e, which nobody knows; it runs. */
    NX_DEFECT_UNKNOWN_OPCODE = 1 << 0,
    /* Core 0: three instruction records of kind 0x1d, two DMA records of type 9: records_unknown. */
    NX_DEFECT_UNKNOWN_RECORD = 1 << 1,
    /* def.json of core 0 has a variable "mystery" of type "wormhole". */
    NX_DEFECT_UNKNOWN_VAR_TYPE = 1 << 2,
    /* The NTFF's uuid (all places) differs from the NEFF's in its first byte. */
    NX_DEFECT_WRONG_UUID = 1 << 3,
    /* Core 0: two event records have the hardware overflow flag: records_overflow. */
    NX_DEFECT_OVERFLOW = 1 << 4,
    /* Core 0: a DRAIN of the Sync engine inside the window has an end record, but no start: ends_unmatched.
     */
    NX_DEFECT_END_WITHOUT_START = 1 << 5,
    /* Core 0: a DRAIN of the GpSimd engine inside the window has a start, but no end: execs_unfinished. */
    NX_DEFECT_START_WITHOUT_END = 1 << 6,
    /* Core 0: the end record of a DRAIN of the Sync engine is stamped 1 us before its start: backwards. */
    NX_DEFECT_TIME_BACKWARDS = 1 << 7,
    /* Core 0: an instruction fetch packet crosses the start of the window: its ring is left out whole. */
    NX_DEFECT_STRADDLE = 1 << 8,
    /* Sections of the cores alternate in the file, and (v6) in the metadata. Needs two cores. */
    NX_DEFECT_INTERLEAVED = 1 << 9,
    /* All sections are there, with no record in them. */
    NX_DEFECT_EMPTY_TRACE = 1 << 10,
    /* Core 0: two executions of the Vector engine inside the window have a pc outside the dumped code. */
    NX_DEFECT_CODE_OUTSIDE = 1 << 11,
    /* Core 0: a DMA packet inside the window (ring 14 of DMA engine 5) has a start, but no end and no ack. */
    NX_DEFECT_UNFINISHED_PACKET = 1 << 12,
    /* kelf-0.json names the target "atlantis". */
    NX_DEFECT_UNKNOWN_TARGET = 1 << 13,
    /* No .dbg member is in the archive: no BIR names, ids or dependencies. */
    NX_DEFECT_NO_DEBUG_INFO = 1 << 14,
};

enum nx_generated_kind { NX_ROW_INSTRUCTION, NX_ROW_PACKET, NX_ROW_EVENT };

/* One complete row, inside the window or not; see nx_generate_options.row. */
struct nx_generated_row {
    enum nx_generated_kind kind;
    bool inside; /* a reader shows it */
    unsigned core;
    int64_t start, end; /* ps from the window's start, as a reader converts them; event: both its time */
    /* instruction */
    enum nx_engine engine;
    uint8_t opcode;         /* of the code that ran; 0 when outside the dumped code */
    int64_t index;          /* place in the code that ran, -1 when outside the dumped code */
    int64_t compiler_index; /* place in the NEFF's code, -1 when inserted by the runtime */
    unsigned wait_cycles;   /* 0 when the instruction has no wait condition */
    unsigned crc_in, crc_out;
    unsigned line;   /* of the source; 0: the debug information has none */
    int32_t m, n, k; /* loop variables that kernel_debug_info.json has for it; -1: none */
    /* packet */
    unsigned queue; /* into nx_generated_core.queues */
    unsigned dma_engine, ring;
    uint32_t bytes;
    unsigned crc;
    /* event */
    int source; /* enum nx_engine, or -1: AXI */
    unsigned id, mode;
    bool is_semaphore;
    uint32_t value;
};

struct nx_generate_options { /* all zero: a small two-core v6 pair with static DMA */
    uint32_t m, k, n;        /* multiples of 128, 128, 512; 0: 256, 256, 1024 */
    enum nx_generate_dma dma;
    enum nx_generate_dtype dtype; /* of A and B; C is the same; 0: NX_GEN_BF16 */
    uint32_t cores;    /* physical cores: 1 or 2, tiles of C dealt in turn; 0: 2, v4: 1 (and only 1) */
    uint32_t version;  /* of the NTFF: 4, 5, 6; 0: 6.  4 is trn1 ("sunda"), the others trn2 ("cayman") */
    uint64_t repeat;   /* runs of the kernel in the loop; 0: 1 */
    uint64_t seed;     /* of the uuid, the CRCs and the small differences between rings */
    uint64_t clock_ps; /* device time before the first record; 0: v4 0.2 s, else 43 minutes */
    unsigned uuid_nul; /* byte of the uuid that is 0, so that NTFF field 2 is cut there; 0: none is */
    enum nx_generate_debug debug;
    uint32_t defects;  /* enum nx_generate_defect, or'ed */
    const char *without_member; /* archive member to leave out ("sg00/tensor_map.json"); NULL: none */
    /* Called for each row in the order of the records; may be NULL. */
    void (*row)(void *context, const struct nx_generated_row *row);
    void *context;
};

#define NX_GENERATED_QUEUES 8
struct nx_generated_queue {
    char name[24]; /* as in the NEFF: "qSPIO0"; runtime: "qDveTable"; "" = rings that the metadata do not list
                    */
    uint32_t type; /* of its rings: 0 unknown, 2 data, 3 input, 4 output */
    uint32_t index;          /* ring number; unlisted ones: 14 */
    uint32_t rings;          /* entries in the metadata */
    uint32_t blocks;         /* static blocks in the NEFF */
    uint64_t triggers;       /* executions of PSEUDO_DMA_TRIGGER, inside the window */
    uint64_t packets, bytes; /* inside the window; bytes with the 4-byte semaphore writes */
    uint64_t time_ps;        /* sum of their durations */
    uint64_t block_bytes;    /* static: of the triggered blocks, without the semaphore writes */
};

struct nx_generated_engine { /* rows = complete executions inside the window */
    uint64_t rows;
    uint64_t opcode_rows[256]; /* by opcode of the code that ran */
    uint64_t union_ps;         /* of all rows */
    uint64_t time_ps;          /* sum of durations, EVENT_SEMAPHORE left out */
    uint64_t active_ps;        /* union, EVENT_SEMAPHORE left out */
    uint64_t wait_cycles;      /* sum over rows whose instruction has a wait condition */
    uint64_t code_address;
    uint32_t code_instructions; /* that ran or could have: NTFF */
    uint32_t neff_instructions; /* NEFF, with labels */
    uint32_t labels;            /* 0xcc in the NEFF, deleted by the runtime */
};

struct nx_generated_core {
    char name[8];        /* "sg00" */
    uint32_t core_index; /* 0 on trn1; 4, 5 */
    struct nx_generated_engine engines[NX_ENGINE_COUNT];
    struct nx_generated_queue queues[NX_GENERATED_QUEUES];
    uint32_t queue_count;
    uint32_t queue_entries; /* rings in the metadata (field 7) */
    uint64_t exec_ps;       /* field 14 */
    uint64_t instruction_records, event_records, dma_records, throttle_records;
    uint64_t memory_bytes; /* sum over the memory list */
};

/* The right answers. */
struct nx_generated {
    uint8_t uuid[16]; /* the NEFF's */
    struct nx_generated_core cores[2];
    uint32_t core_count;

    uint64_t window_start_ps; /* on the trace's own clock, as a reader converts it */
    uint64_t window_ps;

    uint64_t records; /* all, of all sections */
    uint64_t records_unknown, records_overflow;
    uint64_t rows;                                          /* instructions inside the window */
    uint64_t packets;                                       /* inside the window, straddling rings left out */
    uint64_t events;                                        /* inside the window */
    uint64_t throttles;                                     /* all */
    uint64_t rows_outside, packets_outside, events_outside; /* complete, but left out */
    uint64_t execs_unfinished, ends_unmatched, packets_unfinished;
    uint64_t backwards;          /* executions that end before they start: no rows */
    uint64_t execs_without_code; /* rows whose pc is outside the dumped code */

    uint64_t engine_active_ps[NX_ENGINE_COUNT]; /* union over the cores, EVENT_SEMAPHORE left out */
    uint64_t total_active_ps; /* union over all engines (EVENT_SEMAPHORE left out) and DMA packets */
    uint64_t dma_active_ps, static_dma_active_ps, hardware_dma_active_ps, software_dma_active_ps;
    uint64_t dma_bytes; /* of the packets inside the window */

    /* Of the kernel's DMA, into SBUF and out of it, semaphore writes left out; and what of it is in static
     * blocks. */
    uint64_t bytes_in, bytes_out, static_in, static_out;
    uint64_t matmuls; /* rows with opcode MATMUL */
    uint64_t flops;   /* hardware_flops: 2 x MACs of all of them */
    uint64_t transpose_flops;
    /* Sums over rows that have a BIR id, and DMA_DIRECT2D (SPEC 7.5). */
    uint64_t sbuf_read, sbuf_write, psum_read, psum_write, hbm_read, hbm_write;
    uint64_t static_blocks;                           /* in the NEFF, all cores */
    uint64_t input_bytes, weight_bytes, output_bytes; /* sizes of the variables of one graph */
};

/*
 * Writes both files (existing ones are replaced); a path that is NULL is not written.  NX_USAGE when the
 * options do not fit together, NX_FAILED when a file cannot be written.  `truth` may be NULL.
 */
enum nx_status nx_generate(const struct nx_generate_options *options, const char *neff_path,
                           const char *ntff_path, struct nx_generated *truth, struct nx_error *error);

#endif
