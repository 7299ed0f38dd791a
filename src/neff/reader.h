/*
 * reader.h - the steps of opening a NEFF.  Private to this folder.
 *
 *   header.c      the first 1024 bytes
 *   archive.c     gzip and tar: the members that matter, in memory
 *   json.c        members as JSON, with checked access
 *   json_elements.c  long lists in JSON, an element at a time
 *   definition.c  def.json and tensor_map.json: variables, queues, semaphores
 *   dma_blocks.c  engine JSON: statically generated DMA
 *   debug_info.c    .dbg protobufs
 *   debug_levels.c  which .dbg members describe a graph's higher levels
 *   stack_frames.c  the index of the model's source inside of .dbg protobufs
 *   kernel_debug.c  kernel_debug_info.json
 *   neff.c        order of the steps, lookups
 */
#ifndef NX_NEFF_READER_H
#define NX_NEFF_READER_H

#include <jansson.h>

#include "base/protobuf.h"
#include "neff/neff.h"

#define NX_NEFF_MAX_KEPT ((uint64_t)2 << 30) /* bytes of members held in memory */

struct nx_kept_member {
    const char *name;
    struct nx_bytes bytes; /* heap; freed when the NEFF has been read */
};

/* A member with debug information of a higher level, told by its name. */
enum nx_debug_level { NX_LEVEL_PENGUIN, NX_LEVEL_HLO, NX_LEVEL_FRAMEWORK, NX_LEVEL_STACK };
struct nx_level_member {
    enum nx_debug_level level;
    int64_t graph; /* its number: N of "sgN" in the name; -1: of every graph */
    const char *name;
};

struct nx_frame_range { /* of nx_neff.stack.frames */
    uint32_t first, count;
};
/* What stack_frames.c keeps while nx_neff.stack grows. */
struct nx_stack_room {
    size_t file_names, function_names, locations, frames; /* capacities */
    struct nx_bytes last;                                 /* the index read last, and where it went */
    struct nx_frame_range last_range;
};

struct nx_neff_reader {
    struct nx_neff *neff;
    const char *path;
    struct nx_error *error;
    struct nx_error *first;      /* nx_neff_open_partly: where the first failure goes; else NULL */
    uint64_t max_unpacked;       /* NX_NEFF_MAX_UNPACKED; tests come there sooner */
    uint64_t max_work;           /* NX_NEFF_MAX_WORK */
    uint64_t work;               /* so far */
    struct nx_kept_member *kept; /* sorted by name once the archive has been read */
    size_t kept_count, kept_capacity;
    struct nx_level_member *levels; /* by graph, level and name */
    size_t level_count;
    struct nx_stack_room stack;
    uint64_t unknown_fields; /* of debug information; the first of them: */
    const char *unknown_member;
    const char *unknown_part;
    uint32_t unknown_number;
};

/*
 * Wraps each step that others can do without.  Its status, unless the file is read as far as it goes: then a
 * failure is noted and NX_OK returned, so that the next step follows.
 */
enum nx_status nx_neff_step(struct nx_neff_reader *reader, enum nx_status status);

/* On failure the header's fields are filled in all the same, if the file is long enough. */
enum nx_status nx_neff_read_header(struct nx_neff_reader *reader, struct nx_bytes file);
/* Whether the header leads to an archive, though it may be cut short. */
bool nx_neff_header_is_usable(const struct nx_neff_header *header, struct nx_bytes file);
enum nx_status nx_neff_read_archive(struct nx_neff_reader *reader, struct nx_bytes file);
void nx_neff_drop_archive(struct nx_neff_reader *reader);

/* "MEMBER: ..." as NX_BAD_INPUT; control characters, which texts of the file may bring in, become '?'. */
enum nx_status nx_neff_member_fail(struct nx_neff_reader *reader, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * Counts bytes to read or memory to hold against max_work.  Small members can ask for a lot of
 * memory, and a definition can name one member again and again.
 */
enum nx_status nx_neff_work(struct nx_neff_reader *reader, const char *member, uint64_t bytes);
/* A member's bytes. `found` is false, and no failure, if the archive does not have it. */
enum nx_status nx_neff_member(struct nx_neff_reader *reader, const char *name, struct nx_bytes *bytes,
                              bool *found);
bool nx_neff_has_member(const struct nx_neff_reader *reader, const char *name);
/* The same, as an error when it is missing. */
enum nx_status nx_neff_need_member(struct nx_neff_reader *reader, const char *name, struct nx_bytes *bytes);
/* A JSON member that must be an object (or array, if `array`). *value is NULL if missing and not `required`.
 */
enum nx_status nx_neff_json(struct nx_neff_reader *reader, const char *member, bool array, bool required,
                            json_t **value);
/* Bytes of memory that the tree of a document can take at most. */
uint64_t nx_neff_json_memory(struct nx_bytes text);

/*
 * Calls `each` for the elements of the list KEY in the object that the member is; never, if it has no such
 * key. The member must be there. Stops at the first status that is not NX_OK, and returns it.
 */
typedef enum nx_status nx_json_element(void *context, const json_t *element);
enum nx_status nx_neff_json_elements(struct nx_neff_reader *reader, const char *member, const char *key,
                                     nx_json_element *each, void *context);
/* The same for several lists in one walk; `found` says afterwards which of them were there. */
struct nx_json_list {
    const char *key;
    nx_json_element *each;
    bool found;
};
enum nx_status nx_neff_json_lists(struct nx_neff_reader *reader, const char *member,
                                  struct nx_json_list *lists, size_t count, void *context);
/* Text of an object's key copied into the arena, or NULL if there is none (or it is not text). */
const char *nx_neff_json_text(struct nx_neff_reader *reader, const json_t *object, const char *key);
int64_t nx_neff_json_integer(const json_t *object, const char *key, int64_t otherwise);
/* For sizes and counts: 0 if there is none; 0 and a warning if it is no integer from 0 to `limit`. */
uint64_t nx_neff_json_count(struct nx_neff_reader *reader, const char *member, const json_t *object,
                            const char *key, uint64_t limit);
/* The object's KEY, which must be of that type: an error if it is of another, or `required` and missing. */
enum nx_status nx_neff_json_part(struct nx_neff_reader *reader, const char *member, const json_t *object,
                                 const char *key, json_type type, bool required, json_t **value);

enum nx_status nx_neff_read_graph(struct nx_neff_reader *reader, const char *name, const char *definition,
                                  struct nx_neff_graph *graph);
struct nx_block_list {
    struct nx_neff_block *list;
    size_t count, capacity;
};
/* Appends the blocks of the engine's JSON member to *blocks. */
enum nx_status nx_neff_read_blocks(struct nx_neff_reader *reader, const char *member, enum nx_engine engine,
                                   struct nx_neff_graph *graph, struct nx_block_list *blocks);
/* Reads the files one after another into one nx_dbg. Missing ones are left out with a warning. */
enum nx_status nx_neff_read_debug(struct nx_neff_reader *reader, const char *const *members, size_t count,
                                  struct nx_dbg *dbg);
/* NX_BAD_INPUT naming the place in the member's `bytes` where the walk of a message (at any depth) stopped. */
enum nx_status nx_neff_malformed(struct nx_neff_reader *reader, const char *member, struct nx_bytes bytes,
                                 const struct nx_pb *pb);
/* Counts a field of debug information that this reader does not know. `part` is static text. */
void nx_neff_unknown_field(struct nx_neff_reader *reader, const char *member, const char *part,
                           const struct nx_pb_field *field);

/* The graph that a member's name tells: N of its last "sgN", or -1. */
int64_t nx_neff_graph_number(const char *member);
/* Reads every kernel_debug_info.json. */
void nx_neff_read_kernel_debug(struct nx_neff_reader *reader);
/* Lists the members of the higher levels, once the archive has been read. */
void nx_neff_find_levels(struct nx_neff_reader *reader);
/* The higher levels of graph `number` (-1: only what is of every graph), and its entries' stack frames. */
enum nx_status nx_neff_read_levels(struct nx_neff_reader *reader, int64_t number,
                                   struct nx_neff_graph *graph);
/*
 * Appends the stack frame index of a debug message to nx_neff.stack: field 6 of `message`; or `message`
 * itself, if it has no such field and `may_be_bare`.  *range is empty if there is none.
 */
enum nx_status nx_neff_read_stack(struct nx_neff_reader *reader, const char *member, struct nx_bytes message,
                                  bool may_be_bare, struct nx_frame_range *range);
/* Turns each entry's number of a frame, which counts in its own file's index (or else in `common`), into one
 * of nx_neff.stack. */
void nx_neff_resolve_frames(struct nx_neff_reader *reader, struct nx_neff_graph *graph,
                            struct nx_frame_range common);

#endif
