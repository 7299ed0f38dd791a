#include "tables/liveness.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "tables/static_dma.h"

/* Values of real kernels are of a few pieces each; hostile code would cut them finer, and take memory for it. */
#define LIVES_PER_ACCESS 16
#define LIVES_ALWAYS 1000000

#define ACCUMULATOR_BYTES 4 /* what a MATMUL writes for each element, whatever it reads */

/* What is looked at. */
struct view {
    const struct nx_trace *trace;
    uint32_t core;
    enum nx_memory memory;
    bool one_partition; /* that one, and DMA; else all partitions together, without DMA */
    uint32_t partition;
};

/* What an instruction or a DMA block does to one stretch of memory, each time it runs. */
struct extent {
    uint32_t start, end;
    uint32_t desc; /* of the block; 0 for an instruction */
    uint8_t partitions;
    bool write;
};

/* The extents of each place in the code (at most two reads and a write), and of each block. */
struct extents {
    struct extent *list;
    uint32_t *first;       /* by inst: range [first[i], first[i + 1]) of `list` */
    uint32_t *first_block; /* by block of the NEFF graph, likewise; NULL without DMA */
    size_t count, capacity;
};

struct access {
    uint32_t extent; /* into extents.list */
    int64_t end;     /* of the instruction or run */
    uint32_t maker;  /* execution, or run */
    bool by_run;
};

/* A piece of memory between two neighbouring edges, and the value in it. */
struct piece {
    int64_t from, to;
    uint32_t writer, desc;
    uint8_t partitions;
    bool used, read, by_run;
};

static void keep_extent(struct extents *x, struct extent extent)
{
    x->list = nx_grow(x->list, x->count, &x->capacity, sizeof(*x->list));
    x->list[x->count++] = extent;
}

static void add_extent(struct extents *x, const struct view *view, const struct nx_inst *inst,
                       const struct nx_ap *ap, bool write)
{
    uint64_t element = write && inst->opcode == NX_OP_MATMUL ? ACCUMULATOR_BYTES : nx_isa_dtype_size(ap->dtype);
    int64_t low = 0, high = 0, start, end, base = ap->address;
    uint8_t channels = nx_isa_channels(inst, write);

    if (!ap->rank || !element || nx_ap_is_psum(ap) != (view->memory == NX_MEMORY_PSUM))
        return;
    if (view->one_partition && view->partition >= channels)
        return;
    for (unsigned i = 0; i < ap->rank; i++) {
        int64_t reach = (int64_t)ap->step[i] * (ap->count[i] ? ap->count[i] - 1 : 0);

        *(reach < 0 ? &low : &high) += reach;
    }
    if (view->memory == NX_MEMORY_PSUM)
        base -= NX_PSUM_BASE;
    start = base + low * (int64_t)element;
    end = base + (high + 1) * (int64_t)element;
    if (low < 0) {
        start -= (int64_t)element;
        end -= (int64_t)element;
    }
    if (start < 0)
        start = 0;
    if (end <= start || end > UINT32_MAX)
        return;
    keep_extent(x, (struct extent){(uint32_t)start, (uint32_t)end, 0, channels, write});
}

static void add_side(struct extents *x, const struct view *view, const struct nx_neff_graph *graph,
                     const struct nx_dma_side *side, uint32_t desc, bool write)
{
    struct nx_sbuf_extent e;

    if (nx_var_is_sbuf(graph, side->var) && nx_sbuf_extent_of(side, &e) && view->partition >= e.first &&
        view->partition - e.first < e.partitions)
        keep_extent(x, (struct extent){e.start, e.end, desc, (uint8_t)e.partitions, write});
}

static void read_blocks(struct extents *x, const struct view *view, const struct nx_neff_graph *graph)
{
    x->first_block = nx_alloc((graph->block_count + 1) * sizeof(*x->first_block));
    for (size_t b = 0; b < graph->block_count; b++) {
        const struct nx_neff_block *block = &graph->blocks[b];

        x->first_block[b] = (uint32_t)x->count;
        for (size_t d = 0; d < block->desc_count; d++) {
            add_side(x, view, graph, &block->descs[d].from, (uint32_t)d, false);
            add_side(x, view, graph, &block->descs[d].to, (uint32_t)d, true);
        }
    }
    x->first_block[graph->block_count] = (uint32_t)x->count;
}

static struct extents read_extents(const struct view *view)
{
    const struct nx_trace *trace = view->trace;
    uint32_t core = view->core;
    struct extents x = {.first = nx_zalloc((size_t)trace->inst_count + 1, sizeof(*x.first))};

    for (uint32_t i = 0; i < trace->inst_count; i++) {
        const struct nx_code_inst *place = &trace->insts[i];
        struct nx_inst inst;

        x.first[i] = (uint32_t)x.count;
        if (place->core != core || !place->bir)
            continue; /* the runtime's own instructions do not count */
        nx_isa_decode(trace->cores[core].ntff->code[place->engine].bytes.data + (size_t)place->index * NX_ISA_SIZE,
                      &inst);
        add_extent(&x, view, &inst, &inst.src[0], false);
        add_extent(&x, view, &inst, &inst.src[1], false);
        add_extent(&x, view, &inst, &inst.dst, true);
    }
    x.first[trace->inst_count] = (uint32_t)x.count;
    if (view->one_partition && trace->cores[core].neff)
        read_blocks(&x, view, trace->cores[core].neff);
    return x;
}

static int by_value(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* All addresses at which an extent begins or ends, once each, in order. */
static uint32_t *find_edges(const struct extents *x, size_t *count)
{
    uint32_t *edges = nx_alloc(2 * x->count * sizeof(*edges));
    size_t kept = 0;

    for (size_t i = 0; i < x->count; i++) {
        edges[2 * i] = x->list[i].start;
        edges[2 * i + 1] = x->list[i].end;
    }
    qsort(edges, 2 * x->count, sizeof(*edges), by_value);
    for (size_t i = 0; i < 2 * x->count; i++)
        if (!kept || edges[kept - 1] != edges[i])
            edges[kept++] = edges[i];
    *count = kept;
    return edges;
}

static size_t edge_of(const uint32_t *edges, size_t count, uint32_t address)
{
    return (size_t)((const uint32_t *)bsearch(&address, edges, count, sizeof(*edges), by_value) - edges);
}

struct accesses {
    struct access *list;
    uint64_t *keys; /* its time */
    size_t count, capacity, key_capacity;
};

/* Writes happen at the start of an instruction or run, reads at its end. */
static void add_accesses(struct accesses *a, const struct extents *x, const uint32_t range[2], int64_t start,
                         int64_t end, uint32_t maker, bool by_run)
{
    for (uint32_t i = range[0]; i < range[1]; i++) {
        a->list = nx_grow(a->list, a->count, &a->capacity, sizeof(*a->list));
        a->keys = nx_grow(a->keys, a->count, &a->key_capacity, sizeof(*a->keys));
        a->keys[a->count] = (uint64_t)(x->list[i].write ? start : end);
        a->list[a->count++] = (struct access){i, end, maker, by_run};
    }
}

static struct accesses list_accesses(const struct view *view, const struct extents *x)
{
    const struct nx_trace *trace = view->trace;
    struct accesses a = {0};

    for (uint32_t e = 0; e < trace->exec_count; e++) {
        const struct nx_exec *exec = &trace->execs[e];

        if (exec->core == view->core && exec->inst != NX_NONE)
            add_accesses(&a, x, &x->first[exec->inst], exec->start, exec->end, e, false);
    }
    for (uint32_t r = 0; x->first_block && r < trace->run_count; r++) {
        const struct nx_block_run *run = &trace->runs[r];

        if (run->core == view->core && run->packets)
            add_accesses(&a, x, &x->first_block[run->block], run->start, run->end, r, true);
    }
    return a;
}

/* Whether `next` is the rest of the same value, at the bytes behind. */
static bool continues(const struct nx_live *last, const struct nx_live *next)
{
    return last->end == next->start && last->from == next->from && last->to == next->to &&
           last->ends == next->ends && last->writer == next->writer && last->by_run == next->by_run &&
           last->desc == next->desc && last->partitions == next->partitions;
}

static void finish(struct nx_liveness *out, const uint32_t *edges, size_t at, const struct piece *piece, int64_t next)
{
    bool ends = next > piece->to;
    struct nx_live live = {.start = edges[at],
                           .end = edges[at + 1],
                           .partitions = piece->partitions,
                           .ends = ends,
                           .from = piece->from,
                           .to = ends ? piece->to : next,
                           .writer = piece->writer,
                           .desc = piece->desc,
                           .by_run = piece->by_run};

    if (out->count && continues(&out->list[out->count - 1], &live)) {
        out->list[out->count - 1].end = live.end;
        return;
    }
    out->list = nx_grow(out->list, out->count, &out->capacity, sizeof(*out->list));
    out->list[out->count++] = live;
}

static void visit(struct nx_liveness *out, const uint32_t *edges, size_t at, struct piece *piece,
                  const struct extent *extent, const struct access *access, int64_t time)
{
    if (!extent->write) {
        if (piece->used && (!piece->read || time > piece->to))
            piece->to = time;
        piece->read = true;
        return;
    }
    if (piece->used)
        finish(out, edges, at, piece, time);
    *piece = (struct piece){.from = time,
                            .to = access->end,
                            .writer = access->maker,
                            .desc = extent->desc,
                            .partitions = extent->partitions,
                            .used = true,
                            .by_run = access->by_run};
}

static void follow(const struct view *view, struct nx_liveness *out)
{
    struct extents x = read_extents(view);
    size_t edge_count, limit;
    uint64_t visits = 0;
    uint32_t *edges = find_edges(&x, &edge_count), *order;
    struct accesses a = list_accesses(view, &x);
    struct piece *pieces = nx_zalloc(edge_count + 1, sizeof(*pieces));

    *out = (struct nx_liveness){0};
    order = nx_alloc(a.count * sizeof(*order));
    nx_sort_order(a.keys, order, a.count);
    limit = a.count * LIVES_PER_ACCESS + LIVES_ALWAYS;
    for (size_t i = 0; i < a.count && visits <= NX_LIVENESS_MAX && out->count <= limit; i++) {
        const struct access *access = &a.list[order[i]];
        const struct extent *extent = &x.list[access->extent];
        size_t first = edge_of(edges, edge_count, extent->start), last = edge_of(edges, edge_count, extent->end);

        for (size_t at = first; at < last; at++)
            visit(out, edges, at, &pieces[at], extent, access, (int64_t)a.keys[order[i]]);
        visits += last - first;
    }
    for (size_t at = 0; at + 1 < edge_count; at++)
        if (pieces[at].used)
            finish(out, edges, at, &pieces[at], INT64_MAX);
    if (visits > NX_LIVENESS_MAX || out->count > limit)
        nx_liveness_close(out);
    free(x.list);
    free(x.first);
    free(x.first_block);
    free(edges);
    free(order);
    free(a.list);
    free(a.keys);
    free(pieces);
}

void nx_liveness_open(const struct nx_trace *trace, uint32_t core, enum nx_memory memory, struct nx_liveness *out)
{
    follow(&(struct view){.trace = trace, .core = core, .memory = memory}, out);
}

void nx_liveness_open_partition(const struct nx_trace *trace, uint32_t core, uint32_t partition,
                                struct nx_liveness *out)
{
    follow(&(struct view){.trace = trace,
                          .core = core,
                          .memory = NX_MEMORY_SBUF,
                          .one_partition = true,
                          .partition = partition},
           out);
}

void nx_liveness_close(struct nx_liveness *liveness)
{
    free(liveness->list);
    *liveness = (struct nx_liveness){0};
}
