/*
 * ThrottleSummary: for each core, how long each kind of limit was in force and
 * what it allowed on average; then one row for all kinds: the time in which the
 * core was held below its full rate, and the limit over the whole profile.
 *
 * As the closed tool does, each record counts its whole nanoseconds, and the
 * whole is the end of the core's last instruction in whole nanoseconds.
 */
#include <stdio.h>

#include "base/memory.h"
#include "tables/rows.h"
#include "tables/table.h"

struct row {
    uint32_t core;
    int type;     /* -1: all kinds together */
    int64_t time;   /* ns */
    double allowed; /* ns that full rate would have needed: sum of time * k / n */
};

struct state {
    struct nx_rows rows;
    const struct nx_trace *trace;
};

static void add_core(struct state *state, uint32_t core)
{
    struct row types[256] = {0}, all = {.core = core, .type = -1}, *row;
    bool seen[256] = {false}, any = false;

    for (uint32_t i = 0; i < state->trace->throttle_count; i++) {
        const struct nx_throttle *t = &state->trace->throttles[i];
        int64_t time = nx_ns(t->end - t->start);
        double allowed = t->n ? (double)time * t->k / t->n : (double)time;

        if (t->core != core)
            continue;
        any = seen[t->type] = true;
        types[t->type].time += time;
        types[t->type].allowed += allowed;
        all.allowed += allowed;
        if (t->k < t->n)
            all.time += time;
    }
    for (int type = 0; type < 256 + 1; type++) {
        if (type < 256 ? !seen[type] : !any)
            continue;
        row = nx_rows_add(&state->rows, sizeof(*row));
        *row = type < 256 ? types[type] : all;
        row->core = core;
        row->type = type < 256 ? type : -1;
    }
}

static void *open_table(const struct nx_profile *profile)
{
    struct state *state = nx_zalloc(1, sizeof(*state));

    state->trace = profile->trace;
    for (uint32_t c = 0; c < profile->trace->core_count; c++)
        add_core(state, c);
    return state;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = nx_rows_at(state, first + i, sizeof(*row));
        double total = (double)nx_ns(state->trace->cores[row->core].last_end);
        double whole = row->type < 0 ? total : (double)row->time;
        char text[24];

        nx_put_i32(chunk, NX_ThrottleSummary_nc_idx, i, (int32_t)row->core);
        nx_put_i64(chunk, NX_ThrottleSummary_throttle_active_time_ns, i, row->time);
        if (row->type < 0)
            snprintf(text, sizeof(text), "all");
        else
            snprintf(text, sizeof(text), "activity_%d", row->type);
        nx_put_text(chunk, NX_ThrottleSummary_throttle_type, i, text);
        if (total > 0)
            nx_put_f64(chunk, NX_ThrottleSummary_throttle_active_time_percent, i, (double)row->time / total);
        if (whole > 0)
            nx_put_f64(chunk, NX_ThrottleSummary_max_achievable_util_with_throttling_percent, i,
                       row->allowed / whole);
    }
}

const struct nx_table nx_table_ThrottleSummary = {"ThrottleSummary", open_table, nx_rows_count,
                                                  fill,              NULL,       nx_rows_close};
