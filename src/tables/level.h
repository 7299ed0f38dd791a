/*
 * level.h - one level of the compiler's debug information as a table: a row
 * for each entry of which something ran in the window.
 *
 * BirInstruction, PenguinInstruction, HloInstruction and FrameworkInstruction
 * differ in the level, its name, and a column or two; the rest is here.
 */
#ifndef NX_TABLES_LEVEL_H
#define NX_TABLES_LEVEL_H

#include "tables/rollup.h"
#include "tables/table.h"

enum nx_level { NX_LEVEL_BIR, NX_LEVEL_PENGUIN, NX_LEVEL_HLO, NX_LEVEL_FRAMEWORK };

/* Where a table has the columns that all of them have. */
struct nx_level_columns {
    unsigned id, raw_bir_id, raw_penguin_id, raw_hlo_id, raw_framework_id, name, invocation, start_ts, end_ts,
        time_intervals, elements, transpose_elements, hbm_sizes, hbm_read, hbm_write, sbuf_read, sbuf_write, weights;
};

struct nx_level_table {
    enum nx_level level;
    const struct nx_trace *trace;
    struct nx_rollups rollups;
    const struct nx_origin **origins; /* by group: of the first instruction that is of it */
    uint32_t group_count;
};

/* By instruction: the number of its entry of that level among those of all cores, or NX_NONE. Caller frees. */
uint32_t *nx_level_groups(const struct nx_trace *trace, enum nx_level level, const struct nx_origin ***origins,
                          uint32_t *group_count);
const struct nx_dbg_entry *nx_level_entry(const struct nx_origin *origin, enum nx_level level);

/* For nx_table: `open` of a table calls the first, its `close` the last. */
struct nx_level_table *nx_level_open(const struct nx_profile *profile, enum nx_level level);
uint64_t nx_level_count(const void *state);
void nx_level_fill(const struct nx_level_table *table, const struct nx_level_columns *columns, uint64_t first,
                   struct nx_chunk *chunk);
void nx_level_close(void *state);

/* Column numbers by the schema's names, which are the same in all of them. */
#define NX_LEVEL_COLUMNS(table, name_column)                                                                           \
    {                                                                                                                  \
        .id = NX_##table##_id, .raw_bir_id = NX_##table##_raw_bir_id, .raw_penguin_id = NX_##table##_raw_penguin_id,   \
        .raw_hlo_id = NX_##table##_raw_hlo_id, .raw_framework_id = NX_##table##_raw_framework_id,                      \
        .name = NX_##table##_##name_column, .invocation = NX_##table##_modular_flow_invocation_idx,                    \
        .start_ts = NX_##table##_start_ts, .end_ts = NX_##table##_end_ts,                                              \
        .time_intervals = NX_##table##_time_intervals, .elements = NX_##table##_element_count_per_interval,            \
        .transpose_elements = NX_##table##_transpose_element_count_per_interval,                                       \
        .hbm_sizes = NX_##table##_hbm_transfer_size_per_interval, .hbm_read = NX_##table##_hbm_read_bytes,             \
        .hbm_write = NX_##table##_hbm_write_bytes, .sbuf_read = NX_##table##_sbuf_read_bytes,                          \
        .sbuf_write = NX_##table##_sbuf_write_bytes, .weights = NX_##table##_load_weight_bytes                         \
    }

#endif
