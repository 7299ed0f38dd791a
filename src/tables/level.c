#include "tables/level.h"

#include <stdlib.h>

#include "base/memory.h"

const struct nx_dbg_entry *nx_level_entry(const struct nx_origin *origin, enum nx_level level)
{
    switch (level) {
    case NX_LEVEL_BIR: return origin->bir;
    case NX_LEVEL_PENGUIN: return origin->penguin;
    case NX_LEVEL_HLO: return origin->hlo;
    default: return origin->framework;
    }
}

static const struct nx_dbg *level_of(const struct nx_neff_graph *graph, enum nx_level level)
{
    switch (level) {
    case NX_LEVEL_BIR: return &graph->bir;
    case NX_LEVEL_PENGUIN: return &graph->penguin;
    case NX_LEVEL_HLO: return &graph->hlo;
    default: return &graph->framework;
    }
}

/* Entries of the level are numbered core after core; `first` is where each core begins. */
static size_t *first_entries(const struct nx_trace *trace, enum nx_level level)
{
    size_t *first = nx_zalloc((size_t)trace->core_count + 1, sizeof(*first));

    for (uint32_t c = 0; c < trace->core_count; c++)
        first[c + 1] = first[c] + (trace->cores[c].neff ? level_of(trace->cores[c].neff, level)->count : 0);
    return first;
}

uint32_t *nx_level_groups(const struct nx_trace *trace, enum nx_level level, const struct nx_origin ***origins,
                          uint32_t *group_count)
{
    uint32_t *groups = nx_alloc(trace->inst_count * sizeof(*groups));
    size_t *first = first_entries(trace, level), capacity = 0;
    uint32_t *group_of_entry = nx_zalloc(first[trace->core_count], sizeof(*group_of_entry)); /* number + 1, or 0 */

    *origins = NULL;
    *group_count = 0;
    for (uint32_t i = 0; i < trace->inst_count; i++) {
        const struct nx_code_inst *inst = &trace->insts[i];
        const struct nx_origin *origin = nx_inst_origin(trace, inst);
        const struct nx_dbg_entry *entry = origin ? nx_level_entry(origin, level) : NULL;
        uint32_t *group;

        groups[i] = NX_NONE;
        if (!entry)
            continue;
        group = &group_of_entry[first[inst->core] +
                                (size_t)(entry - level_of(trace->cores[inst->core].neff, level)->entries)];
        if (!*group) {
            *origins = nx_grow(*origins, *group_count, &capacity, sizeof(**origins));
            (*origins)[*group_count] = origin;
            *group = ++*group_count;
        }
        groups[i] = *group - 1;
    }
    free(first);
    free(group_of_entry);
    return groups;
}

struct nx_level_table *nx_level_open(const struct nx_profile *profile, enum nx_level level)
{
    struct nx_level_table *table = nx_zalloc(1, sizeof(*table));
    uint32_t *groups = nx_level_groups(profile->trace, level, &table->origins, &table->group_count);

    table->level = level;
    table->trace = profile->trace;
    if (table->group_count)
        nx_rollups_open(profile->trace, groups, NULL, table->group_count, &table->rollups);
    free(groups);
    return table;
}

uint64_t nx_level_count(const void *state)
{
    return ((const struct nx_level_table *)state)->rollups.count;
}

/* 0 where the level is missing: so the closed tool prints ids that it does not have. */
static int64_t id_of(const struct nx_dbg_entry *entry)
{
    return entry ? (int64_t)entry->id : 0;
}

static void put_lists(const struct nx_level_table *table, const struct nx_rollup *rollup,
                      const struct nx_level_columns *columns, struct nx_chunk *chunk, uint32_t i, struct nx_text *text)
{
    static uint64_t (*const values[])(const struct nx_rollup_interval *) = {
        nx_interval_elements, nx_interval_transpose_elements, nx_interval_hbm_bytes};
    const unsigned places[] = {columns->elements, columns->transpose_elements, columns->hbm_sizes};

    nx_text_clear(text);
    nx_rollup_intervals_text(&table->rollups, rollup, text);
    nx_put_text(chunk, columns->time_intervals, i, nx_text_string(text));
    for (size_t v = 0; v < sizeof(places) / sizeof(places[0]); v++) {
        nx_text_clear(text);
        nx_rollup_values_text(&table->rollups, rollup, values[v], text);
        nx_put_text(chunk, places[v], i, nx_text_string(text));
    }
}

void nx_level_fill(const struct nx_level_table *table, const struct nx_level_columns *columns, uint64_t first,
                   struct nx_chunk *chunk)
{
    struct nx_text text = {0};

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_rollup *r = &table->rollups.list[first + i];
        const struct nx_origin *origin = table->origins[r->group];

        nx_put_i64(chunk, columns->id, i, (int64_t)r->first_exec + 1);
        nx_put_i64(chunk, columns->raw_bir_id, i, id_of(origin->bir));
        nx_put_i64(chunk, columns->raw_penguin_id, i, id_of(origin->penguin));
        nx_put_i64(chunk, columns->raw_hlo_id, i, id_of(origin->hlo));
        nx_put_i64(chunk, columns->raw_framework_id, i, id_of(origin->framework));
        nx_put_text(chunk, columns->name, i, nx_level_entry(origin, table->level)->name);
        nx_put_i64(chunk, columns->invocation, i, 0); /* functions that are called more than once are not told apart */
        nx_put_i64(chunk, columns->start_ts, i, nx_ns(r->start));
        nx_put_i64(chunk, columns->end_ts, i, nx_ns(r->end));
        put_lists(table, r, columns, chunk, i, &text);
        nx_put_i64(chunk, columns->hbm_read, i, (int64_t)r->bytes.hbm_read);
        nx_put_i64(chunk, columns->hbm_write, i, (int64_t)r->bytes.hbm_write);
        if (r->counts_bytes) {
            nx_put_i64(chunk, columns->sbuf_read, i, (int64_t)r->bytes.sbuf_read);
            nx_put_i64(chunk, columns->sbuf_write, i, (int64_t)r->bytes.sbuf_write);
        }
        if (r->loads_weights)
            nx_put_i64(chunk, columns->weights, i, (int64_t)r->weight_bytes);
    }
    nx_text_free(&text);
}

void nx_level_close(void *state)
{
    struct nx_level_table *table = state;

    nx_rollups_close(&table->rollups);
    free(table->origins);
    free(table);
}
