/*
 * OpcodeSummary: executions of all cores by engine and opcode: how many, their
 * time added up, and the time in which at least one of them ran.
 */
#include <stdlib.h>

#include "base/interval.h"
#include "base/memory.h"
#include "tables/rows.h"
#include "tables/table.h"

struct row {
    uint64_t count;
    int64_t time, active; /* ps */
    uint32_t opcode;      /* into nx_trace.opcodes */
    uint8_t engine;
};

struct state {
    struct nx_rows rows;
    const struct nx_trace *trace;
    struct nx_dict engines; /* number = enum nx_engine */
};

/* All executions of one engine and opcode: `list` is used up. */
static void add_row(struct state *state, struct nx_interval *list, size_t count, uint8_t engine, uint32_t opcode)
{
    struct row *row = nx_rows_add(&state->rows, sizeof(*row));

    *row = (struct row){.count = count, .opcode = opcode, .engine = engine};
    for (size_t i = 0; i < count; i++) {
        int64_t time = list[i].end - list[i].start;

        row->time = time <= INT64_MAX - row->time ? row->time + time : INT64_MAX;
    }
    row->active = nx_interval_length(list, nx_interval_merge(list, count));
}

static uint32_t group_of(const struct nx_trace *trace, const struct nx_exec *exec)
{
    const struct nx_code_inst *inst = nx_exec_inst(trace, exec);

    return exec->engine * trace->opcodes.count + (inst ? inst->opcode_text : trace->unknown_opcode);
}

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));
    uint32_t groups = NX_ENGINE_COUNT * trace->opcodes.count;
    size_t *next = nx_zalloc((size_t)groups + 1, sizeof(*next)); /* where each group is filled next */
    struct nx_interval *list = nx_alloc(trace->exec_count * sizeof(*list));

    state->trace = trace;
    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        nx_dict_add_string(&state->engines, nx_engine_title((enum nx_engine)e));
    for (uint32_t i = 0; i < trace->exec_count; i++)
        next[group_of(trace, &trace->execs[i]) + 1]++;
    for (uint32_t g = 0; g < groups; g++)
        next[g + 1] += next[g];
    for (uint32_t i = 0; i < trace->exec_count; i++)
        list[next[group_of(trace, &trace->execs[i])]++] =
            (struct nx_interval){trace->execs[i].start, trace->execs[i].end};
    for (uint32_t g = 0; g < groups; g++) { /* filled: each ends where the one behind it begins */
        size_t first = g ? next[g - 1] : 0;

        if (next[g] > first)
            add_row(state, list + first, next[g] - first, (uint8_t)(g / trace->opcodes.count),
                    g % trace->opcodes.count);
    }
    free(next);
    free(list);
    return state;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;
    int64_t total = state->trace->window_ps;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = nx_rows_at(state, first + i, sizeof(*row));

        nx_put_dict(chunk, NX_OpcodeSummary_engine, i, row->engine);
        nx_put_dict(chunk, NX_OpcodeSummary_opcode, i, row->opcode);
        nx_put_i64(chunk, NX_OpcodeSummary_instruction_count, i, (int64_t)row->count);
        nx_put_i64(chunk, NX_OpcodeSummary_instruction_time_ns, i, nx_ns(row->time));
        nx_put_i64(chunk, NX_OpcodeSummary_active_time_ns, i, nx_ns(row->active));
        nx_put_f64(chunk, NX_OpcodeSummary_active_time_percent, i,
                   total > 0 ? (double)row->active / (double)total : 0.0);
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct state *state = opaque;

    switch (column) {
    case NX_OpcodeSummary_engine: return &state->engines;
    case NX_OpcodeSummary_opcode: return &state->trace->opcodes;
    default: return NULL;
    }
}

static void close_table(void *opaque)
{
    nx_dict_free(&((struct state *)opaque)->engines);
    nx_rows_close(opaque);
}

const struct nx_table nx_table_OpcodeSummary = {"OpcodeSummary", open_table, nx_rows_count,
                                                fill,            dictionary, close_table};
