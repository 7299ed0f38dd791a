/*
 * TensorInfo: the kernel's inputs, outputs and weights; before them one row a
 * core with the number of its node in the NEFF's graph, as the closed tool
 * lists them.
 *
 * How often a tensor was loaded into SBUF is known for static DMA, whose
 * blocks name it; with dynamic DMA the columns are NULL.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/table.h"

struct tensor {
    const struct nx_neff_var *var;
    uint64_t load_bytes, load_count;
};

struct state {
    const struct nx_profile *profile;
    struct nx_dict names; /* number = index of `tensors` */
    struct tensor *tensors;
    bool loads_known; /* all DMA of the kernel is static */
};

static void add_tensors(struct state *state, const struct nx_neff_graph *graph, size_t *capacity)
{
    /* inputs, then outputs, then weights; the cores of an LNC share them */
    for (int kind = NX_VAR_INPUT; kind <= NX_VAR_WEIGHT; kind++)
        for (size_t v = 0; v < graph->var_count; v++) {
            const struct nx_neff_var *var = &graph->vars[v];
            uint32_t before = state->names.count;

            if ((int)var->kind != kind || nx_dict_add_string(&state->names, var->name) < before)
                continue;
            state->tensors = nx_grow(state->tensors, before, capacity, sizeof(*state->tensors));
            state->tensors[before] = (struct tensor){.var = var};
        }
}

static void count_loads(struct state *state)
{
    const struct nx_trace *trace = state->profile->trace;

    for (uint32_t r = 0; r < trace->run_count; r++) {
        const struct nx_neff_graph *graph = trace->cores[trace->runs[r].core].neff;
        const struct nx_neff_block *block = &graph->blocks[trace->runs[r].block];

        if (trace->runs[r].trigger == NX_NONE)
            continue;
        for (size_t d = 0; d < block->desc_count; d++) {
            const struct nx_dma_desc *desc = &block->descs[d];
            uint32_t tensor;

            if (strcmp(desc->to.var, "SB") != 0)
                continue;
            tensor = nx_dict_find(&state->names, desc->from.var);
            if (tensor == NX_NO_TEXT)
                continue;
            state->tensors[tensor].load_bytes += desc->from.bytes;
            state->tensors[tensor].load_count++;
        }
    }
}

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));
    size_t capacity = 0;

    state->profile = profile;
    for (size_t g = 0; g < profile->neff->graph_count; g++)
        add_tensors(state, &profile->neff->graphs[g], &capacity);
    state->loads_known = trace->run_count > 0;
    for (uint32_t r = 0; r < trace->ring_count; r++)
        if (trace->rings[r].type == NX_QUEUE_SOFTWARE_DYNAMIC || trace->rings[r].type == NX_QUEUE_HARDWARE_DYNAMIC)
            state->loads_known = false;
    if (state->loads_known)
        count_loads(state);
    return state;
}

static uint64_t node_rows(const struct state *state)
{
    return state->profile->neff->kernel_node >= 0 ? state->profile->trace->core_count : 0;
}

static uint64_t count_rows(const void *opaque)
{
    const struct state *state = opaque;

    return node_rows(state) + state->names.count;
}

static void fill_tensor(const struct state *state, const struct tensor *tensor, struct nx_chunk *chunk, uint32_t i)
{
    static const char *const types[] = {
        [NX_VAR_INPUT] = "IN", [NX_VAR_OUTPUT] = "OUT", [NX_VAR_WEIGHT] = "WEIGHT"};
    const struct nx_neff_var *var = tensor->var;

    nx_put_text(chunk, NX_TensorInfo_variable_name, i, var->name);
    nx_put_text(chunk, NX_TensorInfo_type, i, types[var->kind]);
    nx_put_text(chunk, NX_TensorInfo_format, i, var->format);
    nx_put_text(chunk, NX_TensorInfo_shape, i, var->shape);
    nx_put_i64(chunk, NX_TensorInfo_size, i, (int64_t)var->size);
    if (!state->loads_known)
        return;
    nx_put_i64(chunk, NX_TensorInfo_load_to_sbuf_total_size_bytes, i, (int64_t)tensor->load_bytes);
    nx_put_i64(chunk, NX_TensorInfo_load_to_sbuf_dma_count, i, (int64_t)tensor->load_count);
    if (tensor->load_count)
        nx_put_i64(chunk, NX_TensorInfo_load_to_sbuf_avg_size_bytes, i,
                   (int64_t)(tensor->load_bytes / tensor->load_count));
    if (var->size)
        nx_put_f64(chunk, NX_TensorInfo_load_to_sbuf_repeat_factor, i,
                   (double)tensor->load_bytes / (double)var->size);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;
    uint64_t nodes = node_rows(state);

    for (uint32_t i = 0; i < chunk->rows; i++) {
        if (first + i < nodes) {
            nx_put_i64(chunk, NX_TensorInfo_node, i, state->profile->neff->kernel_node);
            nx_put_i64(chunk, NX_TensorInfo_pcore_idx, i, (int64_t)(first + i));
        } else {
            fill_tensor(state, &state->tensors[first + i - nodes], chunk, i);
        }
    }
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    nx_dict_free(&state->names);
    free(state->tensors);
    free(state);
}

const struct nx_table nx_table_TensorInfo = {"TensorInfo", open_table, count_rows, fill, NULL, close_table};
