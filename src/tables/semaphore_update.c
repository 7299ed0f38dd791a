/* SemaphoreUpdate: one row for each recorded change of a semaphore (events are counted in Summary only). */
#include <stdlib.h>

#include "base/memory.h"
#include "tables/names.h"
#include "tables/table.h"

struct state {
    const struct nx_trace *trace;
    uint32_t *rows; /* numbers of events that are of semaphores */
    uint64_t count;
    struct nx_dict ids, sources, operations;
    uint32_t *id_text; /* by core * 256 + semaphore */
    uint32_t operation_text[16]; /* by mode */
};

/* The low four bits of a record's mode are the instruction set's update modes (docs/isa.md). */
static const char *operation_name(uint8_t mode)
{
    switch (mode & 0xf) {
    case 3: return "sem_inc"; /* also an addition: the record does not tell them apart */
    case 4: return "sem_dec";
    case 9: return "sem_wr_imm";
    default: return "unknown";
    }
}

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));

    state->trace = trace;
    state->rows = nx_alloc(trace->event_count * sizeof(*state->rows));
    state->id_text = nx_alloc((size_t)trace->core_count * 256 * sizeof(*state->id_text));
    for (uint32_t c = 0; c < trace->core_count; c++)
        for (unsigned s = 0; s < 256; s++) {
            char text[NX_SEMAPHORE_TEXT];

            nx_semaphore_text(trace->cores[c].neff, s, text, sizeof(text));
            state->id_text[c * 256 + s] = nx_dict_add_string(&state->ids, text);
        }
    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        nx_dict_add_string(&state->sources, nx_engine_title((enum nx_engine)e));
    nx_dict_add_string(&state->sources, "AXI");
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->events[i].is_semaphore)
            state->rows[state->count++] = i;
    for (unsigned mode = 0; mode < 16; mode++)
        state->operation_text[mode] = nx_dict_add_string(&state->operations, operation_name((uint8_t)mode));
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
        const struct nx_event *e = &state->trace->events[state->rows[first + i]];

        nx_put_i64(chunk, NX_SemaphoreUpdate_timestamp, i, nx_ns(e->time));
        nx_put_dict(chunk, NX_SemaphoreUpdate_id, i, state->id_text[e->core * 256 + e->id]);
        nx_put_i32(chunk, NX_SemaphoreUpdate_value, i, (int32_t)e->value);
        nx_put_dict(chunk, NX_SemaphoreUpdate_update_source, i,
                    e->source == NX_SOURCE_AXI ? NX_ENGINE_COUNT : (uint32_t)e->source);
        nx_put_i32(chunk, NX_SemaphoreUpdate_update_mode, i, e->mode & 0xf);
        nx_put_dict(chunk, NX_SemaphoreUpdate_update_operation_type, i,
                    state->operation_text[e->mode & 0xf]);
        nx_put_i64(chunk, NX_SemaphoreUpdate_pcore_idx, i, e->core);
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct state *state = opaque;

    switch (column) {
    case NX_SemaphoreUpdate_id: return &state->ids;
    case NX_SemaphoreUpdate_update_source: return &state->sources;
    case NX_SemaphoreUpdate_update_operation_type: return &state->operations;
    default: return NULL;
    }
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    free(state->rows);
    free(state->id_text);
    nx_dict_free(&state->ids);
    nx_dict_free(&state->sources);
    nx_dict_free(&state->operations);
    free(state);
}

const struct nx_table nx_table_SemaphoreUpdate = {"SemaphoreUpdate", open_table, count_rows,
                                                  fill,              dictionary, close_table};
