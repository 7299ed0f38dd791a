/*
 * Which execution or DMA block had to wait for which.
 *
 *   debug information  a BIR instruction names those that it depends on, and
 *                      the DMA blocks (by ids of the blocks' own debug file)
 *   triggers           an execution starts a DMA block
 *   semaphores         who made a wait condition hold (release.c), where the
 *                      debug information does not name it
 *
 * A BIR instruction is one or more machine instructions; each of them depends
 * on each machine instruction of the BIR instructions that it names.  Where
 * code runs more than once, an execution depends on the latest one before it,
 * and on the latest run of a block that had ended when it started.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "trace/build.h"

/*
 * What files may ask for: steps along dependencies, and edges.  Real kernels take 12 and 6 an execution;
 * without a limit, a small file whose instructions all name each other takes forever.
 */
#define FREE_STEPS ((uint64_t)1 << 22)
#define STEPS_PER_ROW 64
#define EDGES_PER_ROW 32

#define IS_BLOCK ((uint32_t)1 << 31) /* of a target: number of a block, not of a BIR instruction */
#define TYPE_COUNT (NX_DEPENDS_FLOW + 1)

/* One core's dependencies as its NEFF states them, by BIR instruction. */
struct stated {
    size_t *first;     /* by number in graph->bir: into targets; count + 1 entries */
    uint32_t *targets; /* what each dependency names, or NX_NONE: nothing known, or named before */
    uint32_t *places;  /* by number in graph->bir: its first machine instruction, or NX_NONE */
    uint32_t *latest_run; /* by block: into nx_trace.runs, or NX_NONE */
};

struct finder {
    struct nx_trace *trace;
    struct stated *cores;
    uint32_t *next_place;        /* by instruction: the next one of the same BIR instruction */
    uint32_t *latest, *earliest; /* by instruction: execution, or NX_NONE */
    uint32_t *runs;              /* that have packets, by end */
    uint32_t run_count;
    size_t capacity;
    uint64_t steps; /* left */
    uint64_t most;  /* edges */
};

static uint32_t *none(size_t count)
{
    uint32_t *list = nx_alloc(count * sizeof(*list));

    for (size_t i = 0; i < count; i++)
        list[i] = NX_NONE;
    return list;
}

static uint8_t edge_type(uint32_t stated)
{
    return stated < TYPE_COUNT ? (uint8_t)stated : NX_DEPENDS_UNTYPED;
}

/* Block of each entry of the blocks' debug file, by the name that both files give it. */
static uint32_t *find_blocks(const struct nx_neff_graph *graph)
{
    struct nx_dict names = {0};
    uint32_t *blocks = none(graph->dma_bir.count), *first = nx_alloc(graph->block_count * sizeof(*first));

    for (size_t b = 0; b < graph->block_count; b++) {
        uint32_t known = names.count;

        if (graph->blocks[b].name && nx_dict_add_string(&names, graph->blocks[b].name) == known)
            first[known] = (uint32_t)b;
    }
    for (size_t i = 0; i < graph->dma_bir.count; i++) {
        uint32_t name = nx_dict_find(&names, graph->dma_bir.entries[i].name);

        if (name != NX_NO_TEXT)
            blocks[i] = first[name];
    }
    nx_dict_free(&names);
    free(first);
    return blocks;
}

/* What one dependency names: a BIR instruction, a block, or NX_NONE. */
static uint32_t find_target(const struct nx_neff_graph *graph, const uint32_t *block_of_entry, uint64_t id)
{
    const struct nx_dbg_entry *entry = nx_dbg_find(&graph->bir, id);

    if (entry)
        return (uint32_t)(entry - graph->bir.entries);
    entry = nx_dbg_find(&graph->dma_bir, id);
    if (entry && block_of_entry[entry - graph->dma_bir.entries] != NX_NONE)
        return block_of_entry[entry - graph->dma_bir.entries] | IS_BLOCK;
    return NX_NONE;
}

/*
 * A dependency may be stated twice (of data, and of synchronisation): one edge of each type.  `seen`, by
 * target and type, holds number + 1 of the last entry that named it.
 */
static void read_targets(struct stated *stated, const struct nx_neff_graph *graph)
{
    uint32_t *block_of_entry = find_blocks(graph);
    uint32_t *seen = nx_zalloc((graph->bir.count + graph->block_count) * TYPE_COUNT, sizeof(*seen));
    size_t total = 0;

    stated->first = nx_alloc((graph->bir.count + 1) * sizeof(*stated->first));
    for (size_t i = 0; i < graph->bir.count; i++)
        total += graph->bir.entries[i].dep_count;
    stated->targets = nx_alloc(total * sizeof(*stated->targets));
    total = 0;
    for (size_t i = 0; i < graph->bir.count; i++) {
        const struct nx_dbg_entry *entry = &graph->bir.entries[i];

        stated->first[i] = total;
        for (size_t d = 0; d < entry->dep_count; d++) {
            uint32_t target = find_target(graph, block_of_entry, entry->deps[d].id);

            if (target != NX_NONE) {
                size_t at = target & IS_BLOCK ? graph->bir.count + (target & ~IS_BLOCK) : target;
                uint32_t *last = &seen[at * TYPE_COUNT + edge_type(entry->deps[d].type)];

                if (*last == (uint32_t)i + 1)
                    target = NX_NONE;
                *last = (uint32_t)i + 1;
            }
            stated->targets[total++] = target;
        }
    }
    stated->first[graph->bir.count] = total;
    free(block_of_entry);
    free(seen);
}

static uint32_t bir_number(const struct nx_trace *trace, const struct nx_code_inst *inst)
{
    return (uint32_t)(inst->bir - trace->cores[inst->core].neff->bir.entries);
}

static void open_finder(struct finder *f)
{
    struct nx_trace *trace = f->trace;
    uint64_t *ends = nx_alloc(trace->run_count * sizeof(*ends));
    uint32_t *found = nx_alloc(trace->run_count * sizeof(*found));
    uint32_t *order = nx_alloc(trace->run_count * sizeof(*order));

    f->steps = FREE_STEPS + STEPS_PER_ROW * ((uint64_t)trace->exec_count + trace->run_count);
    f->most = FREE_STEPS + EDGES_PER_ROW * ((uint64_t)trace->exec_count + trace->run_count);
    f->cores = nx_zalloc(trace->core_count, sizeof(*f->cores));
    for (uint32_t c = 0; c < trace->core_count; c++) {
        const struct nx_neff_graph *graph = trace->cores[c].neff;

        if (!graph)
            continue;
        read_targets(&f->cores[c], graph);
        f->cores[c].places = none(graph->bir.count);
        f->cores[c].latest_run = none(graph->block_count);
    }
    f->next_place = none(trace->inst_count);
    for (uint32_t i = trace->inst_count; i-- > 0;) { /* backwards: lists come out in code order */
        const struct nx_code_inst *inst = &trace->insts[i];
        uint32_t *first;

        if (!inst->bir)
            continue;
        first = &f->cores[inst->core].places[bir_number(trace, inst)];
        f->next_place[i] = *first;
        *first = i;
    }
    f->latest = none(trace->inst_count);
    f->earliest = none(trace->inst_count);
    for (uint32_t e = trace->exec_count; e-- > 0;)
        if (trace->execs[e].inst != NX_NONE)
            f->earliest[trace->execs[e].inst] = e;

    for (uint32_t r = 0; r < trace->run_count; r++)
        if (trace->runs[r].packets) {
            found[f->run_count] = r;
            ends[f->run_count++] = (uint64_t)trace->runs[r].end;
        }
    nx_sort_order(ends, order, f->run_count);
    f->runs = nx_alloc(f->run_count * sizeof(*f->runs));
    for (uint32_t i = 0; i < f->run_count; i++)
        f->runs[i] = found[order[i]];
    free(ends);
    free(found);
    free(order);
}

static void close_finder(struct finder *f)
{
    for (uint32_t c = 0; c < f->trace->core_count; c++) {
        free(f->cores[c].first);
        free(f->cores[c].targets);
        free(f->cores[c].places);
        free(f->cores[c].latest_run);
    }
    free(f->cores);
    free(f->next_place);
    free(f->latest);
    free(f->earliest);
    free(f->runs);
}

static void add(struct finder *f, struct nx_dependency dependency)
{
    struct nx_trace *trace = f->trace;

    trace->dependencies =
        nx_grow(trace->dependencies, trace->dependency_count, &f->capacity, sizeof(*trace->dependencies));
    trace->dependencies[trace->dependency_count++] = dependency;
}

static bool step(struct finder *f)
{
    if (!f->steps || f->trace->dependency_count >= f->most)
        return false;
    f->steps--;
    return true;
}

/* The latest one before; where there is none, the first one after: the debug information states it all the
 * same. */
static uint32_t nearest(uint32_t latest, uint32_t earliest)
{
    return latest != NX_NONE ? latest : earliest;
}

/* What the debug information states about one execution. False: too much was stated. */
static bool add_stated(struct finder *f, uint32_t exec)
{
    const struct nx_code_inst *inst = &f->trace->insts[f->trace->execs[exec].inst];
    const struct stated *stated = &f->cores[inst->core];
    const size_t first = stated->first[bir_number(f->trace, inst)];

    for (size_t d = 0; d < inst->bir->dep_count; d++) {
        struct nx_dependency edge = {.out = exec, .type = edge_type(inst->bir->deps[d].type)};
        uint32_t target = stated->targets[first + d];

        if (!step(f))
            return false;
        if (target == NX_NONE)
            continue;
        if (target & IS_BLOCK) {
            edge.in = stated->latest_run[target & ~IS_BLOCK];
            edge.in_is_run = true;
            if (edge.in != NX_NONE)
                add(f, edge);
            continue;
        }
        for (uint32_t i = stated->places[target]; i != NX_NONE; i = f->next_place[i]) {
            if (!step(f))
                return false;
            edge.in = nearest(f->latest[i], f->earliest[i]);
            if (edge.in != NX_NONE) /* else not executed inside the window */
                add(f, edge);
        }
    }
    return true;
}

/*
 * Who let an execution go, unless one of its edges (from `first` on) says so already.  Where the debug
 * information states anything about the execution, it states all instructions that it waited for.
 */
static void add_release(struct finder *f, size_t first, const struct nx_release *release)
{
    const struct nx_trace *trace = f->trace;

    for (size_t i = first; i < trace->dependency_count; i++) {
        const struct nx_dependency *d = &trace->dependencies[i];

        if (d->in == release->by && d->in_is_run == release->by_run)
            return;
        if (d->type != NX_DEPENDS_SEMAPHORE && !release->by_run)
            return;
    }
    add(f, (struct nx_dependency){.in = release->by,
                                  .out = release->exec,
                                  .type = NX_DEPENDS_SEMAPHORE,
                                  .in_is_run = release->by_run});
}

static void add_triggers(struct finder *f)
{
    const struct nx_trace *trace = f->trace;

    for (uint32_t r = 0; r < trace->run_count; r++)
        if (trace->runs[r].trigger != NX_NONE && trace->runs[r].packets)
            add(f,
                (struct nx_dependency){
                    .in = trace->runs[r].trigger, .out = r, .type = NX_DEPENDS_TRIGGER, .out_is_run = true});
}

void nx_build_dependencies(struct nx_trace *trace)
{
    struct finder f = {.trace = trace};
    size_t release_count, at = 0;
    struct nx_release *releases = nx_build_releases(trace, &release_count);
    uint32_t ended = 0; /* runs of f.runs */

    open_finder(&f);
    for (uint32_t e = 0; e < trace->exec_count; e++) {
        const struct nx_exec *exec = &trace->execs[e];
        size_t first = trace->dependency_count;

        for (; ended < f.run_count && trace->runs[f.runs[ended]].end <= exec->start; ended++) {
            const struct nx_block_run *run = &trace->runs[f.runs[ended]];

            f.cores[run->core].latest_run[run->block] = f.runs[ended];
        }
        if (exec->inst != NX_NONE && trace->insts[exec->inst].bir && !add_stated(&f, e))
            trace->dependencies_cut++;
        for (; at < release_count && releases[at].exec == e; at++)
            add_release(&f, first, &releases[at]);
        if (exec->inst != NX_NONE)
            f.latest[exec->inst] = e;
    }
    add_triggers(&f);
    close_finder(&f);
    free(releases);
}
