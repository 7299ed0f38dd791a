/*
 * reader.h - the steps of opening a NEFF.  Private to this folder.
 *
 *   header.c      the first 1024 bytes
 *   archive.c     gzip and tar: the members that matter, in memory
 *   json.c        members as JSON, with checked access
 *   definition.c  def.json and tensor_map.json: variables, queues, semaphores
 *   dma_blocks.c  engine JSON: statically generated DMA
 *   debug_info.c  .dbg protobufs
 *   neff.c        order of the steps, lookups
 */
#ifndef NX_NEFF_READER_H
#define NX_NEFF_READER_H

#include <jansson.h>

#include "neff/neff.h"

#define NX_NEFF_MAX_KEPT ((uint64_t)2 << 30) /* bytes of members held in memory */

struct nx_kept_member {
    const char *name;
    struct nx_bytes bytes; /* heap; freed when the NEFF has been read */
};

struct nx_neff_reader {
    struct nx_neff *neff;
    const char *path;
    struct nx_error *error;
    struct nx_kept_member *kept; /* sorted by name once the archive has been read */
    size_t kept_count, kept_capacity;
};

enum nx_status nx_neff_read_header(struct nx_neff_reader *reader, struct nx_bytes file);
enum nx_status nx_neff_read_archive(struct nx_neff_reader *reader, struct nx_bytes file);
void nx_neff_drop_archive(struct nx_neff_reader *reader);

/* A member's bytes; false if the archive does not have it (or it was not kept). */
bool nx_neff_member(const struct nx_neff_reader *reader, const char *name, struct nx_bytes *bytes);
/* The same, as an error when it is missing. */
enum nx_status nx_neff_need_member(struct nx_neff_reader *reader, const char *name, struct nx_bytes *bytes);
/* The first kept member whose name satisfies both; NULL if none. Either may be NULL. */
const struct nx_kept_member *nx_neff_match_member(const struct nx_neff_reader *reader, const char *prefix,
                                                  const char *suffix);

/* A JSON member that must be an object (or array, if `array`). *value is NULL if missing and not `required`. */
enum nx_status nx_neff_json(struct nx_neff_reader *reader, const char *member, bool array, bool required,
                            json_t **value);
/* "MEMBER: KEY ..." as NX_BAD_INPUT. */
enum nx_status nx_neff_json_fail(struct nx_neff_reader *reader, const char *member, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Text of an object's key copied into the arena, or NULL if there is none (or it is not text). */
const char *nx_neff_json_text(struct nx_neff_reader *reader, const json_t *object, const char *key);
int64_t nx_neff_json_integer(const json_t *object, const char *key, int64_t otherwise);

enum nx_status nx_neff_read_graph(struct nx_neff_reader *reader, const char *name, const char *definition,
                                  struct nx_neff_graph *graph);
/* base: folder of def.json with its '/', or "". engine_json: the engine's member name. Appends to *blocks. */
struct nx_block_list {
    struct nx_neff_block *list;
    size_t count, capacity;
};
enum nx_status nx_neff_read_blocks(struct nx_neff_reader *reader, const char *member, enum nx_engine engine,
                                   struct nx_neff_graph *graph, struct nx_block_list *blocks);
/* Reads the files one after another into one nx_dbg; missing members are skipped. */
enum nx_status nx_neff_read_debug(struct nx_neff_reader *reader, const char *const *members, size_t count,
                                  struct nx_dbg *dbg);

#endif
