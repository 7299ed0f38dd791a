/* Throttle: one row for each change of the rate (k of n cycles) at which a core may work. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tables/table.h"

struct state {
    const struct nx_trace *trace;
    struct nx_dict types;
    uint32_t type_text[256];
};

static void *open_table(const struct nx_profile *profile)
{
    struct state *state = nx_zalloc(1, sizeof(*state));

    state->trace = profile->trace;
    for (unsigned type = 0; type < 256; type++) {
        char text[24];

        snprintf(text, sizeof(text), "activity_%u", type);
        state->type_text[type] = nx_dict_add_string(&state->types, text);
    }
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->trace->throttle_count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_throttle *t = &state->trace->throttles[first + i];

        nx_put_i64(chunk, NX_Throttle_timestamp, i, nx_ns(t->start));
        nx_put_i64(chunk, NX_Throttle_duration, i, nx_ns(t->end - t->start));
        nx_put_i32(chunk, NX_Throttle_k, i, t->k);
        nx_put_i32(chunk, NX_Throttle_n, i, t->n);
        nx_put_dict(chunk, NX_Throttle_type, i, state->type_text[t->type]);
        nx_put_i64(chunk, NX_Throttle_pcore_idx, i, t->core);
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    return column == NX_Throttle_type ? &((const struct state *)opaque)->types : NULL;
}

static void close_table(void *opaque)
{
    nx_dict_free(&((struct state *)opaque)->types);
    free(opaque);
}

const struct nx_table nx_table_Throttle = {"Throttle", open_table, count_rows, fill, dictionary, close_table};
