#include "tables/usage.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

/* A stretch begins (row number 2 i) or ends (2 i + 1). */
static void sweep(const struct nx_liveness *live, uint8_t core, nx_usage_weigh *weigh, struct nx_usage *usage)
{
    size_t count = 2 * live->count;
    uint64_t *keys = nx_alloc(count * sizeof(*keys));
    uint32_t *order = nx_alloc(count * sizeof(*order)), now[NX_USAGE_SLOTS] = {0};

    for (size_t i = 0; i < live->count; i++) {
        keys[2 * i] = (uint64_t)live->list[i].from;
        keys[2 * i + 1] = (uint64_t)live->list[i].to;
    }
    nx_sort_order(keys, order, count);
    for (size_t i = 0; i < count;) {
        uint64_t time = keys[order[i]];
        bool shown = false; /* a value that only makes room for the next one is no change */

        for (; i < count && keys[order[i]] == time; i++) {
            const struct nx_live *l = &live->list[order[i] / 2];
            uint32_t weight[NX_USAGE_SLOTS] = {0};
            bool begins = order[i] % 2 == 0;

            weigh(l, weight);
            for (int s = 0; s < NX_USAGE_SLOTS; s++)
                now[s] += begins ? weight[s] : 0U - weight[s];
            shown |= begins || l->ends;
        }
        if (!shown)
            continue;
        usage->rows = nx_grow(usage->rows, usage->count, &usage->capacity, sizeof(*usage->rows));
        usage->rows[usage->count] = (struct nx_usage_row){.time = (int64_t)time, .core = core};
        for (int s = 0; s < NX_USAGE_SLOTS; s++)
            usage->rows[usage->count].slot[s] = now[s];
        usage->count++;
    }
    free(keys);
    free(order);
}

void nx_usage_open(const struct nx_trace *trace, enum nx_memory memory, nx_usage_weigh *weigh, struct nx_usage *usage)
{
    *usage = (struct nx_usage){0};
    for (uint32_t c = 0; c < trace->core_count; c++) {
        struct nx_liveness live;

        nx_liveness_open(trace, c, memory, &live);
        sweep(&live, (uint8_t)c, weigh, usage);
        nx_liveness_close(&live);
    }
    usage->rows = nx_sort_rows(usage->rows, usage->count, sizeof(*usage->rows), offsetof(struct nx_usage_row, time));
}
