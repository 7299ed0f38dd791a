#include "tables/rollup.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "tables/flops.h"
#include "tables/static_dma.h"
#include "tables/table.h"

/* What one execution of an instruction adds; worked out once for each. */
struct share {
    struct nx_inst_bytes bytes;
    uint64_t elements, transpose_elements;
    uint8_t channels;
};

static uint8_t channels_of(const struct nx_trace *trace, const struct nx_code_inst *inst)
{
    const struct nx_ntff_code *code = &trace->cores[inst->core].ntff->code[inst->engine];
    struct nx_inst decoded;

    nx_isa_decode(code->bytes.data + (size_t)inst->index * NX_ISA_SIZE, &decoded);
    return nx_isa_channels(&decoded, true);
}

static struct share *open_shares(const struct nx_trace *trace, const uint32_t *group_of_inst)
{
    struct share *shares = nx_zalloc(trace->inst_count, sizeof(*shares));
    struct nx_static_dmas dmas;

    nx_static_dmas_open(trace, &dmas);
    for (uint32_t i = 0; i < trace->inst_count; i++) {
        const struct nx_code_inst *inst = &trace->insts[i];
        const struct nx_static_dma *dma = nx_static_dmas_of(&dmas, i);

        if (group_of_inst[i] == NX_NONE)
            continue;
        shares[i].bytes = dma ? dma->bytes : inst->bytes;
        shares[i].channels = channels_of(trace, inst);
        if (inst->opcode == NX_OP_MATMUL) {
            shares[i].elements = inst->macs;
            shares[i].transpose_elements = nx_flops_of(inst).is_transpose ? inst->macs : 0;
        }
    }
    nx_static_dmas_close(&dmas);
    return shares;
}

/* ------------------------------------------------------------------ one group */

static void add_bytes(struct nx_rollup *r, const struct nx_code_inst *inst, const struct share *share)
{
    const struct nx_inst_bytes *b = &share->bytes;

    r->bytes.hbm_read += b->hbm_read;
    r->bytes.hbm_write += b->hbm_write;
    r->bytes.sbuf_read += b->sbuf_read;
    r->bytes.sbuf_write += b->sbuf_write;
    r->counts_bytes |= inst->counts_bytes || b->hbm_read || b->hbm_write || b->sbuf_read || b->sbuf_write;
    r->elements += share->elements;
    r->transpose_elements += share->transpose_elements;
    r->channels[inst->engine] += share->channels;
    if (inst->opcode == NX_OP_LDWEIGHTS) {
        r->loads_weights = true;
        r->weight_bytes += b->sbuf_read;
    }
}

static void add_time(struct nx_rollup *r, const struct nx_exec *e)
{
    if (e->end > r->end)
        r->end = e->end;
    if (!r->executions[e->engine]++)
        r->engine_start[e->engine] = e->start;
    if (e->end > r->engine_end[e->engine])
        r->engine_end[e->engine] = e->end;
}

static void add_interval(struct nx_rollups *all, struct nx_rollup *r, const struct nx_exec *e, const struct share *share)
{
    struct nx_rollup_interval *last = r->interval_count ? &all->intervals[all->interval_count - 1] : NULL;

    if (!last || e->start > last->end) {
        all->intervals = nx_grow(all->intervals, all->interval_count, &all->interval_capacity, sizeof(*all->intervals));
        last = &all->intervals[all->interval_count++];
        *last = (struct nx_rollup_interval){.start = e->start, .end = e->end};
        r->interval_count++;
    }
    if (e->end > last->end)
        last->end = e->end;
    if (!share)
        return;
    last->elements += share->elements;
    last->transpose_elements += share->transpose_elements;
    last->hbm_bytes += share->bytes.hbm_read + share->bytes.hbm_write;
}

/* Joins neighbours that are no further apart than `gap`; returns how many are left. */
static size_t join_intervals(struct nx_rollup_interval *list, size_t count, int64_t gap)
{
    size_t kept = 0;

    for (size_t i = 1; i < count; i++) {
        struct nx_rollup_interval *last = &list[kept];

        if (list[i].start - last->end > gap) {
            list[++kept] = list[i];
            continue;
        }
        last->end = list[i].end;
        last->elements += list[i].elements;
        last->transpose_elements += list[i].transpose_elements;
        last->hbm_bytes += list[i].hbm_bytes;
    }
    return kept + 1;
}

static void limit_intervals(struct nx_rollups *all, struct nx_rollup *r)
{
    size_t before = r->interval_count;

    for (int64_t gap = 1000; r->interval_count > NX_ROLLUP_MAX_INTERVALS; gap *= 2) /* ps; 53 rounds at most */
        r->interval_count = join_intervals(all->intervals + r->first_interval, r->interval_count, gap);
    r->joined = r->interval_count != before;
    all->interval_count = r->first_interval + r->interval_count;
}

static void sum_up(const struct nx_trace *trace, const struct share *shares, const uint32_t *execs, size_t count,
                   struct nx_rollups *all, struct nx_rollup *r)
{
    r->first_exec = execs[0];
    r->start = trace->execs[execs[0]].start;
    r->first_interval = all->interval_count;
    for (size_t i = 0; i < count; i++) { /* by start, as all executions are */
        const struct nx_exec *e = &trace->execs[execs[i]];
        const struct nx_code_inst *inst = nx_exec_inst(trace, e);
        const struct share *share = inst ? &shares[e->inst] : NULL;

        add_time(r, e);
        add_interval(all, r, e, share);
        if (inst)
            add_bytes(r, inst, share);
    }
    limit_intervals(all, r);
}

/* ------------------------------------------------------------------ all groups */

static uint32_t group_of(const struct nx_exec *e, const uint32_t *group_of_inst, const uint32_t *group_of_core)
{
    if (e->inst != NX_NONE)
        return group_of_inst[e->inst];
    return group_of_core ? group_of_core[e->core] : NX_NONE;
}

void nx_rollups_open(const struct nx_trace *trace, const uint32_t *group_of_inst, const uint32_t *group_of_core,
                     uint32_t group_count, struct nx_rollups *rollups)
{
    struct share *shares = open_shares(trace, group_of_inst);
    /* next[g + 1]: where the next execution of group g goes; when all have gone, where group g ends */
    size_t *next = nx_zalloc((size_t)group_count + 2, sizeof(*next)), *end = next + 1;
    uint32_t *execs = nx_alloc(trace->exec_count * sizeof(*execs));

    *rollups = (struct nx_rollups){0};
    for (uint32_t i = 0; i < trace->exec_count; i++) {
        uint32_t group = group_of(&trace->execs[i], group_of_inst, group_of_core);

        if (group != NX_NONE)
            next[group + 2]++;
    }
    for (size_t g = 2; g < (size_t)group_count + 2; g++) {
        rollups->count += next[g] != 0;
        next[g] += next[g - 1];
    }
    for (uint32_t i = 0; i < trace->exec_count; i++) {
        uint32_t group = group_of(&trace->execs[i], group_of_inst, group_of_core);

        if (group != NX_NONE)
            execs[end[group]++] = i;
    }
    rollups->list = nx_zalloc(rollups->count, sizeof(*rollups->list));
    for (uint32_t g = 0, at = 0; g < group_count; g++) {
        size_t first = g ? end[g - 1] : 0;

        if (end[g] == first)
            continue;
        rollups->list[at].group = g;
        sum_up(trace, shares, execs + first, end[g] - first, rollups, &rollups->list[at++]);
    }
    rollups->list = nx_sort_rows(rollups->list, rollups->count, sizeof(*rollups->list), offsetof(struct nx_rollup, start));
    free(shares);
    free(next);
    free(execs);
}

void nx_rollups_close(struct nx_rollups *rollups)
{
    free(rollups->list);
    free(rollups->intervals);
    *rollups = (struct nx_rollups){0};
}

/* ------------------------------------------------------------------ as text */

void nx_rollup_intervals_text(const struct nx_rollups *rollups, const struct nx_rollup *rollup, struct nx_text *out)
{
    const struct nx_rollup_interval *list = nx_rollup_intervals(rollups, rollup);

    nx_text_puts(out, "[");
    for (size_t i = 0; i < rollup->interval_count; i++)
        nx_text_printf(out, "%s[%" PRId64 ", %" PRId64 "]", i ? ", " : "", nx_ns(list[i].start), nx_ns(list[i].end));
    nx_text_puts(out, "]");
}

void nx_rollup_values_text(const struct nx_rollups *rollups, const struct nx_rollup *rollup,
                           uint64_t (*value)(const struct nx_rollup_interval *), struct nx_text *out)
{
    const struct nx_rollup_interval *list = nx_rollup_intervals(rollups, rollup);

    nx_text_puts(out, "[");
    for (size_t i = 0; i < rollup->interval_count; i++)
        nx_text_printf(out, "%s%" PRIu64, i ? ", " : "", value(&list[i]));
    nx_text_puts(out, "]");
}

uint64_t nx_interval_elements(const struct nx_rollup_interval *interval)
{
    return interval->elements;
}
uint64_t nx_interval_transpose_elements(const struct nx_rollup_interval *interval)
{
    return interval->transpose_elements;
}
uint64_t nx_interval_hbm_bytes(const struct nx_rollup_interval *interval)
{
    return interval->hbm_bytes;
}
