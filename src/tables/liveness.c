#include "tables/liveness.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

#define ACCUMULATOR_BYTES 4 /* what a MATMUL writes for each element, whatever it reads */

/* What an instruction does to one stretch of memory, each time it runs. */
struct extent {
    uint32_t start, end;
    uint8_t partitions;
    bool write;
};

/* The extents of each place in the code: at most two reads and a write. */
struct extents {
    struct extent *list;
    uint32_t *first; /* by inst: range [first[i], first[i + 1]) of `list` */
    size_t count, capacity;
};

struct access {
    uint32_t extent; /* into extents.list */
    int64_t end;     /* of the instruction */
};

/* A piece of memory between two neighbouring edges, and the value in it. */
struct piece {
    int64_t from, to;
    uint8_t partitions;
    bool used, read;
};

static void add_extent(struct extents *x, const struct nx_inst *inst, const struct nx_ap *ap, bool write,
                       enum nx_memory memory)
{
    uint64_t element = write && inst->opcode == NX_OP_MATMUL ? ACCUMULATOR_BYTES : nx_isa_dtype_size(ap->dtype);
    int64_t low = 0, high = 0, start, end, base = ap->address;

    if (!ap->rank || !element || nx_ap_is_psum(ap) != (memory == NX_MEMORY_PSUM))
        return;
    for (unsigned i = 0; i < ap->rank; i++) {
        int64_t reach = (int64_t)ap->step[i] * (ap->count[i] ? ap->count[i] - 1 : 0);

        *(reach < 0 ? &low : &high) += reach;
    }
    if (memory == NX_MEMORY_PSUM)
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
    x->list = nx_grow(x->list, x->count, &x->capacity, sizeof(*x->list));
    x->list[x->count++] =
        (struct extent){(uint32_t)start, (uint32_t)end, nx_isa_channels(inst, write), write};
}

static struct extents read_extents(const struct nx_trace *trace, uint32_t core, enum nx_memory memory)
{
    struct extents x = {.first = nx_zalloc((size_t)trace->inst_count + 1, sizeof(*x.first))};

    for (uint32_t i = 0; i < trace->inst_count; i++) {
        const struct nx_code_inst *place = &trace->insts[i];
        struct nx_inst inst;

        x.first[i] = (uint32_t)x.count;
        if (place->core != core || !place->bir)
            continue; /* the runtime's own instructions do not count */
        nx_isa_decode(trace->cores[core].ntff->code[place->engine].bytes.data + (size_t)place->index * NX_ISA_SIZE,
                      &inst);
        add_extent(&x, &inst, &inst.src[0], false, memory);
        add_extent(&x, &inst, &inst.src[1], false, memory);
        add_extent(&x, &inst, &inst.dst, true, memory);
    }
    x.first[trace->inst_count] = (uint32_t)x.count;
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

/* Writes happen at the start of an instruction, reads at its end. */
static struct access *list_accesses(const struct nx_trace *trace, uint32_t core, const struct extents *x,
                                    uint64_t **keys, size_t *count)
{
    struct access *list = NULL;
    size_t capacity = 0, key_capacity = 0;

    *keys = NULL;
    *count = 0;
    for (uint32_t e = 0; e < trace->exec_count; e++) {
        const struct nx_exec *exec = &trace->execs[e];

        if (exec->core != core || exec->inst == NX_NONE)
            continue;
        for (uint32_t i = x->first[exec->inst]; i < x->first[exec->inst + 1]; i++) {
            list = nx_grow(list, *count, &capacity, sizeof(*list));
            *keys = nx_grow(*keys, *count, &key_capacity, sizeof(**keys));
            (*keys)[*count] = (uint64_t)(x->list[i].write ? exec->start : exec->end);
            list[(*count)++] = (struct access){i, exec->end};
        }
    }
    return list;
}

static void finish(struct nx_liveness *out, const uint32_t *edges, size_t at, const struct piece *piece, int64_t next)
{
    bool ends = next > piece->to;

    out->list = nx_grow(out->list, out->count, &out->capacity, sizeof(*out->list));
    out->list[out->count++] = (struct nx_live){edges[at], edges[at + 1],       piece->partitions,
                                               ends,      piece->from, ends ? piece->to : next};
}

static void visit(struct nx_liveness *out, const uint32_t *edges, size_t at, struct piece *piece,
                  const struct extent *extent, int64_t time, int64_t exec_end)
{
    if (!extent->write) {
        if (piece->used && (!piece->read || time > piece->to))
            piece->to = time;
        piece->read = true;
        return;
    }
    if (piece->used)
        finish(out, edges, at, piece, time);
    *piece = (struct piece){.from = time, .to = exec_end, .partitions = extent->partitions, .used = true};
}

void nx_liveness_open(const struct nx_trace *trace, uint32_t core, enum nx_memory memory, struct nx_liveness *out)
{
    struct extents x = read_extents(trace, core, memory);
    size_t edge_count, count;
    uint32_t *edges = find_edges(&x, &edge_count), *order;
    uint64_t *keys, visits = 0;
    struct access *accesses = list_accesses(trace, core, &x, &keys, &count);
    struct piece *pieces = nx_zalloc(edge_count + 1, sizeof(*pieces));

    *out = (struct nx_liveness){0};
    order = nx_alloc(count * sizeof(*order));
    nx_sort_order(keys, order, count);
    for (size_t i = 0; i < count && visits <= NX_LIVENESS_MAX; i++) {
        const struct access *access = &accesses[order[i]];
        const struct extent *extent = &x.list[access->extent];
        size_t first = edge_of(edges, edge_count, extent->start), last = edge_of(edges, edge_count, extent->end);

        for (size_t at = first; at < last; at++)
            visit(out, edges, at, &pieces[at], extent, (int64_t)keys[order[i]], access->end);
        visits += last - first;
    }
    for (size_t at = 0; at + 1 < edge_count; at++)
        if (pieces[at].used)
            finish(out, edges, at, &pieces[at], INT64_MAX);
    if (visits > NX_LIVENESS_MAX)
        nx_liveness_close(out);
    free(x.list);
    free(x.first);
    free(edges);
    free(order);
    free(keys);
    free(accesses);
    free(pieces);
}

void nx_liveness_close(struct nx_liveness *liveness)
{
    free(liveness->list);
    *liveness = (struct nx_liveness){0};
}
