#include "tables/names.h"

#include <stdio.h>

#include "tables/schema.h"

void nx_semaphore_text(const struct nx_neff_graph *graph, unsigned semaphore, char *out, size_t size)
{
    const char *name = graph && semaphore < 256 ? graph->semaphore_names[semaphore] : NULL;

    if (name)
        snprintf(out, size, "S[%u] (%s)", semaphore, name);
    else
        snprintf(out, size, "%u", semaphore);
}

void nx_queue_type_dict(struct nx_dict *dict)
{
    const struct nx_enum *types = nx_enum_find("DmaQueueType");

    for (size_t i = 0; i < types->value_count; i++)
        nx_dict_add_string(dict, types->values[i]);
}

void nx_ring_type_text(uint32_t type, char *out, size_t size)
{
    static const char *const names[] = {"unknown", NULL, "weights", "input", "output"};

    if (type < sizeof(names) / sizeof(names[0]) && names[type])
        snprintf(out, size, "%s", names[type]);
    else
        snprintf(out, size, "type %u", type);
}

void nx_ring_text(const struct nx_ring *ring, bool is_static, char *out, size_t size)
{
    snprintf(out, size, "%s%sQ%u-E%u", is_static ? ring->info->display_name : "", is_static ? "-" : "",
             ring->index, ring->engine);
}
