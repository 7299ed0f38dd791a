/*
 * FrameworkNode: the tree of framework names with sums over everything below
 * each of its nodes (framework_tree.h), the cores at its root.
 *
 * Intervals of a node are those of all executions below it together, so each
 * depth of the tree is summed up from the executions by itself.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tables/framework_tree.h"
#include "tables/rows.h"
#include "tables/table.h"

struct row {
    int64_t start;
    uint32_t depth, number; /* into rollups[depth].list */
};

struct state {
    struct nx_rows rows;
    const struct nx_trace *trace;
    struct nx_framework_tree tree;
    struct nx_rollups *rollups; /* by depth */
};

static void add_depth(struct state *state, uint32_t depth)
{
    const struct nx_trace *trace = state->trace;
    uint32_t *groups = nx_alloc(trace->inst_count * sizeof(*groups));
    uint32_t *cores = nx_alloc(trace->core_count * sizeof(*cores));
    struct nx_rollups *rollups = &state->rollups[depth];

    for (uint32_t i = 0; i < trace->inst_count; i++)
        groups[i] = nx_framework_ancestor(&state->tree, state->tree.node_of_inst[i], depth);
    for (uint32_t c = 0; c < trace->core_count; c++)
        cores[c] = c;
    nx_rollups_open(trace, groups, depth == 0 ? cores : NULL, state->tree.count, rollups);
    for (size_t n = 0; n < rollups->count; n++)
        *(struct row *)nx_rows_add(&state->rows, sizeof(struct row)) =
            (struct row){rollups->list[n].start, depth, (uint32_t)n};
    free(groups);
    free(cores);
}

static void *open_table(const struct nx_profile *profile)
{
    struct state *state = nx_zalloc(1, sizeof(*state));

    state->trace = profile->trace;
    nx_framework_tree_open(profile->trace, &state->tree);
    state->rollups = nx_zalloc((size_t)state->tree.depth + 1, sizeof(*state->rollups));
    for (uint32_t depth = 0; depth <= state->tree.depth; depth++)
        add_depth(state, depth);
    nx_rows_sort(&state->rows, sizeof(struct row), offsetof(struct row, start));
    return state;
}

/* ------------------------------------------------------------------ values */

static void put(struct nx_chunk *chunk, unsigned column, uint32_t i, struct nx_text *text)
{
    nx_put_text(chunk, column, i, nx_text_string(text));
    nx_text_clear(text);
}

static void put_family(const struct nx_framework_tree *tree, uint32_t number, struct nx_chunk *chunk, uint32_t i,
                       struct nx_text *text)
{
    const struct nx_framework_node *node = &tree->nodes[number];

    nx_text_append(text, node->name, node->name_size);
    put(chunk, NX_FrameworkNode_node_name, i, text);
    if (node->parent != NX_NONE)
        nx_text_append(text, tree->nodes[node->parent].name, tree->nodes[node->parent].name_size);
    put(chunk, NX_FrameworkNode_parent_name, i, text);
    nx_text_puts(text, "[");
    for (uint32_t c = node->first_child; c != NX_NONE; c = tree->nodes[c].next_sibling) {
        nx_text_puts(text, c == node->first_child ? "" : ", ");
        nx_text_append(text, tree->nodes[c].name, tree->nodes[c].name_size);
    }
    nx_text_puts(text, "]");
    put(chunk, NX_FrameworkNode_children_names, i, text);
    nx_text_puts(text, "[");
    for (size_t n = tree->first_id[number]; n < tree->first_id[number + 1]; n++)
        nx_text_printf(text, "%s%" PRIu64, n > tree->first_id[number] ? ", " : "", tree->ids[n]);
    nx_text_puts(text, "]");
    put(chunk, NX_FrameworkNode_children_ids, i, text);
}

/* Multiply-accumulates as a share of what the Tensor engine could do in that time. */
static double tensor_share(const struct nx_device *device, uint64_t elements, int64_t ps)
{
    return ps > 0 ? (double)elements /
                        ((double)device->pe_rows * device->pe_cols * device->pe_clock_ghz * (double)ps / 1000.0)
                  : 0.0;
}

static void put_shares(const struct state *state, const struct nx_rollups *rollups, const struct nx_rollup *r,
                       struct nx_chunk *chunk, uint32_t i, struct nx_text *text)
{
    enum { HFU, MFU, MBU, KINDS };
    static const unsigned columns[KINDS] = {NX_FrameworkNode_hfu_per_interval, NX_FrameworkNode_mfu_per_interval,
                                            NX_FrameworkNode_mbu_per_interval};
    const struct nx_rollup_interval *list = nx_rollup_intervals(rollups, r);
    const struct nx_device *device = state->trace->device;

    if (!device)
        return;
    if (r->elements) {
        nx_put_f64(chunk, NX_FrameworkNode_hfu, i, tensor_share(device, r->elements, r->end - r->start));
        nx_put_f64(chunk, NX_FrameworkNode_mfu, i,
                   tensor_share(device, r->elements - r->transpose_elements, r->end - r->start));
    }
    for (int kind = 0; kind < KINDS; kind++) {
        nx_text_puts(text, "[");
        for (size_t n = 0; n < r->interval_count; n++) {
            int64_t ps = list[n].end - list[n].start;
            double share = kind == HFU   ? tensor_share(device, list[n].elements, ps)
                           : kind == MFU ? tensor_share(device, list[n].elements - list[n].transpose_elements, ps)
                           : ps > 0      ? (double)list[n].hbm_bytes / ((double)ps * 1e-12) / device->hbm_bandwidth
                                         : 0.0;

            nx_text_printf(text, "%s%.6g", n ? ", " : "", share);
        }
        nx_text_puts(text, "]");
        put(chunk, columns[kind], i, text);
    }
}

static void put_engines(const struct nx_rollup *r, struct nx_chunk *chunk, uint32_t i, struct nx_text *text)
{
    static const unsigned counts[NX_ENGINE_COUNT] = {
        [NX_PE] = NX_FrameworkNode_tensor_engine_instruction_count,
        [NX_ACT] = NX_FrameworkNode_scalar_engine_instruction_count,
        [NX_POOL] = NX_FrameworkNode_gpsimd_engine_instruction_count,
        [NX_DVE] = NX_FrameworkNode_vector_engine_instruction_count,
        [NX_SP] = NX_FrameworkNode_sync_engine_instruction_count,
    };
    static const unsigned times[NX_ENGINE_COUNT] = {
        [NX_PE] = NX_FrameworkNode_total_time_tensor,   [NX_ACT] = NX_FrameworkNode_total_time_scalar,
        [NX_POOL] = NX_FrameworkNode_total_time_gpsimd, [NX_DVE] = NX_FrameworkNode_total_time_vector,
        [NX_SP] = NX_FrameworkNode_total_time_sync,
    };

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        nx_put_i64(chunk, counts[e], i, (int64_t)r->executions[e]);
        if (r->executions[e])
            nx_text_printf(text, "[%" PRId64 ", %" PRId64 "]", nx_ns(r->engine_start[e]), nx_ns(r->engine_end[e]));
        else
            nx_text_puts(text, "[]");
        put(chunk, times[e], i, text);
    }
    if (r->channels[NX_ACT])
        nx_put_i64(chunk, NX_FrameworkNode_total_channels_scalar, i, (int64_t)r->channels[NX_ACT]);
    if (r->channels[NX_DVE])
        nx_put_i64(chunk, NX_FrameworkNode_total_channels_vector, i, (int64_t)r->channels[NX_DVE]);
}

static void put_sums(const struct nx_rollups *rollups, const struct nx_rollup *r, struct nx_chunk *chunk, uint32_t i,
                     struct nx_text *text)
{
    nx_rollup_intervals_text(rollups, r, text);
    put(chunk, NX_FrameworkNode_time_intervals, i, text);
    nx_rollup_values_text(rollups, r, nx_interval_elements, text);
    put(chunk, NX_FrameworkNode_element_count_per_interval, i, text);
    nx_rollup_values_text(rollups, r, nx_interval_transpose_elements, text);
    put(chunk, NX_FrameworkNode_transpose_element_count_per_interval, i, text);
    nx_rollup_values_text(rollups, r, nx_interval_hbm_bytes, text);
    put(chunk, NX_FrameworkNode_hbm_transfer_size_per_interval, i, text);
    nx_put_i64(chunk, NX_FrameworkNode_hbm_read_bytes, i, (int64_t)r->bytes.hbm_read);
    nx_put_i64(chunk, NX_FrameworkNode_hbm_write_bytes, i, (int64_t)r->bytes.hbm_write);
    if (r->counts_bytes) {
        nx_put_i64(chunk, NX_FrameworkNode_sbuf_read_bytes, i, (int64_t)r->bytes.sbuf_read);
        nx_put_i64(chunk, NX_FrameworkNode_sbuf_write_bytes, i, (int64_t)r->bytes.sbuf_write);
    }
    if (r->loads_weights)
        nx_put_i64(chunk, NX_FrameworkNode_load_weight_bytes, i, (int64_t)r->weight_bytes);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;
    struct nx_text text = {0};

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = nx_rows_at(state, first + i, sizeof(*row));
        const struct nx_rollups *rollups = &state->rollups[row->depth];
        const struct nx_rollup *r = &rollups->list[row->number];

        put_family(&state->tree, r->group, chunk, i, &text);
        nx_put_i64(chunk, NX_FrameworkNode_start_ts, i, nx_ns(r->start));
        nx_put_i64(chunk, NX_FrameworkNode_end_ts, i, nx_ns(r->end));
        put_sums(rollups, r, chunk, i, &text);
        put_shares(state, rollups, r, chunk, i, &text);
        put_engines(r, chunk, i, &text);
    }
    nx_text_free(&text);
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    for (uint32_t depth = 0; depth <= state->tree.depth; depth++)
        nx_rollups_close(&state->rollups[depth]);
    free(state->rollups);
    nx_framework_tree_close(&state->tree);
    nx_rows_close(state);
}

const struct nx_table nx_table_FrameworkNode = {"FrameworkNode", open_table, nx_rows_count, fill, NULL, close_table};
