/*
 * Instruction: one row for each execution of an instruction in the window.
 *
 * What belongs to the instruction and not to its execution (names, byte
 * counts, FLOPs) is worked out once for each place in the code.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tables/flops.h"
#include "tables/static_dma.h"
#include "tables/table.h"

/* Per nx_code_inst: the texts that only this table needs. */
struct place {
    uint32_t bir_id, penguin_id, activation, type; /* dictionary numbers, or NX_NO_TEXT */
};

struct state {
    const struct nx_trace *trace;
    struct place *places;
    struct nx_static_dmas dmas;
    uint32_t *run_of_exec; /* by execution: the run that it triggered, or NX_NONE; NULL if there are no runs */
    struct nx_dict engines, tracks, bir_ids, penguin_ids, activations, types;
    uint32_t matrix_track, no_bir;
};

/* "sg0000:435": the subgraph (bits 63:48 of the id), and the number within it. */
static uint32_t id_text(struct nx_dict *dict, uint64_t id)
{
    char text[40];

    snprintf(text, sizeof(text), "sg%04x:%llu", (unsigned)(id >> 48),
             (unsigned long long)(id & 0xffffffffffffu));
    return nx_dict_add_string(dict, text);
}

static uint32_t type_text(struct nx_dict *dict, uint32_t kind)
{
    switch (kind) {
    case NX_DBG_REGULAR: return nx_dict_add_string(dict, "REGULAR");
    case NX_DBG_TRANSPOSE: return nx_dict_add_string(dict, "TRANSPOSE");
    default: return NX_NO_TEXT;
    }
}

static void open_place(struct state *state, uint32_t number)
{
    const struct nx_code_inst *inst = &state->trace->insts[number];
    struct place *place = &state->places[number];
    char buffer[16];

    *place = (struct place){NX_NO_TEXT, NX_NO_TEXT, NX_NO_TEXT, NX_NO_TEXT};
    place->bir_id = inst->bir ? id_text(&state->bir_ids, inst->bir->id) : state->no_bir;
    if (inst->bir && inst->bir->parent_count)
        place->penguin_id = id_text(&state->penguin_ids, inst->bir->parents[0]);
    if (inst->bir)
        place->type = type_text(&state->types, inst->bir->kind);
    if (inst->opcode == NX_OP_ACTIVATE)
        place->activation =
            nx_dict_add_string(&state->activations, nx_isa_activation_name(inst->activation, buffer));
}

static void *open_table(const struct nx_profile *profile)
{
    const struct nx_trace *trace = profile->trace;
    struct state *state = nx_zalloc(1, sizeof(*state));

    state->trace = trace;
    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        nx_dict_add_string(&state->engines, nx_engine_title((enum nx_engine)e));
        nx_dict_add_string(&state->tracks, nx_engine_title((enum nx_engine)e));
    }
    state->matrix_track = nx_dict_add_string(&state->tracks, "TensorMatrix");
    state->no_bir = nx_dict_add_string(&state->bir_ids, "");
    state->places = nx_alloc(trace->inst_count * sizeof(*state->places));
    for (uint32_t i = 0; i < trace->inst_count; i++)
        open_place(state, i);
    nx_static_dmas_open(trace, &state->dmas);
    if (trace->run_count) {
        state->run_of_exec = nx_alloc(trace->exec_count * sizeof(*state->run_of_exec));
        for (uint32_t i = 0; i < trace->exec_count; i++)
            state->run_of_exec[i] = NX_NONE;
        for (uint32_t r = 0; r < trace->run_count; r++)
            if (trace->runs[r].trigger != NX_NONE && trace->runs[r].packets)
                state->run_of_exec[trace->runs[r].trigger] = r;
    }
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->trace->exec_count;
}

static void put_nonzero(struct nx_chunk *chunk, unsigned column, uint32_t row, uint64_t value)
{
    if (value)
        nx_put_i64(chunk, column, row, (int64_t)value);
}

static void fill_bytes(const struct state *state, const struct nx_code_inst *inst, struct nx_chunk *chunk,
                       uint32_t i)
{
    const struct nx_static_dma *dma =
        nx_static_dmas_of(&state->dmas, (uint32_t)(inst - state->trace->insts));
    struct nx_inst_bytes bytes = inst->bytes;

    if (dma) {
        bytes = dma->bytes;
        put_nonzero(chunk, NX_Instruction_spill_save_bytes, i, dma->spill_save);
        put_nonzero(chunk, NX_Instruction_spill_reload_bytes, i, dma->spill_reload);
        put_nonzero(chunk, NX_Instruction_input_queue_bytes, i, dma->input_queue);
        put_nonzero(chunk, NX_Instruction_output_queue_bytes, i, dma->output_queue);
        put_nonzero(chunk, NX_Instruction_weight_queue_bytes, i, dma->weight_queue);
    }
    put_nonzero(chunk, NX_Instruction_hbm_read_bytes, i, bytes.hbm_read);
    put_nonzero(chunk, NX_Instruction_hbm_write_bytes, i, bytes.hbm_write);
    put_nonzero(chunk, NX_Instruction_sbuf_read_bytes, i, bytes.sbuf_read);
    put_nonzero(chunk, NX_Instruction_sbuf_write_bytes, i, bytes.sbuf_write);
    put_nonzero(chunk, NX_Instruction_psum_read_bytes, i, bytes.psum_read);
    put_nonzero(chunk, NX_Instruction_psum_write_bytes, i, bytes.psum_write);
    if (bytes.psum_read && bytes.sbuf_write)
        nx_put_i64(chunk, NX_Instruction_psum_read_sbuf_write_bytes, i, (int64_t)bytes.sbuf_write);
}

static void fill_flops(const struct nx_code_inst *inst, struct nx_chunk *chunk, uint32_t i)
{
    struct nx_flops flops = nx_flops_of(inst);

    if (inst->opcode != NX_OP_MATMUL)
        return;
    nx_put_i64(chunk, NX_Instruction_tensor_elements, i, (int64_t)inst->macs);
    nx_put_i64(chunk, NX_Instruction_raw_flops, i, (int64_t)flops.raw);
    nx_put_i64(chunk, NX_Instruction_tensor_elements_transpose, i, flops.is_transpose ? (int64_t)inst->macs : 0);
    nx_put_i64(chunk, NX_Instruction_flops_transpose, i, flops.is_transpose ? (int64_t)flops.raw : 0);
    if (!flops.adjusted_known)
        return;
    nx_put_i64(chunk, NX_Instruction_adjusted_flops, i, (int64_t)flops.adjusted);
    nx_put_i64(chunk, NX_Instruction_adjusted_flops_transpose, i,
               flops.is_transpose ? (int64_t)flops.adjusted : 0);
}

static void fill_origin(const struct nx_origin *origin, struct nx_chunk *chunk, uint32_t i)
{
    nx_put_dict(chunk, NX_Instruction_bir_debug_info_source_location, i, origin->line);
    nx_put_dict(chunk, NX_Instruction_nki_source_location, i, origin->kernel_line);
    nx_put_dict(chunk, NX_Instruction_kernel_instruction_name, i, origin->kernel_name);
    nx_put_dict(chunk, NX_Instruction_hlo_name, i, origin->hlo_name);
    nx_put_dict(chunk, NX_Instruction_hlo_attrs, i, origin->hlo_attrs);
    nx_put_dict(chunk, NX_Instruction_layer, i, origin->layer);
    nx_put_dict(chunk, NX_Instruction_stack_frame_ids, i, origin->stack_frames);
    if (origin->hlo)
        nx_put_i64(chunk, NX_Instruction_raw_hlo_id, i, (int64_t)origin->hlo->id);
    if (origin->framework)
        nx_put_i64(chunk, NX_Instruction_raw_framework_id, i, (int64_t)origin->framework->id);
}

static void fill_code(const struct state *state, const struct nx_code_inst *inst, struct nx_chunk *chunk,
                      uint32_t i)
{
    const struct place *place = &state->places[inst - state->trace->insts];

    nx_put_dict(chunk, NX_Instruction_opcode, i, inst->opcode_text);
    nx_put_dict(chunk, NX_Instruction_operands, i, inst->operands);
    nx_put_dict(chunk, NX_Instruction_compiler_opcode, i, inst->compiler_opcode_text);
    nx_put_dict(chunk, NX_Instruction_compiler_operands, i, inst->compiler_operands);
    nx_put_i64(chunk, NX_Instruction_pc, i, inst->index);
    if (inst->compiler_pc != NX_NONE)
        nx_put_i64(chunk, NX_Instruction_compiler_pc, i, inst->compiler_pc);
    nx_put_dict(chunk, NX_Instruction_bir_id, i, place->bir_id);
    nx_put_dict(chunk, NX_Instruction_penguin_id, i, place->penguin_id);
    nx_put_dict(chunk, NX_Instruction_bir_instruction_name, i, inst->bir_name);
    nx_put_dict(chunk, NX_Instruction_tensor_instruction_type, i, place->type);
    nx_put_dict(chunk, NX_Instruction_scalar_activation_fn, i, place->activation);
    if (inst->bir) {
        nx_put_i64(chunk, NX_Instruction_raw_bir_id, i, (int64_t)inst->bir->id);
        if (inst->bir->parent_count)
            nx_put_i64(chunk, NX_Instruction_raw_penguin_id, i, (int64_t)inst->bir->parents[0]);
        fill_origin(nx_inst_origin(state->trace, inst), chunk, i);
    }
    fill_bytes(state, inst, chunk, i);
    fill_flops(inst, chunk, i);
}

/* Code that ran but is not in the trace: its place is known, what it was is not. */
static void fill_unknown_code(const struct state *state, const struct nx_exec *exec, struct nx_chunk *chunk,
                              uint32_t i)
{
    const struct nx_trace_core *core = &state->trace->cores[exec->core];
    uint32_t base = (uint32_t)(core->ntff->code[exec->engine].address >> 6);

    nx_put_dict(chunk, NX_Instruction_opcode, i, state->trace->unknown_opcode);
    nx_put_dict(chunk, NX_Instruction_operands, i, state->trace->unknown_operands);
    nx_put_i64(chunk, NX_Instruction_pc, i, (exec->pc - base) & 0xfffff);
    nx_put_dict(chunk, NX_Instruction_bir_id, i, state->no_bir);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;
    const struct nx_trace *trace = state->trace;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_exec *exec = &trace->execs[first + i];
        const struct nx_code_inst *inst = nx_exec_inst(trace, exec);
        int64_t wait = nx_trace_wait_ns(trace, exec);

        nx_put_i64(chunk, NX_Instruction_id, i, (int64_t)(first + i + 1));
        nx_put_i64(chunk, NX_Instruction_start_ts, i, nx_ns(exec->start));
        nx_put_i64(chunk, NX_Instruction_end_ts, i, nx_ns(exec->start) + nx_ns(exec->end - exec->start));
        nx_put_i64(chunk, NX_Instruction_duration_ns, i, nx_ns(exec->end - exec->start));
        nx_put_dict(chunk, NX_Instruction_engine, i, exec->engine);
        nx_put_dict(chunk, NX_Instruction_timeline_track, i,
                    inst && inst->opcode == NX_OP_MATMUL ? state->matrix_track : exec->engine);
        nx_put_i64(chunk, NX_Instruction_pcore_idx, i, exec->core);
        nx_put_i64(chunk, NX_Instruction_crc_in, i, exec->crc_in);
        nx_put_i64(chunk, NX_Instruction_crc_out, i, exec->crc_out);
        if (wait >= 0)
            nx_put_i64(chunk, NX_Instruction_evt_wait_time_ns, i, wait);
        if (inst)
            fill_code(state, inst, chunk, i);
        else
            fill_unknown_code(state, exec, chunk, i);
        if (state->run_of_exec && state->run_of_exec[first + i] != NX_NONE) {
            const struct nx_block_run *run = &trace->runs[state->run_of_exec[first + i]];

            nx_put_i64(chunk, NX_Instruction_dma_trigger_start_ts, i, nx_ns(run->start));
            nx_put_i64(chunk, NX_Instruction_dma_trigger_end_ts, i, nx_ns(run->end));
            nx_put_i64(chunk, NX_Instruction_dma_wait_time_ns, i, nx_ns(run->start - exec->end));
        }
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct state *state = opaque;

    switch (column) {
    case NX_Instruction_engine: return &state->engines;
    case NX_Instruction_timeline_track: return &state->tracks;
    case NX_Instruction_opcode:
    case NX_Instruction_compiler_opcode: return &state->trace->opcodes;
    case NX_Instruction_operands:
    case NX_Instruction_compiler_operands: return &state->trace->operands;
    case NX_Instruction_bir_id: return &state->bir_ids;
    case NX_Instruction_penguin_id: return &state->penguin_ids;
    case NX_Instruction_bir_instruction_name: return &state->trace->bir_names;
    case NX_Instruction_bir_debug_info_source_location:
    case NX_Instruction_nki_source_location: return &state->trace->lines;
    case NX_Instruction_kernel_instruction_name: return &state->trace->kernel_names;
    case NX_Instruction_hlo_name: return &state->trace->hlo_names;
    case NX_Instruction_hlo_attrs: return &state->trace->hlo_attrs;
    case NX_Instruction_layer: return &state->trace->layers;
    case NX_Instruction_stack_frame_ids: return &state->trace->stack_frames;
    case NX_Instruction_tensor_instruction_type: return &state->types;
    case NX_Instruction_scalar_activation_fn: return &state->activations;
    default: return NULL;
    }
}

static void close_table(void *opaque)
{
    struct state *state = opaque;

    nx_dict_free(&state->engines);
    nx_dict_free(&state->tracks);
    nx_dict_free(&state->bir_ids);
    nx_dict_free(&state->penguin_ids);
    nx_dict_free(&state->activations);
    nx_dict_free(&state->types);
    free(state->places);
    nx_static_dmas_close(&state->dmas);
    free(state->run_of_exec);
    free(state);
}

const struct nx_table nx_table_Instruction = {"Instruction", open_table, count_rows, fill, dictionary, close_table};
