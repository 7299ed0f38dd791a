/*
 * active.h - when an engine works: its instructions, without semaphore waits
 * (EVENT_SEMAPHORE), merged.
 */
#ifndef NX_TABLES_ACTIVE_H
#define NX_TABLES_ACTIVE_H

#include "base/interval.h"
#include "trace/trace.h"

#define NX_ALL_CORES (-1)

/* Whether an execution counts as work. */
bool nx_exec_is_active(const struct nx_trace *trace, const struct nx_exec *exec);

/* The merged intervals (ps) of an engine on one core, or on all together; heap, *count of them. */
struct nx_interval *nx_active_intervals(const struct nx_trace *trace, int core, enum nx_engine engine,
                                        size_t *count);

#endif
