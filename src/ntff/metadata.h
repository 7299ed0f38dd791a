/*
 * metadata.h - the steps of opening an NTFF.  Private to this folder.
 *
 *   ntff.c      header, order of the steps
 *   fields.c    walks the protobuf's messages and notes what nobody here knows
 *   metadata.c  the message at the top: versions, executions, devices
 *   core.c      one core: code, patches, DMA rings, memory
 *   clock.c     its clocks, and times by them
 *   sections.c  where records and code lie, and whose they are
 *   coverage.c  whether header, metadata, sections and code tile the file
 *
 * The readers go on behind a section or code that does not lie inside the
 * file: such a file is refused all the same (`misplaced`), but whoever looks
 * at a damaged file gets to see the rest.
 */
#ifndef NX_NTFF_METADATA_H
#define NX_NTFF_METADATA_H

#include "base/protobuf.h"
#include "ntff/ntff.h"

/* What one kind of message may hold: bit n stands for field n. */
struct nx_ntff_message {
    const char *name;
    uint32_t numbers; /* varints */
    uint32_t bytes;   /* messages and texts */
    uint32_t ignored; /* seen in real files, meaning not established */
};
#define NX_FIELD(n) (1u << (n))

#define NX_NTFF_UNKNOWN_SHOWN 12

struct nx_ntff_reader {
    struct nx_ntff *ntff;
    const char *path;
    struct nx_bytes file;
    uint64_t raw_base; /* file offset that section and code offsets count from */
    struct nx_error *error;
    struct nx_error misplaced; /* the first section or code that is not where it should be */
    uint64_t unknown_fields;   /* fields of the metadata that no reader here knows */
    size_t unknown_shown;      /* the first few different ones */
    struct {
        const char *message;
        uint32_t number;
    } unknown[NX_NTFF_UNKNOWN_SHOWN];
};

/* fields.c */
/* The next field that `kind` knows, of the wire type that it has there. */
bool nx_ntff_next(struct nx_ntff_reader *r, struct nx_pb *pb, struct nx_pb_field *f,
                  const struct nx_ntff_message *kind);
/* NX_OK, or why the walk ended before the message did. */
enum nx_status nx_ntff_walked(const struct nx_ntff_reader *r, const struct nx_pb *pb);
/* Room for every message in field `number`: zeroed, in the arena. More than `limit` of them are refused. */
enum nx_status nx_ntff_list(struct nx_ntff_reader *r, struct nx_bytes message, uint32_t number, size_t limit,
                            size_t size, void *list);
const char *nx_ntff_text(struct nx_ntff_reader *r, const struct nx_pb_field *f);
/* A number that does not fit becomes one that stands for nothing known. */
uint32_t nx_ntff_u32(const struct nx_pb_field *f);
/* Where a piece of the file begins in it: for error messages. */
uint64_t nx_ntff_offset(const struct nx_ntff_reader *r, struct nx_bytes piece);
void nx_ntff_warn_unknown(struct nx_ntff_reader *r);

/* metadata.c, core.c, clock.c, sections.c, coverage.c */
enum nx_status nx_ntff_read_metadata(struct nx_ntff_reader *r, struct nx_bytes metadata);
enum nx_status nx_ntff_read_core(struct nx_ntff_reader *r, struct nx_bytes message,
                                 struct nx_ntff_core *core);
enum nx_status nx_ntff_read_clocks(struct nx_ntff_reader *r, struct nx_bytes message,
                                   struct nx_ntff_core *core);
/* Gives those that were not read a rate, with a warning if `warn`. */
void nx_ntff_complete_clocks(struct nx_ntff_reader *r, struct nx_ntff_core *core, bool warn);
/* A core's own list of sections (v4, v5). */
enum nx_status nx_ntff_read_core_sections(struct nx_ntff_reader *r, struct nx_bytes message,
                                          struct nx_ntff_core *core);
/* The list at the top of the metadata (v6), when all cores are known. */
enum nx_status nx_ntff_read_top_sections(struct nx_ntff_reader *r, struct nx_bytes metadata);
/* A piece of the raw area, cut to what the file has of it; `what` and `message` are for the complaint. */
struct nx_bytes nx_ntff_place(struct nx_ntff_reader *r, const char *what, struct nx_bytes message,
                              uint64_t offset, uint64_t size);
enum nx_status nx_ntff_check_coverage(struct nx_ntff_reader *r);

#endif
