/*
 * jobs.h - a list of independent jobs, done by as many threads as are worth it.
 *
 * What a job does must not depend on which thread does it or in which order:
 * results are the same with one thread.
 */
#ifndef NX_BASE_JOBS_H
#define NX_BASE_JOBS_H

#include <stddef.h>

#define NX_JOBS_MAX_THREADS 2 /* an ingestion is measured on two cores; more would take memory from others */

/* Threads to use: the cores that this process may run on, at most NX_JOBS_MAX_THREADS. */
unsigned nx_jobs_threads(void);

/*
 * Calls job(context, 0 .. count - 1), each once, in `threads` threads at most (the calling one among them), and returns
 * when all have returned.  A thread takes the lowest number that nobody has taken: put the longest jobs first.
 */
void nx_jobs_run(void (*job)(void *context, size_t number), void *context, size_t count, unsigned threads);

#endif
