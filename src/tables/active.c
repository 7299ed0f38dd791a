#include "tables/active.h"

#include "base/memory.h"

bool nx_exec_is_active(const struct nx_trace *trace, const struct nx_exec *exec)
{
    const struct nx_code_inst *inst = nx_exec_inst(trace, exec);

    return !inst || inst->opcode != NX_OP_EVENT_SEMAPHORE;
}

struct nx_interval *nx_active_intervals(const struct nx_trace *trace, int core, enum nx_engine engine,
                                        size_t *count)
{
    struct nx_interval *list = NULL;
    size_t capacity = 0, used = 0;

    for (uint32_t i = 0; i < trace->exec_count; i++) {
        const struct nx_exec *e = &trace->execs[i];

        if (e->engine != engine || (core != NX_ALL_CORES && e->core != core) || !nx_exec_is_active(trace, e))
            continue;
        list = nx_grow(list, used, &capacity, sizeof(*list));
        list[used++] = (struct nx_interval){e->start, e->end};
    }
    *count = nx_interval_merge(list, used);
    return list;
}
