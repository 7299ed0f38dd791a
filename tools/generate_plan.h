/*
 * generate_plan.h - what passes between the steps of the generator. Private to it.
 *
 *   generate_code.c   instructions as 64 bytes
 *   generate_plan.c   the kernel: queues, transfers, the program of each engine
 *   generate_model.c  programs -> rows with times (one call for each phase)
 *   generate_neff.c   plan -> NEFF
 *   generate_debug.c  plan -> its debug information
 *   generate_ntff.c   plan + rows -> NTFF
 *   generate_truth.c  rows -> the right answers
 *   generate.c        options, and the order of the above
 *
 * A run has three phases: what comes before the loop, the loop's body, what
 * comes after.  All engines of all cores enter a phase at fixed distances from
 * its start, so each pass through the body takes the same time and its rows
 * are simulated once.  Without a loop everything is in the first phase.
 */
#ifndef NX_TOOLS_GENERATE_PLAN_H
#define NX_TOOLS_GENERATE_PLAN_H

#include "base/memory.h"
#include "base/text.h"
#include "generate.h"

#define GEN_INST 64
#define GEN_RINGS 16 /* of a queue, one on each DMA engine */
#define GEN_PARTITIONS 128
#define GEN_TILE_M 128
#define GEN_TILE_K 128
#define GEN_TILE_N 512
#define GEN_PARTITION_STEP 0x40000 /* from one SBUF partition to the next */

enum gen_opcode {
    GEN_LDWEIGHTS = 0x01,
    GEN_MATMUL = 0x02,
    GEN_ACTIVATE = 0x21,
    GEN_ACT_TABLE_LOAD = 0x23,
    GEN_COPY = 0x46,
    GEN_MYSTERY = 0x7e, /* an opcode that nobody knows */
    GEN_EVENT_SEMAPHORE = 0xa0,
    GEN_DRAIN = 0xa2,
    GEN_NOP = 0xa4,
    GEN_WRITE = 0xa5,
    GEN_NOTIFY = 0xa6,
    GEN_COMPARE_BRANCH = 0xa9,
    GEN_TENSOR_LOAD = 0xaa,
    GEN_RANGE_CLEAR = 0xb0,
    GEN_SET_ORDERING_MODE = 0xb1,
    GEN_DMA_DIRECT2D = 0xb8,
    GEN_DMA_TRIGGER = 0xc1,
    GEN_LABEL = 0xcc,
    GEN_PSEUDO_DIRECT2D = 0xd4,
};

/* Wait modes (byte 4) and update modes (byte 6, at completion). */
enum { GEN_WAIT_EQ = 1, GEN_WAIT_GT = 4, GEN_WAIT_GE = 5, GEN_WAIT_EVENT = 7 };
enum { GEN_SET_EVENT = 0x11, GEN_INCREMENT = 0x13, GEN_DECREMENT = 0x14, GEN_ADD = 0x15, GEN_ASSIGN = 0x19 };

/* Semaphores of the runtime (below 3) and of the engines (SPEC 7.4). */
enum { GEN_SEM_NEXT_RUN = 0, GEN_SEM_PEER = 1, GEN_SEM_BARRIER = 2, GEN_SEM_ENGINE = 3 };

struct gen_ap { /* access pattern, innermost first */
    uint32_t address;
    int16_t step;
    uint16_t count; /* along the first dimension; the others are 1 */
};

struct gen_inst {
    uint8_t ran[GEN_INST];  /* in the code that ran; meaningless for a label */
    uint8_t neff[GEN_INST]; /* in the NEFF; meaningless unless compiled */
    bool compiled;          /* is in the NEFF */
    bool label;             /* only there: the runtime deletes it */
    uint32_t duration;      /* ps */
    uint32_t issue;         /* ps until the next instruction may start; 0: after the end of this one */
    int32_t transfer;       /* that it starts when done, into gen_core.transfers; -1: none */
    uint32_t bir;           /* entry number + 1 of gen_core.bir; 0: none */
    uint16_t crc_in, crc_out;
};

enum { GEN_NO_START = 1, GEN_NO_END = 2, GEN_BACKWARDS = 4 };
struct gen_step {  /* one execution in program order */
    int32_t inst;  /* -1: code of the runtime that is not in the dump */
    uint8_t flags; /* which records are not written, or wrong */
};

enum { GEN_BEFORE, GEN_BODY, GEN_AFTER, GEN_PHASES };

struct gen_program { /* of one engine */
    struct gen_inst *insts;
    size_t inst_count, inst_capacity;
    struct gen_step *steps[GEN_PHASES];
    size_t step_count[GEN_PHASES], step_capacity[GEN_PHASES];
    uint64_t address;
    uint32_t ran_count, neff_count, label_count;
    int32_t *ran_index, *neff_index; /* of an instruction; -1: not there */
};

enum gen_queue_kind { GEN_STATIC, GEN_HARDWARE, GEN_SOFTWARE, GEN_RUNTIME };
struct gen_queue {
    const char *name; /* "": instruction fetch rings, which the metadata do not list */
    enum gen_queue_kind kind;
    const char *type, *owner; /* def.json */
    enum nx_engine engine;    /* whose instructions start its transfers */
    uint32_t ring_type, ring_index;
    uint32_t first_ring, ring_count; /* on which DMA engines of the core */
    uint8_t semaphore;               /* first of its 16 */
    uint32_t transfers;              /* started so far; the number of a static block */
};

struct gen_side {
    const char *var;
    uint32_t var_id;
    uint64_t offset;    /* bytes into the variable */
    uint32_t row_bytes; /* 128 rows */
    uint32_t step;      /* bytes from row to row */
    int32_t table;      /* index in the DGE table; -1: named by variable, address `base` + offset */
    uint64_t base;
};

struct gen_transfer {
    uint32_t queue, id; /* id: block number in its queue */
    uint8_t semaphore;
    uint32_t target; /* value of the semaphore when done */
    struct gen_side from, to;
    uint32_t bir; /* of the block; 0 for dynamic ones */
    bool into_sbuf;
};

/* Statements of the source: what penguin entries are numbered by, and the N of names "I-N-x". */
enum gen_statement {
    GEN_LOAD_A = 1,
    GEN_LOAD_B,
    GEN_MULTIPLY,
    GEN_COPY_OUT,
    GEN_STORE_C,
    GEN_LOAD_IDENTITY,
    GEN_TRANSPOSE,
    GEN_COPY_IDENTITY,
    GEN_TABLE, /* the compiler's own, of no line */
    GEN_STATEMENTS,
};

struct gen_dep {
    uint32_t bir;
    uint8_t type;
    bool sync;
};
#define GEN_DEPS 6
#define GEN_DBG_DMA NX_ENGINE_COUNT /* file of the DMA blocks, beside those of the engines */
struct gen_bir {
    uint8_t file; /* enum nx_engine, or GEN_DBG_DMA */
    uint32_t id;
    char name[32];
    uint32_t penguin; /* enum gen_statement */
    uint32_t kind;    /* 1 REGULAR, 3 TRANSPOSE */
    int32_t m, n, k;  /* values of the loop variables around it, -1 where it is in no such loop */
    const char *dma_queue;
    struct gen_dep deps[GEN_DEPS];
    unsigned dep_count;
};

struct gen_core {
    char name[8];
    uint32_t number;     /* 0, 1 */
    uint32_t core_index; /* 0 on trn1; 4, 5 */
    struct gen_program programs[NX_ENGINE_COUNT];
    struct gen_queue queues[NX_GENERATED_QUEUES];
    uint32_t queue_count, neff_queue_count; /* the NEFF's come first */
    uint32_t act_table_queue, fetch_queue;
    struct gen_transfer *transfers;
    size_t transfer_count, transfer_capacity;
    struct gen_bir *bir;
    size_t bir_count, bir_capacity;
    uint32_t sem_value[256]; /* while planning: what each semaphore will have reached */
};

struct gen_plan {
    struct nx_generate_options options; /* with the defaults filled in */
    uint8_t uuid[16];
    struct gen_core cores[2];
    uint32_t core_count;
    uint32_t element; /* bytes */
    bool trn1;
    bool looped;
};

/* ------------------------------------------------------------------ rows of one phase and one core */
struct gen_exec {
    int64_t start, end; /* ps from the phase's start */
    int32_t inst;       /* -1: outside the dumped code */
    uint32_t pc;        /* only when outside: (address >> 6) & 0xfffff */
    uint16_t wait_cycles;
    uint8_t engine, flags;
};
struct gen_packet {
    int64_t start, end, ack;
    uint32_t bytes;
    uint16_t crc;
    uint8_t queue, ring; /* ring: on which of the 16 DMA engines */
    bool unfinished;
};
struct gen_event {
    int64_t time;
    uint32_t value;
    int8_t source; /* enum nx_engine, or -1: AXI */
    uint8_t id, mode;
    bool is_semaphore, overflow;
};
struct gen_rows {
    struct gen_exec *execs;
    size_t exec_count, exec_capacity;
    struct gen_packet *packets;
    size_t packet_count, packet_capacity;
    struct gen_event *events;
    size_t event_count, event_capacity;
    int64_t length; /* ps: everything of the phase lies inside */
};

/* Times of the whole run. Phase p of pass i starts at phase_start(): absolute ps on the device clock. */
struct gen_schedule {
    struct gen_rows rows[GEN_PHASES][2]; /* by phase and core */
    int64_t start[GEN_PHASES];           /* of the (first) phase, absolute */
    int64_t period;                      /* of the body */
    uint64_t passes[GEN_PHASES];
};

/* Clocks of a core: the five engines, events, DMA engines. */
enum { GEN_CLOCK_EVENT = NX_ENGINE_COUNT, GEN_CLOCK_DMA, GEN_CLOCKS = GEN_CLOCK_DMA + GEN_RINGS };
struct gen_clock {
    uint64_t init, actual, expected;
};

/* ------------------------------------------------------------------ generate_debug.c */
/* The line of a statement; 0: it has none, or the options leave lines out. */
uint32_t gen_line(const struct gen_plan *plan, uint32_t statement);

/* ------------------------------------------------------------------ generate_code.c */
void gen_put_u16(uint8_t *p, uint32_t value);
void gen_put_u32(uint8_t *p, uint32_t value);
void gen_put_u64(uint8_t *p, uint64_t value);

void gen_code_op(uint8_t *code, enum gen_opcode opcode);
void gen_code_wait(uint8_t *code, uint8_t mode, uint8_t index, uint32_t value);
void gen_code_update(uint8_t *code, uint8_t mode, uint8_t index);
void gen_code_event_semaphore(uint8_t *code, uint8_t wait_mode, uint8_t wait_index, uint32_t wait_value,
                              uint8_t update_mode, uint8_t update_index, uint32_t update_value);
void gen_code_weights(uint8_t *code, uint8_t dtype, uint8_t pass, bool transpose, struct gen_ap src);
void gen_code_matmul(uint8_t *code, uint8_t dtype, uint8_t pass, uint8_t flags, struct gen_ap src,
                     uint32_t dst);
void gen_code_copy(uint8_t *code, uint8_t from, uint8_t to, struct gen_ap src, uint32_t dst);
void gen_code_activate(uint8_t *code, uint8_t from, uint8_t to, uint8_t function, struct gen_ap src,
                       uint32_t dst, uint32_t bias);
void gen_code_write(uint8_t *code, uint64_t to0, uint32_t data0, uint64_t to1, uint32_t data1);
void gen_code_notify(uint8_t *code, uint8_t id);
/* `distance` in instructions from its own place; always taken unless it compares a register. */
void gen_code_branch(uint8_t *code, bool compare, int32_t distance, uint8_t hint);
void gen_code_load(uint8_t *code, uint64_t address);
void gen_code_range_clear(uint8_t *code, uint8_t first, uint8_t last);
void gen_code_ordering(uint8_t *code, bool strict);
void gen_code_trigger(uint8_t *code, const char *queue, uint32_t block);
/* As compiled (variables) or as the runtime left it (addresses). */
void gen_code_direct2d(uint8_t *code, bool compiled, const struct gen_transfer *transfer, uint8_t dtype);

/* ------------------------------------------------------------------ the other steps */
uint64_t gen_random(uint64_t seed, uint64_t what); /* the same for the same arguments */

enum nx_status gen_plan_make(const struct nx_generate_options *options, struct gen_plan *plan,
                             struct nx_error *error);
void gen_plan_free(struct gen_plan *plan);

enum nx_status gen_schedule_make(struct gen_plan *plan, struct gen_schedule *schedule,
                                 struct nx_error *error);
void gen_schedule_free(struct gen_schedule *schedule);
/* The id of a NOTIFY that ran; 0 for every other row. */
unsigned gen_notification(const struct gen_core *core, const struct gen_exec *exec);

enum nx_status gen_neff_write(const struct gen_plan *plan, const char *path, struct nx_error *error);

/* The window and the lengths that the metadata state. */
struct gen_window {
    uint64_t start, end; /* as a reader converts them */
    uint64_t exec_ps[2]; /* by core: field 14 */
};
void gen_clocks(const struct gen_plan *plan, uint32_t core, struct gen_clock clocks[GEN_CLOCKS]);
uint64_t gen_clock_stamp(const struct gen_clock *clock, int64_t time); /* ps -> time stamp of a record */
uint64_t gen_clock_read(const struct gen_clock *clock,
                        int64_t time); /* ps -> ps as a reader converts the stamp */
struct gen_window gen_window_make(const struct gen_plan *plan, const struct gen_schedule *schedule);
enum nx_status gen_ntff_write(const struct gen_plan *plan, const struct gen_schedule *schedule,
                              const struct gen_window *window, const char *path, struct nx_error *error);
/* Records of one core: [0] instruction, [1] event, [2] DMA, [3] throttle; and how many nobody knows. */
void gen_ntff_counts(const struct gen_plan *plan, const struct gen_schedule *schedule, uint32_t core,
                     uint64_t counts[4], uint64_t *unknown);
uint64_t gen_memory_bytes(const struct gen_plan *plan, uint32_t core, unsigned category);

void gen_truth_make(const struct gen_plan *plan, const struct gen_schedule *schedule,
                    const struct gen_window *window, struct nx_generated *truth);

#endif
