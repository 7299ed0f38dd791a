/*
 * PendingDma: how many DMA transfers were started and not yet seen to end, at
 * each change.  A dynamic one counts from its DMA_DIRECT2D on: without DGE
 * notifications nothing says when it ended, so it stays (Warning says so).  A
 * static one counts from its trigger to the end of its last packet.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "tables/rows.h"
#include "tables/table.h"

struct change {
    int64_t time;
    uint8_t core;
    int8_t step; /* +1 or -1 */
};

struct row {
    int64_t time;
    int32_t value;
    uint8_t core;
};

static struct change *find_changes(const struct nx_trace *trace, size_t *count)
{
    struct change *list = NULL;
    size_t capacity = 0, used = 0;

    for (uint32_t i = 0; i < trace->exec_count; i++) {
        const struct nx_code_inst *inst = nx_exec_inst(trace, &trace->execs[i]);

        if (!inst || inst->opcode != NX_OP_DMA_DIRECT2D)
            continue;
        list = nx_grow(list, used, &capacity, sizeof(*list));
        list[used++] = (struct change){trace->execs[i].start, trace->execs[i].core, 1};
    }
    for (uint32_t i = 0; i < trace->run_count; i++) {
        const struct nx_block_run *run = &trace->runs[i];

        if (run->trigger == NX_NONE || !run->packets)
            continue;
        list = nx_grow(list, used, &capacity, sizeof(*list));
        list[used++] = (struct change){trace->execs[run->trigger].start, run->core, 1};
        list = nx_grow(list, used, &capacity, sizeof(*list));
        list[used++] = (struct change){run->end, run->core, -1};
    }
    *count = used;
    return list;
}

static void *open_table(const struct nx_profile *profile)
{
    struct nx_rows *rows = nx_zalloc(1, sizeof(*rows));
    int32_t *pending = nx_zalloc(profile->trace->core_count, sizeof(*pending));
    size_t count;
    struct change *changes = find_changes(profile->trace, &count);

    changes = nx_sort_rows(changes, count, sizeof(*changes), offsetof(struct change, time));
    for (size_t i = 0; i < count; i++) {
        const struct change *c = &changes[i];

        pending[c->core] += c->step;
        *(struct row *)nx_rows_add(rows, sizeof(struct row)) = (struct row){c->time, pending[c->core], c->core};
    }
    free(pending);
    free(changes);
    return rows;
}

static void fill(const void *state, uint64_t first, struct nx_chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = nx_rows_at(state, first + i, sizeof(*row));

        nx_put_i64(chunk, NX_PendingDma_timestamp, i, nx_ns(row->time));
        nx_put_i32(chunk, NX_PendingDma_value, i, row->value);
        nx_put_i64(chunk, NX_PendingDma_pcore_idx, i, row->core);
    }
}

const struct nx_table nx_table_PendingDma = {"PendingDma", open_table, nx_rows_count, fill, NULL, nx_rows_close};
