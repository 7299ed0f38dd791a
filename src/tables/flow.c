/*
 * Flow: dependencies between executions, from the debug information of their
 * BIR instructions: what had to come first (in) and what waited for it (out).
 *
 * A BIR instruction is one or more machine instructions; each of them depends
 * on each machine instruction of the BIR instructions that it names.  Where
 * code runs more than once, an execution depends on the latest one before it.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "tables/table.h"

struct edge {
    uint32_t in, out; /* executions */
    uint32_t type;    /* number in the dictionary, or NX_NO_TEXT */
};

/* The machine instructions of a BIR instruction, as a list through `next`. */
struct places {
    uint32_t *first; /* by number of the BIR entry of a core: into insts, or NX_NONE */
    uint32_t *next;  /* by inst */
};

/* Kinds that are told apart: four known ones, and all others. */
#define TYPE_COUNT 6

struct state {
    const struct nx_trace *trace;
    struct edge *edges;
    size_t count, capacity;
    struct nx_dict types, tables;
};

static uint32_t bir_number(const struct nx_trace *trace, uint32_t core, const struct nx_dbg_entry *entry)
{
    return (uint32_t)(entry - trace->cores[core].neff->bir.entries);
}

static struct places find_places(const struct nx_trace *trace, uint32_t core)
{
    const struct nx_neff_graph *graph = trace->cores[core].neff;
    struct places places = {.first = nx_alloc(graph->bir.count * sizeof(*places.first)),
                            .next = nx_alloc(trace->inst_count * sizeof(*places.next))};

    for (size_t i = 0; i < graph->bir.count; i++)
        places.first[i] = NX_NONE;
    for (uint32_t i = trace->inst_count; i-- > 0;) { /* backwards: lists come out in code order */
        const struct nx_code_inst *inst = &trace->insts[i];

        if (inst->core != core || !inst->bir)
            continue;
        places.next[i] = places.first[bir_number(trace, core, inst->bir)];
        places.first[bir_number(trace, core, inst->bir)] = i;
    }
    return places;
}

static uint32_t type_text(struct state *state, uint32_t type)
{
    static const char *const names[] = {NULL, "ORDERED", "ANTI_DEPENDENCE", "OUTPUT_DEPENDENCE",
                                        "FLOW_DEPENDENCE"};

    return type < sizeof(names) / sizeof(names[0]) && names[type] ? nx_dict_add_string(&state->types, names[type])
                                                                  : NX_NO_TEXT;
}

/*
 * An instruction may name the same one more than once (as a scheduling and as a semaphore dependency): one edge.
 * `seen`, by instruction and kind, holds the last execution that got an edge from it.
 */
static void add_edges(struct state *state, uint32_t core, const struct places *places, uint32_t exec,
                      const uint32_t *latest, const uint32_t *earliest, uint32_t *seen)
{
    const struct nx_trace *trace = state->trace;
    const struct nx_neff_graph *graph = trace->cores[core].neff;
    const struct nx_dbg_entry *bir = trace->insts[trace->execs[exec].inst].bir;

    for (size_t d = 0; d < bir->dep_count; d++) {
        const struct nx_dbg_entry *dep = nx_dbg_find(&graph->bir, bir->deps[d].id);
        uint32_t type = dep ? type_text(state, bir->deps[d].type) : NX_NO_TEXT;
        uint32_t kind = bir->deps[d].type < TYPE_COUNT ? bir->deps[d].type : TYPE_COUNT - 1;

        for (uint32_t i = dep ? places->first[dep - graph->bir.entries] : NX_NONE; i != NX_NONE;
             i = places->next[i]) {
            uint32_t in = latest[i] != NX_NONE ? latest[i] : earliest[i];

            if (in == NX_NONE || seen[(size_t)i * TYPE_COUNT + kind] == exec + 1)
                continue; /* not executed inside the window, or an edge already */
            seen[(size_t)i * TYPE_COUNT + kind] = exec + 1;
            state->edges = nx_grow(state->edges, state->count, &state->capacity, sizeof(*state->edges));
            state->edges[state->count++] = (struct edge){in, exec, type};
        }
    }
}

static void add_core(struct state *state, uint32_t core)
{
    const struct nx_trace *trace = state->trace;
    struct places places = find_places(trace, core);
    uint32_t *latest = nx_alloc(trace->inst_count * sizeof(*latest));
    uint32_t *earliest = nx_alloc(trace->inst_count * sizeof(*earliest));
    uint32_t *seen = nx_zalloc((size_t)trace->inst_count * TYPE_COUNT, sizeof(*seen));

    for (uint32_t i = 0; i < trace->inst_count; i++)
        latest[i] = earliest[i] = NX_NONE;
    for (uint32_t e = trace->exec_count; e-- > 0;)
        if (trace->execs[e].inst != NX_NONE)
            earliest[trace->execs[e].inst] = e;
    for (uint32_t e = 0; e < trace->exec_count; e++) {
        const struct nx_exec *exec = &trace->execs[e];

        if (exec->core != core || exec->inst == NX_NONE || !trace->insts[exec->inst].bir)
            continue;
        add_edges(state, core, &places, e, latest, earliest, seen);
        latest[exec->inst] = e;
    }
    free(places.first);
    free(places.next);
    free(latest);
    free(earliest);
    free(seen);
}

static void *open_table(const struct nx_profile *profile)
{
    struct state *state = nx_zalloc(1, sizeof(*state));

    state->trace = profile->trace;
    nx_dict_add_string(&state->tables, "Instruction");
    for (uint32_t c = 0; c < profile->trace->core_count; c++)
        if (profile->trace->cores[c].neff)
            add_core(state, c);
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->count;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct edge *edge = &state->edges[first + i];
        const struct nx_exec *in = &state->trace->execs[edge->in], *out = &state->trace->execs[edge->out];

        nx_put_i64(chunk, NX_Flow_in_id, i, (int64_t)edge->in + 1);
        nx_put_i64(chunk, NX_Flow_out_id, i, (int64_t)edge->out + 1);
        nx_put_dict(chunk, NX_Flow_in_table, i, 0);
        nx_put_dict(chunk, NX_Flow_out_table, i, 0);
        nx_put_dict(chunk, NX_Flow_dependency_type, i, edge->type);
        nx_put_i64(chunk, NX_Flow_gap_time, i, nx_ns(out->start - in->end));
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct state *state = opaque;

    switch (column) {
    case NX_Flow_in_table:
    case NX_Flow_out_table: return &state->tables;
    case NX_Flow_dependency_type: return &state->types;
    default: return NULL;
    }
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    free(state->edges);
    nx_dict_free(&state->types);
    nx_dict_free(&state->tables);
    free(state);
}

const struct nx_table nx_table_Flow = {"Flow", open_table, count_rows, fill, dictionary, close_table};
