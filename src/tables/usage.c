#include "tables/usage.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

/* A stretch begins (row number 2 i) or ends (2 i + 1). */
static void sweep(const struct nx_liveness *live, uint8_t core, nx_usage_weigh *weigh, struct nx_rows *rows)
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
        struct nx_usage_row *row;
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
        row = nx_rows_add(rows, sizeof(*row));
        *row = (struct nx_usage_row){.time = (int64_t)time, .core = core};
        for (int s = 0; s < NX_USAGE_SLOTS; s++)
            row->slot[s] = now[s];
    }
    free(keys);
    free(order);
}

void nx_usage_add(const struct nx_trace *trace, enum nx_memory memory, nx_usage_weigh *weigh, struct nx_rows *rows)
{
    for (uint32_t c = 0; c < trace->core_count; c++) {
        struct nx_liveness live;

        nx_liveness_open(trace, c, memory, &live);
        sweep(&live, (uint8_t)c, weigh, rows);
        nx_liveness_close(&live);
    }
    nx_rows_sort(rows, sizeof(struct nx_usage_row), offsetof(struct nx_usage_row, time));
}
