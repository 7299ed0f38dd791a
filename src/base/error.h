/*
 * error.h - how a failure travels: a status that is also the exit status of
 * the program, and one sentence for the person in front of it.
 *
 * Every function that can fail returns enum nx_status and takes a
 * struct nx_error *.  On NX_OK the error is untouched; otherwise it holds the
 * sentence.  Errors about a file name the file, the byte offset and what was
 * expected and found: nx_fail_at() puts the first two in front.
 */
#ifndef NX_BASE_ERROR_H
#define NX_BASE_ERROR_H

#include <stdint.h>

/* The values are the program's documented exit statuses. */
enum nx_status {
    NX_OK = 0,          /* done */
    NX_FAILED = 1,      /* something else went wrong */
    NX_USAGE = 2,       /* the command line is not right */
    NX_BAD_INPUT = 3,   /* an input file cannot be read as what it should be */
    NX_UNAVAILABLE = 4, /* a port or the data path cannot be used */
};

struct nx_error {
    enum nx_status status;
    char text[1024]; /* one sentence, no trailing newline; cut if longer */
};

/* Fills *error and returns `status`, so that a caller can `return nx_fail(...)`. */
enum nx_status nx_fail(struct nx_error *error, enum nx_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* NX_BAD_INPUT about `file` at byte `offset`: "FILE: offset N: ...". */
enum nx_status nx_fail_at(struct nx_error *error, const char *file, uint64_t offset, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

#endif
