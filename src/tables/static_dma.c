#include "tables/static_dma.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SBUF_PARTITIONS 128
#define PARTITION_STRIDE 0x40000 /* bytes between partitions in descriptor addresses (docs/format-neff.md) */

static const struct nx_neff_var *find_var(const struct nx_neff_graph *graph, const char *name)
{
    size_t low = 0, high = graph->var_count; /* vars are sorted by name */

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(graph->vars[middle].name, name);

        if (order == 0)
            return &graph->vars[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

bool nx_var_is_sbuf(const struct nx_neff_graph *graph, const char *name)
{
    const struct nx_neff_var *var = find_var(graph, name);

    return var ? var->kind == NX_VAR_STATE_BUFFER : strcmp(name, "SB") == 0;
}

static bool is_temporary(const struct nx_neff_graph *graph, const char *name)
{
    const struct nx_neff_var *var = find_var(graph, name);

    return var && var->kind == NX_VAR_OTHER;
}

struct nx_static_dma nx_static_dma_of(const struct nx_neff_graph *graph, const struct nx_neff_block *block)
{
    const char *type = graph->queues[block->queue].type;
    struct nx_static_dma dma = {0};

    for (size_t i = 0; i < block->desc_count; i++) {
        const struct nx_dma_desc *d = &block->descs[i];
        bool from_sbuf = nx_var_is_sbuf(graph, d->from.var), to_sbuf = nx_var_is_sbuf(graph, d->to.var);

        *(from_sbuf ? &dma.bytes.sbuf_read : &dma.bytes.hbm_read) += d->from.bytes;
        *(to_sbuf ? &dma.bytes.sbuf_write : &dma.bytes.hbm_write) += d->to.bytes;
        if (from_sbuf && is_temporary(graph, d->to.var))
            dma.spill_save += d->to.bytes;
        if (to_sbuf && is_temporary(graph, d->from.var))
            dma.spill_reload += d->to.bytes;
    }
    if (strcmp(type, "in") == 0)
        dma.input_queue = block->write_bytes;
    else if (strcmp(type, "out") == 0)
        dma.output_queue = block->write_bytes;
    else if (strcmp(type, "data") == 0)
        dma.weight_queue = block->write_bytes;
    return dma;
}

void nx_static_dmas_open(const struct nx_trace *trace, struct nx_static_dmas *dmas)
{
    size_t count = 0, capacity = 0;

    *dmas = (struct nx_static_dmas){.by_inst = nx_alloc(trace->inst_count * sizeof(*dmas->by_inst))};
    for (uint32_t i = 0; i < trace->inst_count; i++) {
        const struct nx_code_inst *inst = &trace->insts[i];
        const struct nx_neff_graph *graph = trace->cores[inst->core].neff;

        dmas->by_inst[i] = NX_NONE;
        if (inst->block == NX_NONE)
            continue;
        dmas->list = nx_grow(dmas->list, count, &capacity, sizeof(*dmas->list));
        dmas->by_inst[i] = (uint32_t)count;
        dmas->list[count++] = nx_static_dma_of(graph, &graph->blocks[inst->block]);
    }
}

void nx_static_dmas_close(struct nx_static_dmas *dmas)
{
    free(dmas->list);
    free(dmas->by_inst);
    *dmas = (struct nx_static_dmas){0};
}

const char *nx_static_dma_variable(const struct nx_neff_graph *graph, const struct nx_neff_block *block)
{
    const char *found = NULL;

    for (size_t i = 0; i < block->desc_count; i++) {
        const char *sides[2] = {block->descs[i].from.var, block->descs[i].to.var};

        for (int s = 0; s < 2; s++) {
            if (nx_var_is_sbuf(graph, sides[s]))
                continue;
            if (found && strcmp(found, sides[s]) != 0)
                return NULL;
            found = sides[s];
        }
    }
    return found;
}

static const struct nx_dma_side *side_of(const struct nx_dma_desc *desc, enum nx_dma_direction side)
{
    return side == NX_DMA_READ_SIDE ? &desc->from : &desc->to;
}

static const char *place_of(const struct nx_neff_graph *graph, const char *name)
{
    const struct nx_neff_var *var = find_var(graph, name);

    if (nx_var_is_sbuf(graph, name))
        return "SB";
    switch (var ? var->kind : NX_VAR_OTHER) {
    case NX_VAR_INPUT: return "INPUT";
    case NX_VAR_OUTPUT: return "OUTPUT";
    case NX_VAR_WEIGHT: return "WEIGHT";
    default: return "VIRTUAL";
    }
}

void nx_static_dma_place(const struct nx_neff_graph *graph, const struct nx_neff_block *block,
                         enum nx_dma_direction side, struct nx_text *out)
{
    static const char *const places[] = {"SB", "INPUT", "OUTPUT", "WEIGHT", "VIRTUAL"};
    bool used[sizeof(places) / sizeof(places[0])] = {false}, any = false;

    for (size_t i = 0; i < block->desc_count; i++) {
        const char *place = place_of(graph, side_of(&block->descs[i], side)->var);

        for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++)
            used[p] |= strcmp(place, places[p]) == 0;
    }
    for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++)
        if (used[p]) {
            nx_text_printf(out, "%s%s", any ? ", " : "", places[p]);
            any = true;
        }
}

void nx_static_dma_shape(const struct nx_neff_block *block, enum nx_dma_direction side, struct nx_text *out)
{
    for (size_t i = 0; i < block->desc_count; i++) {
        const struct nx_dma_side *s = side_of(&block->descs[i], side);

        nx_text_puts(out, i ? ", [" : "[");
        for (size_t k = 0; k < s->size_count; k++)
            nx_text_printf(out, "%s%" PRIu64, k ? ", " : "", s->sizes[k]);
        nx_text_puts(out, "]");
    }
}

void nx_static_dma_offset(const struct nx_neff_block *block, enum nx_dma_direction side, struct nx_text *out)
{
    for (size_t i = 0; i < block->desc_count; i++)
        nx_text_printf(out, "%s[0x%" PRIx64 "]", i ? ", " : "", side_of(&block->descs[i], side)->offset);
}

void nx_static_dma_steps(const struct nx_neff_block *block, enum nx_dma_direction side, struct nx_text *out)
{
    for (size_t i = 0; i < block->desc_count; i++) {
        const struct nx_dma_side *s = side_of(&block->descs[i], side);

        nx_text_puts(out, i ? ", [" : "[");
        for (size_t k = 0; k < s->step_count; k++)
            nx_text_printf(out, "%s%" PRId64, k ? ", " : "", s->steps[k]);
        nx_text_puts(out, "]");
    }
}

/* Marks the partitions that one side touches: its first one, and those that a step of the stride walks to. */
static void mark_partitions(const struct nx_dma_side *s, bool partitions[SBUF_PARTITIONS])
{
    uint64_t first = s->offset / PARTITION_STRIDE, count = 1;

    for (size_t k = 0; k < s->size_count && k < s->step_count; k++)
        if (s->steps[k] == PARTITION_STRIDE)
            count = s->sizes[k];
    for (uint64_t p = first; p < SBUF_PARTITIONS && p - first < count; p++)
        partitions[p] = true;
}

bool nx_sbuf_extent_of(const struct nx_dma_side *side, struct nx_sbuf_extent *out)
{
    int64_t low = (int64_t)(side->offset % PARTITION_STRIDE), high = low;
    uint64_t first = side->offset / PARTITION_STRIDE, partitions = 1;

    for (size_t k = 0; k < side->size_count && k < side->step_count; k++) {
        int64_t step = side->steps[k], reach;

        if (!side->sizes[k] || side->sizes[k] > PARTITION_STRIDE || step > PARTITION_STRIDE || step < -PARTITION_STRIDE)
            return false;
        reach = step * (int64_t)(side->sizes[k] - 1);
        if (step == PARTITION_STRIDE && partitions == 1)
            partitions = side->sizes[k];
        else
            *(reach < 0 ? &low : &high) += reach;
        if (low < 0 || high >= PARTITION_STRIDE)
            return false;
    }
    if (!side->size_count || first >= SBUF_PARTITIONS || partitions > SBUF_PARTITIONS - first)
        return false;
    *out = (struct nx_sbuf_extent){(uint32_t)first, (uint32_t)partitions, (uint32_t)low, (uint32_t)high + 1};
    return true;
}

uint32_t nx_static_dma_partitions(const struct nx_neff_graph *graph, const struct nx_neff_block *block,
                                  enum nx_dma_direction side, struct nx_text *out)
{
    bool partitions[SBUF_PARTITIONS] = {false};
    uint32_t count = 0;

    for (size_t i = 0; i < block->desc_count; i++)
        if (nx_var_is_sbuf(graph, side_of(&block->descs[i], side)->var))
            mark_partitions(side_of(&block->descs[i], side), partitions);
    for (uint32_t first = 0; first < SBUF_PARTITIONS; first++) {
        uint32_t last = first;

        if (!partitions[first])
            continue;
        while (last + 1 < SBUF_PARTITIONS && partitions[last + 1])
            last++;
        nx_text_printf(out, "%s%u", count ? "," : "", first);
        if (last > first)
            nx_text_printf(out, "-%u", last);
        count += last - first + 1;
        first = last;
    }
    return count;
}
