/*
 * neff.h - reads a NEFF: the compiled kernel.
 *
 * A NEFF is a 1024-byte header and a gzip'ed tar archive (docs/format-neff.md).
 * nx_neff_open() reads it whole: everything below is then plain memory, owned
 * by the nx_neff until nx_neff_close().  The archive is streamed: members that
 * no field below comes from are checked and skipped, not kept.
 *
 * Inputs are hostile.  Sizes, counts and offsets are checked; member names
 * never touch the file system; limits bound what an archive can make us hold
 * (NX_NEFF_MAX_*).  What is malformed is NX_BAD_INPUT naming file, offset (in
 * the NEFF, or in the member, which the text then names) and reason.  What is
 * well formed but unknown (a variable type, a key) goes to `warnings`.
 * A link, a device, a name that is absolute, climbs ("..") or stands twice:
 * no compiler writes them, so the archive is refused as a whole.
 *
 * Facts about the format and their evidence: docs/format-neff.md.
 */
#ifndef NX_NEFF_NEFF_H
#define NX_NEFF_NEFF_H

#include "base/bytes.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/warning.h"

#define NX_NEFF_HEADER_SIZE 1024
#define NX_NEFF_MAX_UNPACKED ((uint64_t)8 << 30) /* bytes of all members together */
#define NX_NEFF_MAX_MEMBER ((uint64_t)4 << 30)   /* bytes of one member */
#define NX_NEFF_MAX_MEMBERS 100000
#define NX_NEFF_MAX_NAME 4096  /* bytes of a member's name */
#define NX_NEFF_MAX_RATIO 1100 /* unpacked : packed; deflate cannot exceed 1032 */
/* Bytes to read and memory to hold that members may ask for, all together; a JSON tree takes ten times its
 * text. */
#define NX_NEFF_MAX_WORK ((uint64_t)8 << 30)

struct nx_neff_header {
    uint64_t package_version;              /* 2 is the only one known */
    uint64_t header_size;                  /* bytes; 1024 */
    uint64_t data_size;                    /* bytes after the header */
    uint64_t major_version, minor_version; /* 1.0: one core; 2.0: LNC */
    char build_version[129];
    uint32_t num_tpb; /* cores */
    uint8_t hash[32]; /* 16 bytes used, rest 0 */
    uint8_t uuid[16]; /* joins to the NTFF */
    char name[257];   /* network name */
    uint32_t requested_tpb;
    uint8_t tpb_per_node[64];
    uint64_t feature_bits;
    uint32_t lnc_size; /* physical cores per logical core: 1 or 2 */
};

struct nx_neff_member { /* one archive member, for `dump neff` */
    const char *name;
    uint64_t size;   /* unpacked bytes */
    uint64_t offset; /* of its tar header in the unpacked archive */
};

enum nx_var_kind {
    NX_VAR_INPUT,        /* TensorInfo type IN */
    NX_VAR_OUTPUT,       /* OUT */
    NX_VAR_WEIGHT,       /* def.json type "file": WEIGHT */
    NX_VAR_STATE_BUFFER, /* SBUF itself */
    NX_VAR_DGE_TABLE,
    NX_VAR_OTHER, /* HBM temporaries ("virtual" and others) */
};

struct nx_neff_var {
    const char *name;
    enum nx_var_kind kind;
    const char *type;        /* def.json's own word */
    uint64_t size;           /* bytes; 0 if not given */
    int64_t var_id;          /* -1 if not given */
    const char *shape;       /* "[128 512]", or NULL: tensor_map does not have it */
    const char *format;      /* "NC", or NULL */
    const char *dtype;       /* "bfloat16", or NULL */
    const int64_t *dge_list; /* NX_VAR_DGE_TABLE: entry i is the var_id that index i names */
    size_t dge_count;
};

struct nx_neff_queue {
    const char *name;         /* as in def.json: "qSPIO0" */
    const char *display_name; /* as tables show it: "qSyncIO0" (base/queue_name.h) */
    const char *type;         /* in, out, data, dynamic */
    const char *owner;        /* pe, act, pool, dve, sp; NULL if not given */
    uint32_t num_rings;       /* def.json num_queues */
    const uint32_t *semaphores;
    size_t semaphore_count;
};

/* One side of a DMA descriptor: sizes innermost first (the first in bytes, the others counts), steps in
 * bytes. */
struct nx_dma_side {
    const char *var; /* variable name; "SB" is the state buffer */
    const char *dtype;
    uint64_t offset;
    const uint64_t *sizes;
    size_t size_count;
    const int64_t *steps;
    size_t step_count;
    uint64_t bytes; /* product of the sizes; 0, no sizes and a warning when that is impossible */
};

struct nx_dma_desc {
    const char *op; /* "copy", "cast", ... */
    struct nx_dma_side from, to;
};

/* A statically generated DMA: what PSEUDO_DMA_TRIGGER(queue, id) starts. */
struct nx_neff_block {
    uint32_t queue; /* index into nx_neff_graph.queues */
    uint32_t id;
    int64_t semaphore;     /* incremented once per ring when done; -1 if not given */
    enum nx_engine engine; /* in whose JSON it stands */
    const char *name;      /* "#comment", the BIR name of the block ("I-4-0-block-1"), or NULL */
    struct nx_dma_desc *descs;
    size_t desc_count;
    uint64_t read_bytes, write_bytes; /* sums over descs of from.bytes, to.bytes */
};

enum nx_dep_type { NX_DEP_ORDERED = 1, NX_DEP_ANTI, NX_DEP_OUTPUT, NX_DEP_FLOW };
struct nx_dbg_dep {
    uint64_t id;   /* of an entry of the same level */
    uint32_t type; /* enum nx_dep_type, or a number not known */
};

enum nx_dbg_kind { NX_DBG_REGULAR = 1, NX_DBG_SPILL, NX_DBG_TRANSPOSE };
struct nx_dbg_attr {
    const char *key, *value;
};

/* One entry of a .dbg file, of any level (assembly, BIR "backend", penguin, HLO, framework). */
struct nx_dbg_entry {
    uint64_t id;
    const char *name;        /* "" if none; compilers cut names at about 509 bytes */
    uint32_t kind;           /* enum nx_dbg_kind, or a number not known; 0 if none */
    uint32_t file;           /* index into nx_dbg.files: where it stands */
    const uint64_t *parents; /* ids in the next higher level */
    size_t parent_count;
    const struct nx_dbg_dep *deps; /* fields 4+9, then 5+10, in file order */
    size_t dep_count;
    const struct nx_dbg_attr *attrs;
    size_t attr_count;
    uint64_t stack_frame_id; /* innermost frame, a number of nx_neff.stack; 0 if none */
};

/* One file of a level: an engine's, or a piece of a level that the compiler split. */
struct nx_dbg_file {
    const char *member;      /* its name in the archive */
    const char *description; /* what it says of itself, or NULL */
    const char *parent;      /* its word for the file of the next higher level, or NULL */
    uint32_t engine;         /* 1 PE, 2 Activation, 3 Pool, 4 DMA, 5 DVE, 6 SP; 0: none, or of several */
    uint32_t first_source, source_count;         /* its part of nx_dbg.source_files */
    uint32_t first_kernel_name, kernel_name_count; /* its part of nx_dbg.kernel_names */
    uint32_t first_frame, frame_count;           /* its part of nx_neff.stack.frames */
};

struct nx_dbg {
    struct nx_dbg_entry *entries; /* file order; see nx_dbg_find for lookup by id */
    size_t count;
    struct nx_dbg_file *files;
    size_t file_count;
    const char *const *source_files; /* field 5 of all files together: see nx_dbg_source */
    size_t source_file_count;
    const char *const *kernel_names; /* field 7 of all files together: see nx_dbg_kernel_name */
    size_t kernel_name_count;
    uint32_t *by_id; /* entry numbers sorted by id */
};

/*
 * The places in the model's source that entries name by stack_frame_id: the indexes of all debug files (field
 * 6), one behind another.  Numbers count from 1; 0 is none.  The numbers of the first index are the file's
 * own, those of a further one are moved behind the ones before it (an index that several files repeat is kept
 * once).  Every number is 0 or in range.  A chain of parents is no proof against a loop: whoever follows one
 * stops after frame_count steps.
 */
struct nx_stack_location {
    uint32_t file, function; /* into file_names, function_names */
    int32_t line;            /* 0 if none */
};
struct nx_stack_frame {
    uint32_t location; /* into locations */
    uint32_t parent;   /* the frame that called it; 0: outermost */
};
struct nx_stack_index {
    const char **file_names; /* number n is at [n - 1], here and below */
    const char **function_names;
    struct nx_stack_location *locations;
    struct nx_stack_frame *frames;
    uint32_t file_name_count, function_name_count, location_count, frame_count;
};

/*
 * The kernel's own debug information (member kernel_debug_info.json): which line of the kernel's source, which
 * call and which iterations of its loops made an instruction.  The layout of that member is not published;
 * what is read is an assumption (docs/format-neff.md), and any other layout a warning.
 */
#define NX_NOT_GIVEN INT64_MIN
struct nx_kernel_place { /* in the source */
    const char *file;    /* or NULL */
    int64_t line;        /* or NX_NOT_GIVEN, as every number below */
    int64_t core;        /* physical core that the row belongs to */
};
struct nx_kernel_inst {
    const char *name; /* joins to an instruction: nx_kernel_find */
    struct nx_kernel_place place;
    int64_t frame, frame_depth; /* nx_kernel_frame.id of the innermost function, and how many there are */
    int64_t loop, loop_depth;   /* nx_kernel_loop.id of the innermost loop, and how many there are */
};
struct nx_kernel_frame {
    int64_t id, parent; /* parent: the caller's */
    const char *function;
    struct nx_kernel_place place;
};
struct nx_kernel_loop {
    int64_t id, parent; /* parent: of the loop around it */
    const char *variable;
    int64_t value;
    struct nx_kernel_place place;
};
struct nx_kernel_debug {
    struct nx_kernel_inst *insts; /* each list in the member's order */
    struct nx_kernel_frame *frames;
    struct nx_kernel_loop *loops;
    size_t inst_count, frame_count, loop_count;
    bool is_there; /* the NEFF has such a member, whatever its layout */
    uint32_t *by_name; /* numbers of insts, by name and core */
    struct nx_dict texts; /* of files, functions, variables: each is kept once */
};

struct nx_neff_engine {
    struct nx_bytes code;   /* 64 bytes an instruction; a tail shorter than that is a warning */
    struct nx_dbg assembly; /* entry i describes instruction i */
};

struct nx_neff_graph {        /* one physical core */
    const char *name;         /* "sg00"; joins to the NTFF core */
    struct nx_neff_var *vars; /* sorted by name, as def.json's object is unordered */
    size_t var_count;
    struct nx_neff_queue *queues; /* sorted by name */
    size_t queue_count;
    struct nx_neff_block *blocks; /* sorted by (queue, id) */
    size_t block_count;
    struct nx_neff_engine engines[NX_ENGINE_COUNT];
    struct nx_dbg bir;     /* backend entries of the five engines together; ids are unique over them */
    struct nx_dbg dma_bir; /* backend entries of DMA blocks (def.json dma_dbg) */
    struct nx_dbg penguin;
    struct nx_dbg hlo;       /* operations of the HLO graph; empty unless the compiler was told to keep them */
    struct nx_dbg framework; /* operations of the framework's model ("Layer[1]/aten.add"); empty likewise */
    int64_t runtime_semaphore_count;  /* -1 if not given */
    int64_t cc_streams;               /* streams for collectives; -1 if not given */
    const char *semaphore_names[256]; /* display name of semaphore i, or NULL */
};

struct nx_neff {
    const char *path;
    struct nx_neff_header header;
    const char *compiler_version; /* info.json tool_version, or NULL */
    const char *target;           /* kelf target: "sunda" (trn1), "cayman" (trn2), or NULL */
    int64_t kernel_node;          /* neff.json: index of the node whose op is not "null"; -1 if none */
    bool has_metrics;             /* metrics.json is there */
    bool has_hlo_stats;           /* metrics.json holds the compiler's count of HLO multiply-accumulates */
    struct nx_neff_graph *graphs;
    size_t graph_count;
    struct nx_stack_index stack;
    struct nx_kernel_debug kernel;
    struct nx_neff_member *members;
    size_t member_count;
    struct nx_warnings warnings;
    struct nx_arena arena;
};

enum nx_status nx_neff_open(const char *path, struct nx_neff *neff, struct nx_error *error);
void nx_neff_close(struct nx_neff *neff); /* safe on a zeroed struct */

/* Same, from memory: for tests and fuzzing. `bytes` must outlive the call only. */
enum nx_status nx_neff_parse(const char *path, struct nx_bytes bytes, struct nx_neff *neff,
                             struct nx_error *error);

/*
 * For looking at a file that does not open: carries on behind what is wrong and keeps what could be read.
 * The status and *error tell the first failure, `warnings` those behind it; nx_neff_close() is due either
 * way. header.header_size is 0 when the file is too short for a header.
 */
enum nx_status nx_neff_open_partly(const char *path, struct nx_neff *neff, struct nx_error *error);
enum nx_status nx_neff_parse_partly(const char *path, struct nx_bytes bytes, struct nx_neff *neff,
                                    struct nx_error *error);

/* The graph of that name, or NULL. */
const struct nx_neff_graph *nx_neff_find_graph(const struct nx_neff *neff, const char *name);
/* The entry with that id, or NULL. O(log n). */
const struct nx_dbg_entry *nx_dbg_find(const struct nx_dbg *dbg, uint64_t id);
/* Value of the entry's attribute of that name, or NULL. */
const char *nx_dbg_attr(const struct nx_dbg_entry *entry, const char *key);
/*
 * The place in the kernel's source that the entry's attributes kernel_file and kernel_line name.  False if it
 * has no such line, or a file number that its debug file does not have; *line counts from 1.
 */
bool nx_dbg_source(const struct nx_dbg *dbg, const struct nx_dbg_entry *entry, const char **file,
                   int64_t *line);
/* The kernel (function) that its attribute kernel_name names, or NULL. */
const char *nx_dbg_kernel_name(const struct nx_dbg *dbg, const struct nx_dbg_entry *entry);
/* The kernel instruction of that name on that core (rows that name no core are every core's), or NULL. */
const struct nx_kernel_inst *nx_kernel_find(const struct nx_kernel_debug *kernel, const char *name,
                                            int64_t core);
/* Number of the queue of that name in graph->queues, or -1. O(log n). */
int64_t nx_neff_find_queue(const struct nx_neff_graph *graph, const char *name);
/* The block that a trigger names by NEFF queue name and block id, or NULL. O(log n). */
const struct nx_neff_block *nx_neff_find_block(const struct nx_neff_graph *graph, const char *queue,
                                               uint32_t id);
/* Comma separated names of the header's feature bits; bits without a known name as "bit N". */
void nx_neff_feature_names(uint64_t bits, char *out, size_t out_size);

#endif
