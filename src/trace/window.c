/*
 * Where the profile begins and ends (SPEC 4.2).
 *
 * v6 says it: the execution list.  Before that, the runtime's NOTIFY 2 marks
 * the start on each core and the graph's execution time gives the length; the
 * true start is within about 15 ns of the earliest NOTIFY 2.  A file with
 * neither spans from its first start to its last end, with a warning.
 */
#include "trace/build.h"

#define NOTIFY_START 2

static bool earliest_notify(const struct nx_build *b, uint64_t *start)
{
    bool found = false;

    for (uint32_t c = 0; c < b->trace->core_count; c++)
        for (size_t i = 0; i < b->cores[c].exec_count; i++) {
            const struct nx_raw_exec *e = &b->cores[c].execs[i];

            if (e->inst == NX_NONE || b->trace->insts[e->inst].notification != NOTIFY_START)
                continue;
            if (!found || e->start < *start)
                *start = e->start;
            found = true;
        }
    return found;
}

static bool span_of_rows(const struct nx_build *b, uint64_t *start, uint64_t *end)
{
    bool found = false;

    for (uint32_t c = 0; c < b->trace->core_count; c++)
        for (size_t i = 0; i < b->cores[c].exec_count; i++) {
            const struct nx_raw_exec *e = &b->cores[c].execs[i];

            if (!e->finished)
                continue;
            if (!found || e->start < *start)
                *start = e->start;
            if (!found || e->end > *end)
                *end = e->end;
            found = true;
        }
    return found;
}

enum nx_status nx_build_window(struct nx_build *b, struct nx_error *error)
{
    struct nx_trace *trace = b->trace;
    const struct nx_ntff *ntff = trace->ntff;
    uint64_t longest = 0, length;

    for (size_t c = 0; c < ntff->core_count; c++)
        if (ntff->cores[c].exec_ps > longest)
            longest = ntff->cores[c].exec_ps;

    if (ntff->execution_count) {
        b->window_start = ntff->executions[0].start_ps;
        b->window_end = ntff->executions[0].end_ps;
        if (ntff->execution_count > 1)
            nx_warn(&trace->warnings, NX_WARN_UNKNOWN,
                    "the trace holds %zu executions: only the first is shown", ntff->execution_count);
    } else if (earliest_notify(b, &b->window_start) && longest) {
        b->window_end = b->window_start + longest;
    } else {
        nx_warn(&trace->warnings, NX_WARN_MISSING,
                "the trace does not say when the kernel started or how long it ran: total_time spans its "
                "first instruction to its last");
        if (!span_of_rows(b, &b->window_start, &b->window_end))
            b->window_start = b->window_end = 0;
    }
    length = b->window_end - b->window_start;
    if (b->window_end < b->window_start || length > INT64_MAX)
        return nx_fail(error, NX_BAD_INPUT, "%s: the execution ends (%llu ps) before it starts (%llu ps)",
                       ntff->path, (unsigned long long)b->window_end,
                       (unsigned long long)b->window_start);
    trace->window_start_ps = b->window_start;
    trace->window_ps = (int64_t)length;
    return NX_OK;
}
