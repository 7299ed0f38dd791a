/*
 * metadata.h - the steps of opening an NTFF.  Private to this folder.
 *
 *   ntff.c      header, order of the steps
 *   metadata.c  the protobuf: everything but the raw bytes
 *   coverage.c  whether header, metadata, sections and code tile the file
 */
#ifndef NX_NTFF_METADATA_H
#define NX_NTFF_METADATA_H

#include "base/protobuf.h"
#include "ntff/ntff.h"

struct nx_ntff_reader {
    struct nx_ntff *ntff;
    const char *path;
    struct nx_bytes file;
    uint64_t raw_base; /* file offset that section and code offsets count from */
    struct nx_error *error;
    uint64_t unknown_fields; /* fields of the metadata that no reader here knows */
    uint32_t first_unknown;  /* number of the first of them */
};

enum nx_status nx_ntff_read_metadata(struct nx_ntff_reader *reader, struct nx_bytes metadata);
enum nx_status nx_ntff_check_coverage(struct nx_ntff_reader *reader);

#endif
