/*
 * trace.h - the correlated trace: records joined with the code that made them.
 *
 *     records --pair--> rows --code, patches--> instructions --debug info--> BIR
 *                            --rings, triggers--> queues and static blocks
 *                            --debug info, semaphores--> what waited for what
 *
 * nx_trace_build() reads every record of every section, each kind of row in file
 * order, in time linear in their number and by as many threads as are worth it, and keeps the rows inside the profile's
 * window (SPEC 4.2), sorted by start.  What was outside, unfinished or not
 * understood is counted, and warned about where it matters.
 *
 * Times are picoseconds from the start of the window: a displayed nanosecond
 * is time / 1000.
 *
 * The trace borrows from the nx_neff and the nx_ntff it was built from: both
 * must stay open as long as it lives.
 */
#ifndef NX_TRACE_TRACE_H
#define NX_TRACE_TRACE_H

#include "base/text.h"
#include "isa/device.h"
#include "isa/isa.h"
#include "neff/neff.h"
#include "ntff/ntff.h"

#define NX_NONE UINT32_MAX /* no such index */

/*
 * Where an instruction comes from, as far as the debug information tells: made once for each BIR entry that
 * the code refers to, and shared.  The chain is BIR entry -> its first penguin parent -> that one's first HLO
 * parent -> that one's first framework parent; what is not there is NULL or NX_NO_TEXT.
 */
struct nx_origin {
    const struct nx_dbg_entry *bir; /* never NULL */
    const struct nx_dbg_entry *penguin, *hlo, *framework;
    uint32_t name;         /* into nx_trace.bir_names */
    uint32_t line;         /* into nx_trace.lines, "file:line": of the BIR entry, or else of its penguin parent */
    uint32_t kernel_line;  /* into nx_trace.lines: of the kernel instruction */
    uint32_t kernel_name;  /* into nx_trace.kernel_names: name of the kernel instruction */
    uint32_t hlo_name;     /* into nx_trace.hlo_names */
    uint32_t hlo_attrs;    /* into nx_trace.hlo_attrs: a JSON object of its attributes */
    uint32_t layer;        /* into nx_trace.layers: name of the framework operation */
    uint32_t stack_frames; /* into nx_trace.stack_frames: "[101, 102]", of the lowest level that names some; of
                              HLO, those of all HLO parents */
};

/* One instruction at its place in the code that ran: made once, shared by its executions. */
struct nx_code_inst {
    uint8_t core;    /* index into nx_trace.cores: pcore_idx */
    uint8_t engine;  /* enum nx_engine */
    uint8_t opcode;
    uint8_t activation; /* ACTIVATE: function code */
    uint8_t notification; /* NOTIFY: id; 2 execution start, 3 execution end */
    uint8_t dtype;      /* of the (first) source operand; NX_NO_DTYPE if none */
    uint32_t index;  /* place in the code: the tool's "pc" */
    uint32_t compiler_pc; /* place in the NEFF's code, or NX_NONE: the runtime inserted it */
    uint32_t opcode_text, operands; /* into nx_trace.opcodes, .operands */
    /* The compiler's form, where the runtime replaced it by another opcode; else NX_NO_TEXT. */
    uint32_t compiler_opcode_text, compiler_operands;
    uint32_t block; /* PSEUDO_DMA_TRIGGER in the NEFF: index into the graph's blocks, or NX_NONE */
    const struct nx_dbg_entry *bir; /* or NULL */
    uint32_t origin; /* into nx_trace.origins, or NX_NONE: there is no BIR entry */
    uint32_t bir_name; /* into nx_trace.bir_names, or NX_NO_TEXT */
    struct nx_inst_bytes bytes; /* zero unless nx_code_inst.counts_bytes */
    bool counts_bytes; /* has a BIR id, or is a DMA_DIRECT2D: only those count (SPEC 7.5) */
    bool understood;   /* its opcode, layout and codes are all known (isa.h) */
    bool ran;          /* inside the window */
    uint64_t macs;
};
#define NX_NO_DTYPE 0xff

/* One execution of an instruction. */
struct nx_exec {
    int64_t start, end; /* ps from the window's start; start <= end */
    uint32_t inst;      /* into nx_trace.insts, or NX_NONE: code outside the dump */
    uint32_t pc;        /* 20 bits of device address >> 6, as recorded */
    uint16_t wait_cycles; /* waited for its wait condition */
    uint16_t crc_in, crc_out; /* 0xffff = none */
    uint8_t engine, core;
};

struct nx_packet { /* one DMA packet */
    int64_t start, end; /* first descriptor read; last descriptor written */
    int64_t ack;        /* write completion, or NX_NO_TIME */
    uint32_t bytes;
    uint32_t ring;  /* into nx_trace.rings */
    uint32_t index; /* k-th packet of its ring, counted over the kept ones */
    uint32_t run;   /* of a static block: into nx_trace.runs, or NX_NONE */
    uint16_t crc;
    uint8_t core;
    bool last_of_block; /* of its ring: its bytes include the block's 4-byte semaphore write */
};

#define NX_SEMAPHORE_BYTES 4 /* what a ring writes behind a block's data */
/* Its bytes without a semaphore write. */
static inline uint32_t nx_packet_data_bytes(const struct nx_packet *p)
{
    return p->last_of_block && p->bytes >= NX_SEMAPHORE_BYTES ? p->bytes - NX_SEMAPHORE_BYTES : p->bytes;
}

/* One execution of a static DMA block: what one trigger started, on all rings together. */
struct nx_block_run {
    uint32_t block;   /* into the graph's blocks */
    uint32_t trigger; /* execution (into nx_trace.execs) that started it, or NX_NONE: outside the window */
    uint8_t core;
    /* Over its kept packets: */
    int64_t start, end; /* first start, last end */
    uint64_t bytes;     /* as written, without the semaphore writes */
    uint32_t packets;   /* 0: none was kept */
    uint8_t ring_index; /* of its rings */
    uint8_t queue_type; /* enum nx_queue_type */
};
#define NX_NO_TIME INT64_MIN

enum nx_queue_type { /* schema enum DmaQueueType, same order */
    NX_QUEUE_INSTRUCTION, NX_QUEUE_INPUT, NX_QUEUE_OUTPUT, NX_QUEUE_DATA,
    NX_QUEUE_SOFTWARE_DYNAMIC, NX_QUEUE_HARDWARE_DYNAMIC, NX_QUEUE_UNKNOWN,
};
/* A (core, DMA engine, ring) on which packets were seen. */
struct nx_ring {
    uint8_t core;
    uint8_t index;        /* ring (queue) number */
    uint16_t engine;      /* full number: 0..15, 64..79, 80..95 */
    enum nx_queue_type type;
    const struct nx_ntff_ring *info; /* NULL: not listed in the metadata (instruction fetch and others) */
    bool straddles; /* some packet crosses the window's edge: the whole ring is left out (SPEC 4.2) */
};

struct nx_event { /* event set or cleared, semaphore changed */
    int64_t time;
    uint32_t value; /* after the update */
    uint8_t core;
    uint8_t id;
    uint8_t mode;   /* 0xf3 increment or add, 0xf4 decrement, 0xf9 write, 0xf1 set event, 0x07 wait and clear */
    int8_t source;  /* enum nx_engine, or NX_SOURCE_AXI */
    bool is_semaphore;
};
#define NX_SOURCE_AXI (-1)

struct nx_throttle {
    int64_t start, end; /* until the core's next throttle record, or its last instruction end */
    uint8_t core, k, n, type;
};

/* How it is known that one thing had to wait for another. */
enum nx_dependency_type {
    NX_DEPENDS_UNTYPED = 0, /* by debug information, which does not say in which way */
    NX_DEPENDS_ORDERED = NX_DEP_ORDERED, /* by debug information, here and below */
    NX_DEPENDS_ANTI = NX_DEP_ANTI,
    NX_DEPENDS_OUTPUT = NX_DEP_OUTPUT,
    NX_DEPENDS_FLOW = NX_DEP_FLOW,
    NX_DEPENDS_TRIGGER,   /* an instruction started a DMA block */
    NX_DEPENDS_SEMAPHORE, /* `in` changed the semaphore or event that `out` waited for, at the change that let it go */
};

/* `out` depends on `in`: each an execution, or a run of a static DMA block that has packets. */
struct nx_dependency {
    uint32_t in, out; /* into nx_trace.execs or .runs */
    uint8_t type;     /* enum nx_dependency_type */
    bool in_is_run, out_is_run;
};

struct nx_trace_core {
    const char *name; /* "sg00" */
    const struct nx_ntff_core *ntff;
    const struct nx_neff_graph *neff; /* NULL if the NEFF has no graph of that name */
    uint32_t first_inst[NX_ENGINE_COUNT], inst_count[NX_ENGINE_COUNT]; /* ranges of nx_trace.insts */
    int64_t last_end; /* of its instructions in the window; 0 if there are none */
    bool waits;       /* for the next run: its Tensor engine has begun an EVENT_SEMAPHORE that does not end */
};

struct nx_trace {
    const struct nx_neff *neff;
    const struct nx_ntff *ntff;
    const struct nx_device *device; /* NULL: target not known */

    struct nx_trace_core *cores;
    uint32_t core_count;

    uint64_t window_start_ps; /* on the trace's own clock */
    int64_t window_ps;        /* length: total_time */

    struct nx_code_inst *insts;
    uint32_t inst_count;
    struct nx_origin *origins;
    uint32_t origin_count;
    struct nx_exec *execs; /* inside the window, by (start, core, file order) */
    uint32_t exec_count;
    struct nx_packet *packets; /* kept ones, by (start, core, DMA engine, ring) */
    uint32_t packet_count;
    struct nx_ring *rings; /* by (core, engine, index) */
    uint32_t ring_count;
    struct nx_block_run *runs; /* by core, queue and time of the trigger */
    uint32_t run_count;
    struct nx_event *events; /* inside the window, by time */
    uint32_t event_count;
    struct nx_throttle *throttles; /* all, by start */
    uint32_t throttle_count;
    struct nx_dependency *dependencies; /* of executions, by `out`; then of runs */
    size_t dependency_count;

    struct nx_dict opcodes, operands, bir_names;
    struct nx_dict lines, kernel_names, hlo_names, hlo_attrs, layers, stack_frames; /* see nx_origin */
    uint32_t unknown_opcode, unknown_operands; /* texts for executions of code that is not in the dump */

    uint64_t records;          /* all records of all sections */
    uint64_t records_unknown;  /* of a kind that was not understood */
    uint64_t records_error;    /* of these, the ones that are said to report errors */
    bool has_collectives;      /* in the NEFF or the NTFF; they are not understood */
    uint64_t records_overflow; /* with a hardware or software overflow flag: some before it were lost */
    uint64_t overflow_instructions, overflow_events, overflow_packets; /* of them, by what the record is of */
    uint64_t execs_outside, packets_outside, events_outside; /* complete, but outside the window */
    uint64_t execs_unfinished;   /* start without end */
    uint64_t execs_waiting;      /* of them, one a core at most: the Tensor engine waits for the next run */
    uint64_t ends_unmatched;     /* end without start */
    uint64_t backwards; /* rows whose end is before their start: left out */
    uint64_t packets_unfinished; /* DMA packets that lack their start or their end */
    uint64_t dependencies_cut;   /* executions whose dependencies are left out: the files name too many */
    uint64_t before_clock;       /* records stamped before their clock's start: taken to be at it */
    /* Of the instructions that ran inside the window: those whose layout or codes are not all known. */
    uint64_t insts_ran, insts_not_understood;
    uint64_t insts_replaced; /* instructions whose place in the NEFF holds another opcode, and no pseudo one */
    uint64_t execs_without_code; /* rows whose pc is not in the dumped code */

    struct nx_warnings warnings;
};

/* Called now and then while records are read; may be NULL. */
typedef void nx_progress(void *context, uint64_t done, uint64_t total);

/*
 * NX_BAD_INPUT when the trace belongs to another kernel (uuid), has no cores, or is too large to index
 * (2^32 rows of a kind).
 */
enum nx_status nx_trace_build(const struct nx_neff *neff, const struct nx_ntff *ntff, nx_progress *progress,
                              void *context, struct nx_trace *trace, struct nx_error *error);
void nx_trace_free(struct nx_trace *trace); /* safe on a zeroed struct */

/* Nanoseconds waited (-1: the clock is not known), exactly as the closed tool rounds (single precision division by the core clock). */
int64_t nx_trace_wait_ns(const struct nx_trace *trace, const struct nx_exec *exec);
/* Where an instruction comes from, or NULL. */
static inline const struct nx_origin *nx_inst_origin(const struct nx_trace *trace, const struct nx_code_inst *inst)
{
    return inst->origin == NX_NONE ? NULL : &trace->origins[inst->origin];
}
/* The instruction of an execution, or NULL. */
static inline const struct nx_code_inst *nx_exec_inst(const struct nx_trace *trace, const struct nx_exec *exec)
{
    return exec->inst == NX_NONE ? NULL : &trace->insts[exec->inst];
}

#endif
