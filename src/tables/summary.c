/*
 * Summary: one row of figures over the whole profile, all cores together.
 *
 * Definitions and what they were checked against: docs/schema.md.  Counts and
 * sums stay in integers (picoseconds, bytes, FLOPs) until the last step, and
 * the last step divides in the closed tool's order: its printed digits depend
 * on it.
 */
#include "tables/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/active.h"
#include "tables/flops.h"
#include "tables/static_dma.h"

enum dma_class { STATIC, SOFTWARE, HARDWARE, DMA_CLASS_COUNT };

/* What one pass over the rows adds up. */
struct totals {
    struct nx_inst_bytes bytes;
    uint64_t spill_save, spill_reload, input_queue, output_queue, weight_queue;
    uint64_t flops, transpose_flops, adjusted_flops, adjusted_transpose_flops;
    bool adjusted_known;
    uint64_t matmuls, activates, psum_to_sbuf, psum_to_sbuf_bytes;
    int64_t activate_ps;
    uint64_t instructions[NX_ENGINE_COUNT];
    int64_t instruction_ps[NX_ENGINE_COUNT], active_ps[NX_ENGINE_COUNT];
    int64_t exec_first, exec_last; /* non-setup instructions and packets */
    bool exec_any;
    uint64_t packets[DMA_CLASS_COUNT], packet_bytes[DMA_CLASS_COUNT];
    int64_t packet_ps;
    int64_t dma_active_ps[DMA_CLASS_COUNT], all_dma_active_ps;
    int64_t total_active_ps;
    uint64_t transfers, transfer_bytes;
    int64_t transfer_ps;
};

/* Opcodes that set up and tear down: total_exec_time leaves them out (public schema reference). */
static bool is_setup(const struct nx_trace *trace, const struct nx_exec *exec)
{
    const struct nx_code_inst *inst = nx_exec_inst(trace, exec);

    switch (inst ? inst->opcode : NX_OP_NOP) {
    case NX_OP_NOP:
    case NX_OP_SET_ORDERING_MODE:
    case NX_OP_EVENT_SEMAPHORE:
    case NX_OP_EVENT_SEMAPHORE_RANGE_CLEAR:
    case NX_OP_NOTIFY:
    case NX_OP_COMPARE_BRANCH:
    case NX_OP_DRAIN:
    case NX_OP_WRITE:
    case NX_OP_TENSOR_LOAD:
        return true;
    default:
        return false;
    }
}

static void extend_exec(struct totals *t, int64_t start, int64_t end)
{
    if (!t->exec_any || start < t->exec_first)
        t->exec_first = start;
    if (!t->exec_any || end > t->exec_last)
        t->exec_last = end;
    t->exec_any = true;
}

static void add_bytes(struct nx_inst_bytes *sum, const struct nx_inst_bytes *bytes)
{
    sum->hbm_read += bytes->hbm_read;
    sum->hbm_write += bytes->hbm_write;
    sum->sbuf_read += bytes->sbuf_read;
    sum->sbuf_write += bytes->sbuf_write;
    sum->psum_read += bytes->psum_read;
    sum->psum_write += bytes->psum_write;
}

static void add_static_dma(struct totals *t, const struct nx_static_dma *dma)
{
    add_bytes(&t->bytes, &dma->bytes);
    t->spill_save += dma->spill_save;
    t->spill_reload += dma->spill_reload;
    t->input_queue += dma->input_queue;
    t->output_queue += dma->output_queue;
    t->weight_queue += dma->weight_queue;
}

static void add_matmul(struct totals *t, const struct nx_code_inst *inst)
{
    struct nx_flops flops = nx_flops_of(inst);

    t->matmuls++;
    t->flops += flops.raw;
    t->adjusted_flops += flops.adjusted;
    t->adjusted_known &= flops.adjusted_known;
    if (flops.is_transpose) {
        t->transpose_flops += flops.raw;
        t->adjusted_transpose_flops += flops.adjusted;
    }
}

static void add_execs(const struct nx_trace *trace, struct totals *t)
{
    struct nx_static_dmas dmas;

    nx_static_dmas_open(trace, &dmas);
    for (uint32_t i = 0; i < trace->exec_count; i++) {
        const struct nx_exec *e = &trace->execs[i];
        const struct nx_code_inst *inst = nx_exec_inst(trace, e);

        t->instructions[e->engine]++;
        if (nx_exec_is_active(trace, e))
            t->instruction_ps[e->engine] += e->end - e->start;
        if (!is_setup(trace, e))
            extend_exec(t, e->start, e->end);
        if (!inst)
            continue;
        if (nx_static_dmas_of(&dmas, e->inst))
            add_static_dma(t, nx_static_dmas_of(&dmas, e->inst));
        else
            add_bytes(&t->bytes, &inst->bytes);
        if (inst->bytes.psum_read && inst->bytes.sbuf_write) {
            t->psum_to_sbuf++;
            t->psum_to_sbuf_bytes += inst->bytes.sbuf_write;
        }
        if (inst->opcode == NX_OP_MATMUL)
            add_matmul(t, inst);
        if (inst->opcode == NX_OP_ACTIVATE) {
            t->activates++;
            t->activate_ps += e->end - e->start;
        }
    }
    nx_static_dmas_close(&dmas);
}

static enum dma_class class_of(enum nx_queue_type type)
{
    return type == NX_QUEUE_HARDWARE_DYNAMIC ? HARDWARE : type == NX_QUEUE_SOFTWARE_DYNAMIC ? SOFTWARE : STATIC;
}

/* The time in which any of the intervals added so far was running; they must come by start. */
struct running {
    int64_t end, length;
    bool any;
};

static void run_on(struct running *running, int64_t start, int64_t end)
{
    if (!running->any || start > running->end)
        running->end = start;
    running->any = true;
    if (end > running->end) {
        running->length += end - running->end;
        running->end = end;
    }
}

/* The packets' intervals, those that overlap joined. */
static struct nx_interval *packet_intervals(const struct nx_trace *trace, size_t *count)
{
    struct nx_interval *list = NULL;
    size_t capacity = 0;

    *count = 0;
    for (uint32_t i = 0; i < trace->packet_count; i++) {
        const struct nx_packet *p = &trace->packets[i];

        if (*count && p->start <= list[*count - 1].end) {
            if (p->end > list[*count - 1].end)
                list[*count - 1].end = p->end;
            continue;
        }
        list = nx_grow(list, *count, &capacity, sizeof(*list));
        list[(*count)++] = (struct nx_interval){p->start, p->end};
    }
    return list;
}

static void add_packets(const struct nx_trace *trace, struct totals *t)
{
    struct running classes[DMA_CLASS_COUNT] = {0};

    for (uint32_t i = 0; i < trace->packet_count; i++) {
        const struct nx_packet *p = &trace->packets[i];
        enum dma_class class = class_of(trace->rings[p->ring].type);

        t->packets[class]++;
        t->packet_bytes[class] += p->bytes;
        t->packet_ps += p->end - p->start;
        extend_exec(t, p->start, p->end);
        run_on(&classes[class], p->start, p->end);
    }
    for (int class = STATIC; class < DMA_CLASS_COUNT; class++)
        t->dma_active_ps[class] = classes[class].length;
    for (uint32_t i = 0; i < trace->run_count; i++) {
        const struct nx_block_run *run = &trace->runs[i];

        if (!run->packets)
            continue;
        t->transfers++;
        t->transfer_bytes += run->bytes;
        t->transfer_ps += run->end - run->start;
    }
}

static void add_unions(const struct nx_trace *trace, struct totals *t)
{
    size_t count, total;
    struct nx_interval *all;

    all = packet_intervals(trace, &total);
    t->all_dma_active_ps = nx_interval_length(all, total);
    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        struct nx_interval *list = nx_active_intervals(trace, NX_ALL_CORES, (enum nx_engine)e, &count);

        t->active_ps[e] = nx_interval_length(list, count);
        all = nx_resize(all, total + count, sizeof(*all));
        if (count)
            memcpy(all + total, list, count * sizeof(*all));
        total += count;
        free(list);
    }
    total = nx_interval_merge(all, total);
    t->total_active_ps = nx_interval_length(all, total);
    free(all);
}

/* ------------------------------------------------------------------ writing the values */

static void put_integer(struct nx_summary *s, unsigned column, uint64_t value)
{
    s->value[column].given = true;
    s->value[column].integer = (int64_t)value;
}

static void put_number(struct nx_summary *s, unsigned column, double value)
{
    if (!isfinite(value))
        return;
    s->value[column].given = true;
    s->value[column].number = value;
}

static void put_seconds(struct nx_summary *s, unsigned column, int64_t ps)
{
    put_number(s, column, (double)ps / 1e12);
}

/* A share of the whole; 0 of nothing is 0, as the closed tool prints it. */
static void put_share(struct nx_summary *s, unsigned column, double part, double whole)
{
    if (whole > 0)
        put_number(s, column, part / whole);
    else if (part == 0)
        put_number(s, column, 0);
}

static void put_time(struct nx_summary *s, const struct nx_trace *trace, const struct totals *t)
{
    double total = (double)trace->window_ps;

    put_seconds(s, NX_Summary_total_time, trace->window_ps);
    put_seconds(s, NX_Summary_total_active_time, t->total_active_ps);
    put_share(s, NX_Summary_total_active_time_percent, (double)t->total_active_ps, total);
    if (t->exec_any)
        put_seconds(s, NX_Summary_total_exec_time, t->exec_last - t->exec_first);
    if (trace->device) {
        put_integer(s, NX_Summary_neuroncore_cycle_count,
                    (uint64_t)(total / 1e3 * trace->device->core_clock_ghz));
        put_integer(s, NX_Summary_dma_active_cycles,
                    (uint64_t)((double)t->all_dma_active_ps / 1e3 * trace->device->core_clock_ghz));
    }
}

static void put_engines(struct nx_summary *s, const struct nx_trace *trace, const struct totals *t)
{
    static const struct {
        unsigned count, time, active, active_percent;
    } columns[NX_ENGINE_COUNT] = {
        [NX_PE] = {NX_Summary_tensor_engine_instruction_count, NX_Summary_tensor_engine_instruction_time,
                   NX_Summary_tensor_engine_active_time, NX_Summary_tensor_engine_active_time_percent},
        [NX_ACT] = {NX_Summary_scalar_engine_instruction_count, NX_Summary_scalar_engine_instruction_time,
                    NX_Summary_scalar_engine_active_time, NX_Summary_scalar_engine_active_time_percent},
        [NX_POOL] = {NX_Summary_gpsimd_engine_instruction_count, NX_Summary_gpsimd_engine_instruction_time,
                     NX_Summary_gpsimd_engine_active_time, NX_Summary_gpsimd_engine_active_time_percent},
        [NX_DVE] = {NX_Summary_vector_engine_instruction_count, NX_Summary_vector_engine_instruction_time,
                    NX_Summary_vector_engine_active_time, NX_Summary_vector_engine_active_time_percent},
        [NX_SP] = {NX_Summary_sync_engine_instruction_count, NX_Summary_sync_engine_instruction_time,
                   NX_Summary_sync_engine_active_time, NX_Summary_sync_engine_active_time_percent},
    };

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        put_integer(s, columns[e].count, t->instructions[e]);
        put_seconds(s, columns[e].time, t->instruction_ps[e]);
        put_seconds(s, columns[e].active, t->active_ps[e]);
        put_share(s, columns[e].active_percent, (double)t->active_ps[e], (double)trace->window_ps);
    }
    put_integer(s, NX_Summary_matmul_instruction_count, t->matmuls);
    put_integer(s, NX_Summary_activate_instruction_count, t->activates);
    put_seconds(s, NX_Summary_activate_instruction_time, t->activate_ps);
}

static void put_counts(struct nx_summary *s, const struct nx_trace *trace)
{
    uint64_t rings = 0;

    for (uint32_t c = 0; c < trace->core_count; c++)
        rings += trace->cores[c].ntff->ring_count;
    put_integer(s, NX_Summary_event_count, trace->event_count);
    put_integer(s, NX_Summary_trace_count,
                (uint64_t)trace->event_count + trace->exec_count + trace->packet_count);
    put_integer(s, NX_Summary_dma_queue_count, rings);
}

static void put_dma(struct nx_summary *s, const struct nx_trace *trace, const struct totals *t)
{
    uint64_t packets = t->packets[STATIC] + t->packets[SOFTWARE] + t->packets[HARDWARE];
    uint64_t bytes = t->packet_bytes[STATIC] + t->packet_bytes[SOFTWARE] + t->packet_bytes[HARDWARE];
    uint64_t dynamic_packets = t->packets[SOFTWARE] + t->packets[HARDWARE];
    uint64_t dynamic_bytes = t->packet_bytes[SOFTWARE] + t->packet_bytes[HARDWARE];
    double active = (double)t->all_dma_active_ps;

    put_seconds(s, NX_Summary_dma_active_time, t->all_dma_active_ps);
    put_share(s, NX_Summary_dma_active_time_percent, active, (double)trace->window_ps);
    put_seconds(s, NX_Summary_dma_packet_time, t->packet_ps);
    put_integer(s, NX_Summary_dma_transfer_count, t->transfers);
    put_integer(s, NX_Summary_dma_transfer_total_bytes, t->transfer_bytes);
    put_seconds(s, NX_Summary_dma_transfer_time, t->transfer_ps);
    put_share(s, NX_Summary_dma_transfer_average_bytes, (double)t->transfer_bytes, (double)t->transfers);

    /* Shares of the classes are of the time in which any DMA is active, not of the total time. */
    put_integer(s, NX_Summary_static_dma_packet_count, t->packets[STATIC]);
    put_integer(s, NX_Summary_static_dma_size, t->packet_bytes[STATIC]);
    put_seconds(s, NX_Summary_static_dma_active_time, t->dma_active_ps[STATIC]);
    put_share(s, NX_Summary_static_dma_active_time_percent, (double)t->dma_active_ps[STATIC], active);
    put_share(s, NX_Summary_static_dma_packet_percent, (double)t->packets[STATIC], (double)packets);
    put_share(s, NX_Summary_static_dma_size_percent, (double)t->packet_bytes[STATIC], (double)bytes);
    /* The sum of the two shares below, though the two overlap: so the closed tool has it. */
    put_share(s, NX_Summary_dynamic_dma_active_time_percent,
              (double)(t->dma_active_ps[SOFTWARE] + t->dma_active_ps[HARDWARE]), active);
    put_share(s, NX_Summary_dynamic_dma_packet_percent, (double)dynamic_packets, (double)packets);
    put_share(s, NX_Summary_dynamic_dma_size_percent, (double)dynamic_bytes, (double)bytes);

    put_integer(s, NX_Summary_software_dynamic_dma_packet_count, t->packets[SOFTWARE]);
    put_integer(s, NX_Summary_software_dynamic_dma_size, t->packet_bytes[SOFTWARE]);
    put_seconds(s, NX_Summary_software_dynamic_dma_active_time, t->dma_active_ps[SOFTWARE]);
    put_share(s, NX_Summary_software_dynamic_dma_active_time_percent, (double)t->dma_active_ps[SOFTWARE], active);
    put_share(s, NX_Summary_software_dynamic_dma_packet_percent, (double)t->packets[SOFTWARE], (double)packets);
    put_share(s, NX_Summary_software_dynamic_dma_size_percent, (double)t->packet_bytes[SOFTWARE], (double)bytes);

    put_integer(s, NX_Summary_hardware_dynamic_dma_packet_count, t->packets[HARDWARE]);
    put_integer(s, NX_Summary_hardware_dynamic_dma_size, t->packet_bytes[HARDWARE]);
    put_seconds(s, NX_Summary_hardware_dynamic_dma_active_time, t->dma_active_ps[HARDWARE]);
    put_share(s, NX_Summary_hardware_dynamic_dma_active_time_percent, (double)t->dma_active_ps[HARDWARE], active);
    put_share(s, NX_Summary_hardware_dynamic_dma_packet_percent, (double)t->packets[HARDWARE], (double)packets);
    put_share(s, NX_Summary_hardware_dynamic_dma_size_percent, (double)t->packet_bytes[HARDWARE], (double)bytes);
}

static void put_bytes(struct nx_summary *s, const struct totals *t)
{
    bool any_dynamic = t->packets[SOFTWARE] || t->packets[HARDWARE];

    put_integer(s, NX_Summary_hbm_read_bytes, t->bytes.hbm_read);
    put_integer(s, NX_Summary_hbm_write_bytes, t->bytes.hbm_write);
    put_integer(s, NX_Summary_sbuf_read_bytes, t->bytes.sbuf_read);
    put_integer(s, NX_Summary_sbuf_write_bytes, t->bytes.sbuf_write);
    put_integer(s, NX_Summary_psum_read_bytes, t->bytes.psum_read);
    put_integer(s, NX_Summary_psum_write_bytes, t->bytes.psum_write);
    put_integer(s, NX_Summary_psum_read_sbuf_write_count, t->psum_to_sbuf);
    put_integer(s, NX_Summary_psum_read_sbuf_write_bytes, t->psum_to_sbuf_bytes);
    put_integer(s, NX_Summary_input_queue_bytes, t->input_queue);
    put_integer(s, NX_Summary_output_queue_bytes, t->output_queue);
    put_integer(s, NX_Summary_weight_queue_bytes, t->weight_queue);
    if (any_dynamic)
        return; /* what a dynamic DMA spills cannot be told without DGE notifications */
    put_integer(s, NX_Summary_spill_save_bytes, t->spill_save);
    put_integer(s, NX_Summary_spill_reload_bytes, t->spill_reload);
}

struct tensor_sizes {
    uint64_t inputs, outputs, weights;
};

static void add_tensor(const struct nx_neff_var *var, struct tensor_sizes *sizes)
{
    sizes->inputs += var->kind == NX_VAR_INPUT ? var->size : 0;
    sizes->outputs += var->kind == NX_VAR_OUTPUT ? var->size : 0;
    sizes->weights += var->kind == NX_VAR_WEIGHT ? var->size : 0;
}

/* The cores of an LNC share their tensors, so each counts once, as in TensorInfo; a weight may be of one core only. */
static struct tensor_sizes sum_tensors(const struct nx_neff *neff)
{
    struct tensor_sizes sizes = {0};
    struct nx_dict seen = {0};

    for (size_t g = 0; g < neff->graph_count; g++)
        for (size_t i = 0; i < neff->graphs[g].var_count; i++) {
            const struct nx_neff_var *var = &neff->graphs[g].vars[i];
            uint32_t before = seen.count;

            if (nx_dict_add_string(&seen, var->name) == before)
                add_tensor(var, &sizes);
        }
    nx_dict_free(&seen);
    return sizes;
}

/* Achievable at most when every byte that was moved must be moved: intensity over machine balance, capped. */
static double max_achievable(double intensity, double balance)
{
    return intensity / balance > 1 ? 1 : intensity / balance;
}

static void put_utilization(struct nx_summary *s, const struct nx_trace *trace, const struct totals *t)
{
    const struct nx_device *device = trace->device;
    struct tensor_sizes sizes = sum_tensors(trace->neff);
    double seconds = (double)trace->window_ps / 1e12;
    double moved = (double)(t->bytes.hbm_read + t->bytes.hbm_write);
    double useful = (double)(t->flops - t->transpose_flops);
    double intensity = moved > 0 ? useful / moved : 0;

    put_integer(s, NX_Summary_weight_size_bytes, sizes.weights);
    put_integer(s, NX_Summary_inputs_and_weights_size_bytes, sizes.inputs + sizes.weights);
    put_integer(s, NX_Summary_inputs_outputs_weights_size_bytes, sizes.inputs + sizes.weights + sizes.outputs);
    put_integer(s, NX_Summary_hardware_flops, t->flops);
    put_integer(s, NX_Summary_transpose_flops, t->transpose_flops);
    if (t->adjusted_known) {
        put_integer(s, NX_Summary_adjusted_hardware_flops, t->adjusted_flops);
        put_integer(s, NX_Summary_adjusted_transpose_flops, t->adjusted_transpose_flops);
    }
    put_number(s, NX_Summary_mm_arithmetic_intensity, intensity);
    if (!device)
        return;

    {
        double cells = (double)device->pe_rows * device->pe_cols;
        double peak = 2 * cells * device->pe_clock_ghz * 1e9 * trace->core_count;
        double balance = peak / trace->core_count / device->hbm_bandwidth;
        /* The closed tool holds the Tensor engine's period in single precision here, and only here. */
        double period_ps = (double)(float)(1000.0 / device->pe_clock_ghz);

        put_number(s, NX_Summary_peak_flops_bandwidth_ratio, balance);
        put_share(s, NX_Summary_hfu_estimated_percent, (double)t->flops * period_ps,
                  2 * cells * trace->core_count * (double)trace->window_ps);
        put_share(s, NX_Summary_mfu_inst_estimated_percent, useful, peak * seconds);
        put_share(s, NX_Summary_mfu_estimated_percent, useful, peak * seconds);
        put_number(s, NX_Summary_mfu_inst_max_achievable_estimated_percent,
                   max_achievable(intensity, balance * trace->core_count));
        put_number(s, NX_Summary_mfu_max_achievable_estimated_percent,
                   max_achievable(intensity, balance * trace->core_count));
        if (seconds > 0) {
            put_number(s, NX_Summary_mbu_estimated_percent, moved / seconds / device->hbm_bandwidth);
            put_number(s, NX_Summary_mbu_min_read_util_percent,
                       (double)(sizes.inputs + sizes.weights) / seconds / device->hbm_bandwidth);
        }
    }
    /* Without HLO statistics the closed tool prints 0 here and warns; the definition says so too. */
    if (!trace->neff->has_hlo_stats) {
        put_integer(s, NX_Summary_model_flops, 0);
        put_number(s, NX_Summary_mfu_hlo_estimated_percent, 0);
        put_number(s, NX_Summary_mfu_hlo_max_achievable_estimated_percent, 0);
    }
}

/* Collectives: none of the records of the cores that run them is known, so only "there were none" can be said. */
static void put_collectives(struct nx_summary *s, const struct nx_trace *trace)
{
    if (trace->has_collectives)
        return;
    put_number(s, NX_Summary_cc_op_time, 0);
    put_number(s, NX_Summary_cc_op_active_time, 0);
    put_number(s, NX_Summary_cc_op_active_time_percent, 0);
    put_integer(s, NX_Summary_cc_op_count, 0);
    put_number(s, NX_Summary_cc_cores_instruction_time, 0);
    put_number(s, NX_Summary_cc_cores_instruction_active_time, 0);
    put_number(s, NX_Summary_cc_cores_instruction_active_time_percent, 0);
    put_integer(s, NX_Summary_cc_cores_instruction_count, 0);
}

void nx_summary_compute(const struct nx_profile *profile, struct nx_summary *summary)
{
    const struct nx_trace *trace = profile->trace;
    struct totals totals = {.adjusted_known = true};

    *summary = (struct nx_summary){0};
    add_execs(trace, &totals);
    add_packets(trace, &totals);
    add_unions(trace, &totals);
    put_time(summary, trace, &totals);
    put_engines(summary, trace, &totals);
    put_counts(summary, trace);
    put_dma(summary, trace, &totals);
    put_bytes(summary, &totals);
    put_utilization(summary, trace, &totals);
    put_collectives(summary, trace);
}

static void *open_table(const struct nx_profile *profile)
{
    struct nx_summary *summary = nx_alloc(sizeof(*summary));

    nx_summary_compute(profile, summary);
    return summary;
}

static uint64_t count_rows(const void *opaque)
{
    (void)opaque;
    return 1;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_summary *summary = opaque;
    const struct nx_table_schema *schema = nx_schema_find("Summary", false);

    (void)first;
    for (unsigned column = 0; column < NX_Summary_COUNT; column++) {
        if (!summary->value[column].given)
            continue;
        if (schema->columns[column].type == NX_TYPE_INT64)
            nx_put_i64(chunk, column, 0, summary->value[column].integer);
        else
            nx_put_f64(chunk, column, 0, summary->value[column].number);
    }
}

static void close_table(void *opaque)
{
    free(opaque);
}

const struct nx_table nx_table_Summary = {"Summary", open_table, count_rows, fill, NULL, close_table};
