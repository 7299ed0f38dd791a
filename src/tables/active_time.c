/* ActiveTime: one row for each stretch in which an engine of a core works without a break. */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tables/active.h"
#include "tables/rows.h"
#include "tables/table.h"

struct row {
    struct nx_interval time;
    uint8_t engine, core;
};

struct state {
    struct nx_rows rows; /* by start */
    struct nx_dict engines; /* number = enum nx_engine */
};

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        nx_dict_add_string(&state->engines, nx_engine_lower((enum nx_engine)e));
        for (uint32_t c = 0; c < trace->core_count; c++) {
            size_t merged;
            struct nx_interval *list = nx_active_intervals(trace, (int)c, (enum nx_engine)e, &merged);

            for (size_t i = 0; i < merged; i++)
                *(struct row *)nx_rows_add(&state->rows, sizeof(struct row)) =
                    (struct row){list[i], (uint8_t)e, (uint8_t)c};
            free(list);
        }
    }
    nx_rows_sort(&state->rows, sizeof(struct row), offsetof(struct row, time.start));
    return state;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = nx_rows_at(state, first + i, sizeof(*row));

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
    nx_dict_free(&((struct state *)opaque)->engines);
    nx_rows_close(opaque);
}

const struct nx_table nx_table_ActiveTime = {"ActiveTime", open_table, nx_rows_count, fill, dictionary, close_table};
