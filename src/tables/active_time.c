/* ActiveTime: one row for each stretch in which an engine of a core works without a break. */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "tables/active.h"
#include "tables/table.h"

struct row {
    struct nx_interval time;
    uint8_t engine, core;
};

struct state {
    struct row *rows; /* by start */
    size_t count;
    struct nx_dict engines; /* number = enum nx_engine */
};

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));
    size_t capacity = 0;

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        nx_dict_add_string(&state->engines, nx_engine_lower((enum nx_engine)e));
        for (uint32_t c = 0; c < trace->core_count; c++) {
            size_t merged;
            struct nx_interval *list = nx_active_intervals(trace, (int)c, (enum nx_engine)e, &merged);

            for (size_t i = 0; i < merged; i++) {
                state->rows = nx_grow(state->rows, state->count, &capacity, sizeof(*state->rows));
                state->rows[state->count++] = (struct row){list[i], (uint8_t)e, (uint8_t)c};
            }
            free(list);
        }
    }
    state->rows = nx_sort_rows(state->rows, state->count, sizeof(*state->rows), offsetof(struct row, time.start));
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = &state->rows[first + i];

        nx_put_i64(chunk, NX_ActiveTime_start_ts, i, nx_ns(row->time.start));
        nx_put_i64(chunk, NX_ActiveTime_end_ts, i, nx_ns(row->time.end));
        nx_put_i64(chunk, NX_ActiveTime_duration_ns, i, nx_ns(row->time.end - row->time.start));
        nx_put_i64(chunk, NX_ActiveTime_pcore_idx, i, row->core);
        nx_put_dict(chunk, NX_ActiveTime_engine, i, row->engine);
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    return column == NX_ActiveTime_engine ? &((const struct state *)opaque)->engines : NULL;
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    free(state->rows);
    nx_dict_free(&state->engines);
    free(state);
}

const struct nx_table nx_table_ActiveTime = {"ActiveTime", open_table, count_rows, fill, dictionary, close_table};
