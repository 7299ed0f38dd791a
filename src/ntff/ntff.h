/*
 * ntff.h - reads an NTFF: the execution trace.
 *
 * An NTFF (versions 4, 5, 6) is a 128-byte header, a protobuf with the
 * metadata, and raw sections of 16-byte records (docs/format-ntff.md).  The
 * file stays mapped while the nx_ntff is open; sections and code point into
 * the mapping, so opening costs the metadata only and records are read once,
 * in order, by whoever walks the sections (trace/).
 *
 * Inputs are hostile: every offset and size is checked before it is used, and
 * header, metadata, sections and code ranges must tile the file: an overlap or
 * a piece beyond the end is an error, a gap (bytes that nothing refers to) a
 * warning.  Times are converted by nx_ntff_ps().
 */
#ifndef NX_NTFF_NTFF_H
#define NX_NTFF_NTFF_H

#include "base/bytes.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/warning.h"

#define NX_NTFF_HEADER_SIZE 128
#define NX_NTFF_RECORD_SIZE 16
#define NX_DMA_ENGINES 16 /* per core; records carry engine & 0x1f */

/* t_ps = (timestamp - init) * expected / actual, in 128 bits (SPEC 4.1). */
struct nx_clock {
    uint64_t init;     /* counter value at its start */
    uint64_t actual;   /* counts per tick x 1024 */
    uint64_t expected; /* picoseconds per tick x 1024 */
};

static inline bool nx_ntff_before_clock(const struct nx_clock *clock, uint64_t timestamp)
{
    return timestamp < clock->init;
}
/* counts * expected / actual, or UINT64_MAX: what nx_ntff_ps() needs for clocks that do not count picoseconds. */
uint64_t nx_ntff_scaled(const struct nx_clock *clock, uint64_t counts);
/*
 * Picoseconds of a record's timestamp since the clock's start. It saturates: a time that does not fit gives
 * UINT64_MAX; a timestamp before the start (no real file has one) gives 0, and nx_ntff_before_clock() tells
 * it from a real 0.
 */
static inline uint64_t nx_ntff_ps(const struct nx_clock *clock, uint64_t timestamp)
{
    if (nx_ntff_before_clock(clock, timestamp))
        return 0;
    return clock->actual == clock->expected ? timestamp - clock->init : nx_ntff_scaled(clock, timestamp - clock->init);
}

enum nx_section_type {
    NX_SECTION_INSTRUCTION = 0,
    NX_SECTION_EVENT = 1, /* events and semaphores */
    NX_SECTION_ERROR = 2,
    NX_SECTION_DMA = 4,
    NX_SECTION_THROTTLE = 5,
};
enum nx_section_block { NX_BLOCK_CORE = 0, NX_BLOCK_DMA = 1, NX_BLOCK_TOPSP = 2 };

struct nx_ntff_section {
    uint32_t type;        /* enum nx_section_type, or a number not known */
    uint32_t block;       /* enum nx_section_block, or a number not known */
    uint32_t block_index;
    uint64_t file_offset; /* of its first record */
    struct nx_bytes records; /* a whole number of 16-byte records */
};

enum nx_patch_type { NX_PATCH_INSERTED = 0, NX_PATCH_MODIFIED = 1, NX_PATCH_DELETED = 2 };
struct nx_patch {
    uint64_t offset; /* byte offset in the code that ran */
    uint64_t count;  /* instructions */
    uint32_t type;   /* enum nx_patch_type */
};

struct nx_ntff_code { /* what one engine really ran: NEFF code plus the runtime's */
    uint64_t address; /* device address of the first instruction */
    struct nx_bytes bytes; /* 64 bytes an instruction */
    bool in_raw_area;      /* v6: a range of the file of its own; before, part of the metadata */
    struct nx_patch *patches;
    size_t patch_count;
};

struct nx_ring_block { /* a static DMA block as this ring serves it */
    uint32_t id;
    uint64_t packets, m2s_descriptors, s2m_descriptors;
};

struct nx_ntff_ring { /* a DMA queue on one DMA engine */
    uint32_t engine; /* trn1 0..15, trn2 64..79 (core 4), 80..95 (core 5) */
    uint32_t index;  /* ring number on that engine */
    uint32_t type;   /* 0 unknown, 2 weights (data), 3 input, 4 output */
    const char *name;         /* NEFF queue name or a runtime queue: "qSPIO0" */
    const char *display_name; /* "qSyncIO0" */
    int64_t event_id;         /* -1 if none */
    uint32_t axi_port, dram_channel;
    struct nx_ring_block *blocks;
    size_t block_count;
};

struct nx_memory_use {
    uint32_t category; /* v4: index, named in docs/format-ntff.md; 0 in v5 and v6, which give the name */
    uint64_t bytes;
    const char *name; /* as the file says (v5+), else NULL */
};

struct nx_ntff_core { /* one physical core ("graph" in the metadata) */
    const char *name; /* "sg00"; joins to the NEFF graph */
    uint32_t device_index, core_index;
    struct nx_ntff_code code[NX_ENGINE_COUNT];
    struct nx_ntff_ring *rings;
    size_t ring_count;
    struct nx_clock engine_clock[NX_ENGINE_COUNT];
    struct nx_clock event_clock; /* events and throttle */
    struct nx_clock dma_clock[NX_DMA_ENGINES];
    struct nx_memory_use *memory;
    size_t memory_count;
    uint64_t exec_ps; /* execution time as the runtime measured it; 0 if absent */
    struct nx_ntff_section *sections;
    size_t section_count;
};

struct nx_version { /* of runtime, driver, collectives */
    uint64_t major, minor, patch;
    const char *git_hash; /* NULL if absent */
    bool present;
};

struct nx_execution {
    uint8_t uuid[16];
    size_t uuid_size;
    uint64_t start_ps, end_ps;
};

struct nx_trace_capacity { /* size of a trace ring while capturing (field 13) */
    uint32_t block, type;
    uint64_t bytes;
};

struct nx_ntff {
    const char *path; /* for messages */
    struct nx_file file; /* nothing, when parsed from memory */
    uint32_t version; /* 4, 5 or 6 */
    uint64_t metadata_size; /* bytes of the protobuf */
    const char *neff_name;
    uint8_t uuid[16]; /* of the NEFF it ran; see nx_ntff_uuid_matches */
    size_t uuid_size; /* known bytes: 16, or fewer where the writer cut it */
    bool uuid_exact;  /* from the v6 field that holds all 16 bytes */
    uint32_t cores_per_lnc;
    uint64_t capture_time; /* unix seconds (v4); 0 if absent */
    struct nx_version runtime, driver, collectives;
    const char *instance_type; /* "trn2.3xlarge", or NULL */
    const char *instance_id;   /* v6, or NULL */
    uint64_t pid;              /* v6; 0 if absent */
    struct nx_trace_capacity *capacities;
    size_t capacity_count;
    struct nx_execution *executions; /* v6 */
    size_t execution_count;
    struct nx_ntff_core *cores;
    size_t core_count;
    struct nx_ntff_section *orphan_sections; /* of a core that the metadata does not describe */
    size_t orphan_section_count;
    uint64_t covered_bytes; /* header + metadata + sections + code ranges */
    struct nx_warnings warnings;
    struct nx_arena arena;
};

enum nx_status nx_ntff_open(const char *path, struct nx_ntff *ntff, struct nx_error *error);
void nx_ntff_close(struct nx_ntff *ntff); /* safe on a zeroed struct */

/*
 * For looking at a damaged file: as nx_ntff_open(), but what was read before the problem stays in *ntff, which
 * must be closed in any case.
 */
enum nx_status nx_ntff_inspect(const char *path, struct nx_ntff *ntff, struct nx_error *error);

/* Same as nx_ntff_open() and nx_ntff_inspect(), from memory that outlives the nx_ntff (tests, fuzzing). */
enum nx_status nx_ntff_parse(const char *path, struct nx_bytes bytes, struct nx_ntff *ntff,
                             struct nx_error *error);
enum nx_status nx_ntff_parse_partly(const char *path, struct nx_bytes bytes, struct nx_ntff *ntff,
                                    struct nx_error *error);

/*
 * Whether the trace can be of the NEFF with that uuid. Before v6 the file holds it as a C string: a uuid with a
 * NUL byte is cut there, so one that is shorter matches only if the next byte of `uuid` is 0.
 */
bool nx_ntff_uuid_matches(const struct nx_ntff *ntff, const uint8_t uuid[16]);

/* "2.30.51 (faafe)": the numbers and the first five digits of the git hash, as the closed tool prints it. */
void nx_version_text(const struct nx_version *version, char *out, size_t size);

/* ------------------------------------------------------------------ records
 * 16 bytes: u32 w0, u32 w1, u64 timestamp.  The helpers below name the bit
 * fields (SPEC 5); they do no checking and cost nothing.
 */
struct nx_record {
    uint32_t w0, w1;
    uint64_t timestamp;
};

static inline struct nx_record nx_record_load(const uint8_t *p)
{
    return (struct nx_record){nx_load_u32(p), nx_load_u32(p + 4), nx_load_u64(p + 8)};
}

static inline unsigned nx_record_kind(struct nx_record r) { return r.w0 >> 24 & 0x1f; }
static inline bool nx_record_overflow(struct nx_record r) { return (r.w0 >> 24 & 0x60) != 0; }
static inline bool nx_record_valid(struct nx_record r) { return (r.w0 >> 31) != 0; }

/* Kinds of engines: 4 + 4 * engine + sub. */
enum nx_record_sub { NX_SUB_START = 0, NX_SUB_END = 1, NX_SUB_EXPLICIT = 2, NX_SUB_EVENT = 3 };
#define NX_KIND_AXI 0x1b      /* event or semaphore written over AXI, by DMA or host: as of an engine NX_ENGINE_COUNT */
#define NX_KIND_THROTTLE 0x1e
/* Published, in no file at hand: */
#define NX_KIND_ERROR 0x03
#define NX_KIND_ERROR_2 0x1f

/* Instruction start and end. */
static inline uint32_t nx_record_pc(struct nx_record r) { return r.w0 & 0xfffff; } /* address >> 6 */
static inline unsigned nx_record_hint(struct nx_record r) { return r.w0 >> 20 & 15; }
static inline unsigned nx_record_resets(struct nx_record r) { return r.w1 & 0xffff; }   /* start; 0 in all */
static inline unsigned nx_record_wait_cycles(struct nx_record r) { return r.w1 >> 16; } /* start */
static inline unsigned nx_record_crc_in(struct nx_record r) { return r.w1 & 0xffff; }   /* end */
static inline unsigned nx_record_crc_out(struct nx_record r) { return r.w1 >> 16; }     /* end */

/* Event and semaphore. */
static inline unsigned nx_record_event_index(struct nx_record r) { return r.w0 & 0xff; }
static inline bool nx_record_is_semaphore(struct nx_record r) { return r.w0 >> 8 & 1; }
static inline unsigned nx_record_event_mode(struct nx_record r) { return r.w0 >> 16 & 0xff; }

/* DMA: kind is the DMA engine & 0x1f. */
enum nx_dma_record { NX_DMA_START = 1, NX_DMA_END = 5, NX_DMA_ACK = 6 };
static inline unsigned nx_record_dma_type(struct nx_record r) { return r.w1 & 15; }
static inline unsigned nx_record_dma_ring(struct nx_record r) { return r.w1 >> 4 & 15; }
static inline uint32_t nx_record_dma_bytes(struct nx_record r) { return r.w0 & 0xffffff; } /* END */
static inline unsigned nx_record_dma_crc(struct nx_record r) { return r.w1 >> 16; }        /* END */

/* Throttle: the core runs at k/n of its full rate until the next one. */
static inline unsigned nx_record_throttle_counter(struct nx_record r) { return r.w0 & 0xffff; } /* activity? */
static inline unsigned nx_record_throttle_n(struct nx_record r) { return r.w0 >> 16 & 0xff; }
static inline unsigned nx_record_throttle_k(struct nx_record r) { return r.w1 & 0xff; }
static inline unsigned nx_record_throttle_type(struct nx_record r) { return r.w1 >> 8 & 0xff; }

/* The kinds of records that real traces hold. */
enum nx_record_class {
    NX_RECORD_UNKNOWN,
    NX_RECORD_START, NX_RECORD_END, /* of an instruction; its engine: nx_record_engine() */
    NX_RECORD_EVENT,                /* an event or semaphore; its engine, or NX_ENGINE_COUNT: over AXI */
    NX_RECORD_THROTTLE,
    NX_RECORD_DMA_START, NX_RECORD_DMA_END, NX_RECORD_DMA_ACK,
};

static inline unsigned nx_record_engine(struct nx_record r) { return (nx_record_kind(r) >> 2) - 1; }

static inline enum nx_record_class nx_record_classify(const struct nx_ntff_section *section, struct nx_record r)
{
    static const uint8_t dma[16] = {[NX_DMA_START] = NX_RECORD_DMA_START, [NX_DMA_END] = NX_RECORD_DMA_END,
                                    [NX_DMA_ACK] = NX_RECORD_DMA_ACK};
    unsigned sub = nx_record_kind(r) & 3;

    if (section->block == NX_BLOCK_TOPSP || !nx_record_valid(r))
        return NX_RECORD_UNKNOWN;
    switch (section->type) {
    case NX_SECTION_INSTRUCTION:
        if (nx_record_engine(r) >= NX_ENGINE_COUNT)
            return NX_RECORD_UNKNOWN;
        return sub == NX_SUB_START ? NX_RECORD_START : sub == NX_SUB_END ? NX_RECORD_END : NX_RECORD_UNKNOWN;
    case NX_SECTION_EVENT:
        return sub == NX_SUB_EVENT && nx_record_engine(r) <= NX_ENGINE_COUNT ? NX_RECORD_EVENT : NX_RECORD_UNKNOWN;
    case NX_SECTION_DMA:
        return (enum nx_record_class)dma[nx_record_dma_type(r)];
    case NX_SECTION_THROTTLE:
        return nx_record_kind(r) == NX_KIND_THROTTLE ? NX_RECORD_THROTTLE : NX_RECORD_UNKNOWN;
    default:
        return NX_RECORD_UNKNOWN;
    }
}

/* Whether it is said to report an error. In DMA sections the kind is an engine. */
static inline bool nx_record_is_error(const struct nx_ntff_section *section, struct nx_record r)
{
    return section->type == NX_SECTION_ERROR ||
           (section->type != NX_SECTION_DMA &&
            (nx_record_kind(r) == NX_KIND_ERROR || nx_record_kind(r) == NX_KIND_ERROR_2));
}

/*
 * What a record is, in words, for censuses and dumps: "Tensor instruction start", "AXI semaphore",
 * "DMA packet end", "throttle", or "unknown" (then *known is false).  Static text.
 */
const char *nx_record_describe(const struct nx_ntff_section *section, struct nx_record r, bool *known);
/* "instruction", "event", "error", "dma", "throttle"; "unknown" */
const char *nx_ntff_section_name(uint32_t type);

#endif
