/*
 * file.h - a whole input file, mapped read-only.
 *
 * A mapping does not count twice against memory, and the kernel drops pages
 * that were read.  The file must be a regular one (no pipe, no directory);
 * an empty file gives an empty mapping.
 */
#ifndef NX_BASE_FILE_H
#define NX_BASE_FILE_H

#include "base/bytes.h"
#include "base/error.h"

struct nx_file {
    char *path; /* as given; used in error messages */
    struct nx_bytes bytes;
};

/* NX_BAD_INPUT when it cannot be opened, is not a regular file, or cannot be mapped. */
enum nx_status nx_file_open(const char *path, struct nx_file *file, struct nx_error *error);
void nx_file_close(struct nx_file *file); /* safe on a zeroed struct */

#endif
