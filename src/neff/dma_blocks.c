/* Statically generated DMA: the "dma" array of an engine's JSON (docs/format-neff.md, "DMA blocks"). */
#include <stdio.h>
#include <string.h>

#include "neff/reader.h"

/* Integers of a JSON array into the arena; false if the value is not an array of integers. */
static bool read_integers(struct nx_neff_reader *r, const json_t *array, int64_t **list, size_t *count)
{
    if (!json_is_array(array))
        return false;
    *count = json_array_size(array);
    *list = nx_arena_alloc(&r->neff->arena, *count, sizeof(**list));
    for (size_t i = 0; i < *count; i++) {
        const json_t *value = json_array_get(array, i);

        if (!json_is_integer(value))
            return false;
        (*list)[i] = (int64_t)json_integer_value(value);
    }
    return true;
}

static uint64_t product(const int64_t *sizes, size_t count, bool *ok)
{
    uint64_t bytes = 1;

    for (size_t i = 0; i < count; i++)
        if (sizes[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)sizes[i], &bytes)) {
            *ok = false;
            return 0;
        }
    return count ? bytes : 0;
}

/* `from` or `to`: keys NAME, NAME_off, NAME_sizes, NAME_steps, NAME_dtype. */
static enum nx_status read_side(struct nx_neff_reader *r, const char *member, const json_t *desc,
                                const char *name, struct nx_dma_side *side)
{
    char key[32];
    int64_t *sizes = NULL, *steps = NULL;
    bool ok = true;

    side->var = nx_neff_json_text(r, desc, name);
    if (!side->var)
        return nx_neff_member_fail(r, member, "a DMA descriptor has no \"%s\"", name);
    snprintf(key, sizeof(key), "%s_dtype", name);
    side->dtype = nx_neff_json_text(r, desc, key);
    snprintf(key, sizeof(key), "%s_off", name);
    side->offset = nx_neff_json_count(r, member, desc, key, INT64_MAX);
    snprintf(key, sizeof(key), "%s_sizes", name);
    if (!read_integers(r, json_object_get(desc, key), &sizes, &side->size_count))
        return nx_neff_member_fail(r, member, "\"%s\" of a DMA descriptor is not a list of integers", key);
    snprintf(key, sizeof(key), "%s_steps", name);
    if (!read_integers(r, json_object_get(desc, key), &steps, &side->step_count))
        return nx_neff_member_fail(r, member, "\"%s\" of a DMA descriptor is not a list of integers", key);
    side->sizes = (const uint64_t *)sizes;
    side->steps = steps;
    side->bytes = product(sizes, side->size_count, &ok);
    if (!ok) {
        side->size_count = 0;
        nx_warn(&r->neff->warnings, NX_WARN_INCONSISTENT,
                "a DMA descriptor of %s moves an impossible number of bytes: counted as none", member);
    }
    return NX_OK;
}

static void add_bytes(struct nx_neff_reader *r, const char *member, uint64_t *sum, uint64_t bytes)
{
    if (!__builtin_add_overflow(*sum, bytes, sum))
        return;
    *sum = 0;
    nx_warn(&r->neff->warnings, NX_WARN_INCONSISTENT,
            "a DMA block of %s moves an impossible number of bytes: counted as none", member);
}

static enum nx_status read_descs(struct nx_neff_reader *r, const char *member, const json_t *list,
                                 struct nx_neff_block *block)
{
    size_t count = json_array_size(list);

    block->descs = nx_arena_alloc(&r->neff->arena, count, sizeof(*block->descs));
    for (size_t i = 0; i < count; i++) {
        const json_t *json = json_array_get(list, i);
        struct nx_dma_desc *desc = &block->descs[block->desc_count++];
        enum nx_status status;

        desc->op = nx_neff_json_text(r, json, "op");
        if (!desc->op)
            desc->op = "copy";
        status = read_side(r, member, json, "from", &desc->from);
        if (status == NX_OK)
            status = read_side(r, member, json, "to", &desc->to);
        if (status != NX_OK)
            return status;
        add_bytes(r, member, &block->read_bytes, desc->from.bytes);
        add_bytes(r, member, &block->write_bytes, desc->to.bytes);
    }
    return NX_OK;
}

int64_t nx_neff_find_queue(const struct nx_neff_graph *graph, const char *name)
{
    size_t low = 0, high = graph->queue_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(graph->queues[middle].name, name);

        if (order == 0)
            return (int64_t)middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static enum nx_status read_block(struct nx_neff_reader *r, const char *member, const json_t *json,
                                 const struct nx_neff_graph *graph, struct nx_neff_block *block)
{
    const char *queue = json_string_value(json_object_get(json, "queue"));
    json_t *descs;
    enum nx_status status = nx_neff_json_part(r, member, json, "desc", JSON_ARRAY, true, &descs);
    int64_t number = queue ? nx_neff_find_queue(graph, queue) : -1;
    int64_t id = nx_neff_json_integer(json, "id", -1);

    if (status != NX_OK)
        return status;
    if (number < 0)
        return nx_neff_member_fail(r, member, "a DMA block is on queue \"%s\", which def.json does not have",
                                   queue ? queue : "");
    if (id < 0 || id > UINT32_MAX)
        return nx_neff_member_fail(r, member, "a DMA block of queue \"%s\" has no usable id", queue);
    block->queue = (uint32_t)number;
    block->id = (uint32_t)id;
    block->semaphore = nx_neff_json_integer(json, "semaphore", -1);
    block->name = nx_neff_json_text(r, json, "#comment");
    return read_descs(r, member, descs, block);
}

struct block_reader {
    struct nx_neff_reader *r;
    const char *member;
    enum nx_engine engine;
    const struct nx_neff_graph *graph;
    struct nx_block_list *blocks;
};

static enum nx_status add_block(void *context, const json_t *json)
{
    const struct block_reader *b = context;
    struct nx_block_list *blocks = b->blocks;
    struct nx_neff_block block = {.engine = b->engine};
    enum nx_status status = read_block(b->r, b->member, json, b->graph, &block);

    if (status == NX_OK) { /* a block that was read half would not do, even in a file that is read partly */
        blocks->list = nx_grow(blocks->list, blocks->count, &blocks->capacity, sizeof(*blocks->list));
        blocks->list[blocks->count++] = block;
    }
    return nx_neff_step(b->r, status);
}

enum nx_status nx_neff_read_blocks(struct nx_neff_reader *r, const char *member, enum nx_engine engine,
                                   struct nx_neff_graph *graph, struct nx_block_list *blocks)
{
    struct block_reader reader = {r, member, engine, graph, blocks};

    return nx_neff_json_elements(r, member, "dma", add_block, &reader);
}

const struct nx_neff_block *nx_neff_find_block(const struct nx_neff_graph *graph, const char *queue,
                                               uint32_t id)
{
    int64_t number = nx_neff_find_queue(graph, queue);
    size_t low = 0, high = number < 0 ? 0 : graph->block_count;

    while (low < high) { /* sorted by (queue, id) */
        size_t middle = low + (high - low) / 2;
        const struct nx_neff_block *block = &graph->blocks[middle];

        if (block->queue == (uint32_t)number && block->id == id)
            return block;
        if (block->queue < (uint32_t)number || (block->queue == (uint32_t)number && block->id < id))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
