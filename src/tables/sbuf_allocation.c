/*
 * SbufAllocation: which bytes of SBUF hold a value that is still needed, when,
 * and who wrote it: an instruction, or the static DMA block that brought it.
 * Dynamic DMA is not in it: when it reads and writes is not known without DGE
 * notifications.
 */
#include "base/memory.h"
#include "tables/liveness.h"
#include "tables/rows.h"
#include "tables/static_dma.h"
#include "tables/table.h"

static const uint8_t sampled[] = {0, 32, 64, 96};

struct row {
    int64_t from, to;
    uint32_t start, end;
    uint32_t writer, desc; /* as in nx_live */
    uint8_t core, partition;
    bool by_run;
};

struct state {
    struct nx_rows rows; /* by time, core and partition */
    const struct nx_trace *trace;
};

static void add_lives(struct state *state, uint8_t core, uint8_t partition)
{
    struct nx_liveness live;

    nx_liveness_open_partition(state->trace, core, partition, &live);
    for (size_t i = 0; i < live.count; i++) {
        const struct nx_live *l = &live.list[i];

        *(struct row *)nx_rows_add(&state->rows, sizeof(struct row)) = (struct row){
            l->from, l->to, l->start, l->end, l->writer, l->desc, core, partition, l->by_run};
    }
    nx_liveness_close(&live);
}

static void *open_table(const struct nx_profile *profile)
{
    struct state *state = nx_zalloc(1, sizeof(*state));

    state->trace = profile->trace;
    for (uint32_t c = 0; c < profile->trace->core_count; c++)
        for (size_t p = 0; p < sizeof(sampled); p++)
            add_lives(state, (uint8_t)c, sampled[p]);
    nx_rows_sort(&state->rows, sizeof(struct row), offsetof(struct row, from));
    return state;
}

/* Of the instruction that wrote the value, or that triggered the DMA. */
static void fill_origin(const struct nx_trace *trace, uint32_t exec, struct nx_chunk *chunk, uint32_t i)
{
    const struct nx_code_inst *inst = exec == NX_NONE ? NULL : nx_exec_inst(trace, &trace->execs[exec]);
    const struct nx_origin *origin = inst ? nx_inst_origin(trace, inst) : NULL;

    if (origin)
        nx_put_dict(chunk, NX_SbufAllocation_hlo_name, i, origin->hlo_name);
}

static void fill_instruction(const struct nx_trace *trace, const struct row *row, struct nx_chunk *chunk, uint32_t i)
{
    const struct nx_code_inst *inst = nx_exec_inst(trace, &trace->execs[row->writer]);

    nx_put_text(chunk, NX_SbufAllocation_op_source_type, i, "instruction");
    nx_put_dict(chunk, NX_SbufAllocation_opcode, i, inst->opcode_text);
    nx_put_dict(chunk, NX_SbufAllocation_operands, i, inst->operands);
}

static void fill_dma(const struct nx_trace *trace, const struct row *row, struct nx_chunk *chunk, uint32_t i)
{
    const struct nx_neff_graph *graph = trace->cores[row->core].neff;
    const struct nx_neff_block *block = &graph->blocks[trace->runs[row->writer].block];
    const char *tensor = block->descs[row->desc].from.var;

    nx_put_text(chunk, NX_SbufAllocation_op_source_type, i, "dma");
    nx_put_text(chunk, NX_SbufAllocation_queue_name, i, graph->queues[block->queue].display_name);
    nx_put_i64(chunk, NX_SbufAllocation_block_id, i, block->id);
    if (!nx_var_is_sbuf(graph, tensor))
        nx_put_text(chunk, NX_SbufAllocation_tensor_name, i, tensor);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct row *row = nx_rows_at(state, first + i, sizeof(*row));

        nx_put_i64(chunk, NX_SbufAllocation_start_ts, i, nx_ns(row->from));
        nx_put_i64(chunk, NX_SbufAllocation_end_ts, i, nx_ns(row->to));
        nx_put_i64(chunk, NX_SbufAllocation_start_address, i, row->start);
        nx_put_i64(chunk, NX_SbufAllocation_end_address, i, (int64_t)row->end - 1);
        nx_put_i64(chunk, NX_SbufAllocation_partition, i, row->partition);
        nx_put_i64(chunk, NX_SbufAllocation_pcore_idx, i, row->core);
        if (row->by_run)
            fill_dma(state->trace, row, chunk, i);
        else
            fill_instruction(state->trace, row, chunk, i);
        fill_origin(state->trace, row->by_run ? state->trace->runs[row->writer].trigger : row->writer, chunk, i);
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct state *state = opaque;

    switch (column) {
    case NX_SbufAllocation_opcode: return &state->trace->opcodes;
    case NX_SbufAllocation_operands: return &state->trace->operands;
    case NX_SbufAllocation_hlo_name: return &state->trace->hlo_names;
    default: return NULL;
    }
}

const struct nx_table nx_table_SbufAllocation = {"SbufAllocation", open_table, nx_rows_count,
                                                 fill,             dictionary, nx_rows_close};
