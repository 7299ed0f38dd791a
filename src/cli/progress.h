/*
 * progress.h - a bar on standard error with rate and time left, if that is a
 * terminal and --quiet was not given; else nothing.  NO_COLOR is honoured.
 */
#ifndef NX_CLI_PROGRESS_H
#define NX_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct nx_progress_bar {
    bool shown, colour;
    const char *what; /* "reading", "writing" */
    const char *unit; /* "records", "rows" */
    struct timespec start, last;
};

void nx_progress_start(struct nx_progress_bar *bar, bool quiet, const char *what, const char *unit);
/* An nx_progress (trace.h); `bar` is a struct nx_progress_bar. */
void nx_progress_step(void *bar, uint64_t done, uint64_t total);
void nx_progress_end(struct nx_progress_bar *bar); /* wipes it away */

#endif
