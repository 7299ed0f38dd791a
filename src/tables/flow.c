/*
 * Flow: what had to come first (in) and what waited for it (out), as the trace
 * found it: executions and DMA blocks.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "tables/table.h"

enum { INSTRUCTION, DMA_BLOCK };

struct state {
    const struct nx_trace *trace;
    struct nx_dict tables, types;
    uint32_t type_number[NX_DEPENDS_SEMAPHORE + 1]; /* in `types`, or NX_NO_TEXT */
};

static void *open_table(const struct nx_profile *profile)
{
    static const char *const names[] = {
        [NX_DEPENDS_UNTYPED] = NULL,           [NX_DEPENDS_ORDERED] = "ORDERED",
        [NX_DEPENDS_ANTI] = "ANTI_DEPENDENCE", [NX_DEPENDS_OUTPUT] = "OUTPUT_DEPENDENCE",
        [NX_DEPENDS_FLOW] = "FLOW_DEPENDENCE", [NX_DEPENDS_TRIGGER] = "DGE_TRIGGER",
        [NX_DEPENDS_SEMAPHORE] = "SEMAPHORE",
    };
    struct state *state = nx_zalloc(1, sizeof(*state));

    state->trace = profile->trace;
    nx_dict_add_string(&state->tables, "Instruction");         /* INSTRUCTION */
    nx_dict_add_string(&state->tables, "DmaPacketAggregated"); /* DMA_BLOCK */
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        state->type_number[i] = names[i] ? nx_dict_add_string(&state->types, names[i]) : NX_NO_TEXT;
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->trace->dependency_count;
}

/* Start and end as the table of the event shows them. */
static int64_t start_ts(const struct nx_trace *trace, bool is_run, uint32_t number)
{
    return nx_ns(is_run ? trace->runs[number].start : trace->execs[number].start);
}

static int64_t end_ts(const struct nx_trace *trace, bool is_run, uint32_t number)
{
    int64_t start = is_run ? trace->runs[number].start : trace->execs[number].start;
    int64_t end = is_run ? trace->runs[number].end : trace->execs[number].end;

    return nx_ns(start) + nx_ns(end - start);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_dependency *d = &state->trace->dependencies[first + i];

        nx_put_i64(chunk, NX_Flow_in_id, i, (int64_t)d->in + 1);
        nx_put_i64(chunk, NX_Flow_out_id, i, (int64_t)d->out + 1);
        nx_put_dict(chunk, NX_Flow_in_table, i, d->in_is_run ? DMA_BLOCK : INSTRUCTION);
        nx_put_dict(chunk, NX_Flow_out_table, i, d->out_is_run ? DMA_BLOCK : INSTRUCTION);
        nx_put_dict(chunk, NX_Flow_dependency_type, i, state->type_number[d->type]);
        nx_put_i64(chunk, NX_Flow_gap_time, i,
                   start_ts(state->trace, d->out_is_run, d->out) - end_ts(state->trace, d->in_is_run, d->in));
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct state *state = opaque;

    switch (column) {
    case NX_Flow_in_table:
    case NX_Flow_out_table: return &state->tables;
    case NX_Flow_dependency_type: return &state->types;
    default: return NULL;
    }
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    nx_dict_free(&state->types);
    nx_dict_free(&state->tables);
    free(state);
}

const struct nx_table nx_table_Flow = {"Flow", open_table, count_rows, fill, dictionary, close_table};
