#include "analysis/bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/thresholds.h"
#include "base/memory.h"

#define MAX_CORES 64 /* of a logical NeuronCore; devices have 1 or 2 */

const struct nx_bound_kind nx_bound_kinds[NX_BOUNDS] = {
    [NX_MEMORY_BOUND] = {"memory_bound", "memory", "DMA idle", -1, NX_DMA},
    [NX_MEMORY_IDEAL] = {"memory_bound_ideal", "memory", "DMA inefficiency", NX_MEMORY_BOUND, NX_DMA},
    [NX_MEMORY_NO_RELOADS] = {"memory_bound_ideal_no_reloads", "memory", "excess traffic", NX_MEMORY_IDEAL,
                              NX_DMA},
    [NX_COMPUTE_BOUND] = {"compute_bound", "compute", "Tensor idle", -1, NX_TENSOR},
    [NX_COMPUTE_IDEAL] = {"compute_bound_ideal_flops", "compute", "Tensor under-used", NX_COMPUTE_BOUND,
                          NX_TENSOR},
    [NX_COMPUTE_USEFUL] = {"compute_bound_ideal_useful_flops", "compute", "transposes", NX_COMPUTE_IDEAL,
                           NX_TENSOR},
    [NX_PERFECT_PIPELINE] = {"perfect_pipeline", "pipeline", "serialisation", -1, -1},
};

const char *nx_unit_name(enum nx_unit unit)
{
    static const char *const names[NX_UNITS] = {"Tensor", "Vector", "Scalar", "GpSimd", "DMA"};

    return names[unit];
}

/* ------------------------------------------------------------------ from rows to quantities */

static struct nx_scope *scope_of(struct nx_bounds *bounds, int core)
{
    for (size_t i = 0; i < bounds->count; i++)
        if (bounds->scopes[i].core == core)
            return &bounds->scopes[i];
    return NULL;
}

/* The core of a row; -1 for all together. */
static int core_of(const json_t *row)
{
    double core = nx_number(row, "core");

    return core >= 0 && core < MAX_CORES ? (int)core : -1;
}

static void note(struct nx_bounds *bounds, const char *text)
{
    json_array_append_new(bounds->notes, json_string(text));
}

/* For quantities that add up over cores: a row counts for its core and for all. */
static void add(struct nx_bounds *bounds, const json_t *row, size_t member, double value)
{
    int core = core_of(row);
    struct nx_scope *own = core >= 0 && bounds->count > 1 ? scope_of(bounds, core) : NULL;

    *(double *)((char *)&bounds->scopes[0] + member) += value;
    if (own)
        *(double *)((char *)own + member) += value;
}

static void set_all(struct nx_bounds *bounds, size_t member, double value)
{
    for (size_t i = 0; i < bounds->count; i++)
        *(double *)((char *)&bounds->scopes[i] + member) = value;
}

static void check_order(struct nx_inquiry *inquiry, const json_t *row, const char *statement)
{
    if (nx_number_or_0(row, "unsorted") > 0 && inquiry->failure.code == NX_QUERY_OK) {
        inquiry->failure.code = NX_QUERY_FAILED;
        inquiry->failure.message = nx_strdup("the engine did not keep the order of sorted rows");
        json_object_set_new(inquiry->failed, statement, json_string(inquiry->failure.message));
    }
}

static void take_dma(struct nx_inquiry *inquiry, struct nx_bounds *bounds)
{
    const json_t *active = nx_ask(inquiry, "dma_active"), *traffic = nx_ask(inquiry, "dma_traffic"), *row;
    size_t i;

    if (!nx_inquiry_has(inquiry, "DmaPacket")) {
        set_all(bounds, offsetof(struct nx_scope, active[NX_DMA]), NAN);
        set_all(bounds, offsetof(struct nx_scope, dma_bytes), NAN);
        note(bounds, "no table DmaPacket: the capture holds no DMA packets, so nothing is known of DMA");
        return;
    }
    json_array_foreach(active, i, row)
    {
        struct nx_scope *scope = scope_of(bounds, core_of(row));

        check_order(inquiry, row, "dma_active");
        if (scope && strcmp(nx_string(row, "row_kind"), "active") == 0)
            scope->active[NX_DMA] = nx_number_or_0(row, "ns");
    }
    json_array_foreach(traffic, i, row)
        add(bounds, row, offsetof(struct nx_scope, dma_bytes), nx_number_or_0(row, "bytes"));
}

static void take_engines(struct nx_inquiry *inquiry, struct nx_bounds *bounds)
{
    const json_t *rows = nx_ask(inquiry, "engine_active"), *row;
    size_t i;

    if (!nx_inquiry_has(inquiry, "ActiveTime")) {
        for (int unit = 0; unit < NX_DMA; unit++)
            set_all(bounds, offsetof(struct nx_scope, active) + (size_t)unit * sizeof(double), NAN);
        note(bounds,
             "no table ActiveTime: the capture holds no instructions, so nothing is known of the engines");
        return;
    }
    json_array_foreach(rows, i, row)
    {
        struct nx_scope *scope = scope_of(bounds, core_of(row));
        const char *engine = nx_string(row, "engine");

        check_order(inquiry, row, "engine_active");
        for (int unit = 0; scope && engine && unit < NX_DMA; unit++)
            if (strcmp(engine, nx_unit_name((enum nx_unit)unit)) == 0)
                scope->active[unit] = nx_number_or_0(row, "active_ns");
    }
}

static void take_flops(struct nx_inquiry *inquiry, struct nx_bounds *bounds)
{
    const json_t *rows = nx_ask(inquiry, "tensor_flops"), *row;
    double unknown = 0;
    size_t i;

    if (!nx_inquiry_has(inquiry, "Instruction")) {
        set_all(bounds, offsetof(struct nx_scope, flops), NAN);
        set_all(bounds, offsetof(struct nx_scope, transpose_flops), NAN);
        note(bounds, "no table Instruction: FLOPs are not known");
        return;
    }
    json_array_foreach(rows, i, row)
    {
        const char *kind = nx_string(row, "kind");

        add(bounds, row, offsetof(struct nx_scope, flops), nx_number_or_0(row, "flops"));
        if (kind && strcmp(kind, "TRANSPOSE") == 0)
            add(bounds, row, offsetof(struct nx_scope, transpose_flops), nx_number_or_0(row, "flops"));
        unknown += nx_number_or_0(row, "unknown");
    }
    if (unknown > 0) {
        json_t *text = json_sprintf(
            "%.0f MATMULs have a data type whose rate is not known: their FLOPs are not counted", unknown);

        json_array_append_new(bounds->notes, text);
    }
}

static void take_tensors(struct nx_inquiry *inquiry, struct nx_bounds *bounds)
{
    const json_t *row = json_array_get(nx_ask(inquiry, "tensors"), 0);
    double bytes = nx_number(row, "necessary_bytes");

    set_all(bounds, offsetof(struct nx_scope, necessary_bytes), bounds->count > 1 ? NAN : bytes);
    bounds->scopes[0].necessary_bytes = bytes;
    if (isnan(bytes))
        note(bounds, "TensorInfo names no input or output tensor with a size: necessary bytes are not known");
    else if (nx_number_or_0(row, "without_size") > 0)
        note(bounds,
             "some input or output tensors have no size in TensorInfo: necessary bytes leave them out");
    if (!isnan(bytes) && bounds->count > 1)
        note(bounds, "the cores share the tensors: which part each must move is not known, so necessary "
                     "bytes are given "
                     "for all cores together only");
}

/* ------------------------------------------------------------------ bounds */

/* Returns how long the slowest engine was active. */
static double find_bottleneck(struct nx_scope *scope)
{
    double most = NAN;

    scope->bottleneck = -1;
    for (int unit = 0; unit < NX_UNITS; unit++) {
        if (scope->active[unit] > fmax(most, 0))
            scope->bottleneck = unit;
        most = fmax(most, scope->active[unit]);
    }
    return most;
}

static double ns_at(double amount, double per_second)
{
    return per_second > 0 ? round(amount / per_second * 1e9) : NAN;
}

static void compute(struct nx_scope *scope)
{
    scope->bound[NX_PERFECT_PIPELINE] = find_bottleneck(scope);
    scope->bound[NX_MEMORY_BOUND] = scope->active[NX_DMA];
    scope->bound[NX_MEMORY_IDEAL] = ns_at(scope->dma_bytes, scope->dma_peak);
    scope->bound[NX_MEMORY_NO_RELOADS] = ns_at(scope->necessary_bytes, scope->dma_peak);
    scope->bound[NX_COMPUTE_BOUND] = scope->active[NX_TENSOR];
    scope->bound[NX_COMPUTE_IDEAL] = ns_at(scope->flops, scope->tensor_peak);
    scope->bound[NX_COMPUTE_USEFUL] = ns_at(scope->flops - scope->transpose_flops, scope->tensor_peak);
}

double nx_bound_gap(const struct nx_scope *scope, enum nx_bound bound)
{
    int before = nx_bound_kinds[bound].before;

    return (before < 0 ? scope->total : scope->bound[before]) - scope->bound[bound];
}

double nx_slowest_other(const struct nx_scope *scope, int unit)
{
    double most = 0;

    for (int other = 0; other < NX_UNITS; other++)
        if (other != unit && scope->active[other] > most)
            most = scope->active[other];
    return most;
}

double nx_bound_speedup(const struct nx_scope *scope, enum nx_bound bound)
{
    int improves = nx_bound_kinds[bound].improves;
    double limit = scope->bound[bound];

    if (isnan(limit))
        return NAN;
    if (improves >= 0)
        limit = fmax(limit, nx_slowest_other(scope, improves));
    return limit > 0 ? scope->total / limit : NAN;
}

/* A core that the kernel leaves alone halves what both together seem to reach. */
static void note_idle_cores(struct nx_bounds *bounds)
{
    for (size_t i = 1; i < bounds->count; i++) {
        const struct nx_scope *scope = &bounds->scopes[i];
        double most = scope->bound[NX_PERFECT_PIPELINE];

        if (most < NX_IDLE_CORE * scope->total)
            json_array_append_new(
                bounds->notes,
                json_sprintf("core %d was at work for less than 1 %% of the time: the peaks of all cores "
                             "together count it all the same",
                             scope->core));
    }
}

/*
 * The pass over all DMA packets takes about as long as all other statements together, and keeps one core
 * busy: those that read the other large tables run beside it.
 */
static void ask_long_ones(struct nx_inquiry *inquiry)
{
    if (!nx_inquiry_has(inquiry, "DmaPacket"))
        return;
    nx_ask_ahead(inquiry, "dma_active");
    nx_ask(inquiry, "dma_traffic");
    nx_ask(inquiry, "engine_active");
    nx_ask(inquiry, "tensor_flops");
    if (nx_inquiry_has(inquiry, "DmaPacketAggregated"))
        nx_ask(inquiry, "dma_lines");
}

bool nx_bounds_measure(struct nx_inquiry *inquiry, const json_t *device, struct nx_bounds *bounds)
{
    double cores = nx_number(device, "cores");

    *bounds =
        (struct nx_bounds){.cores = cores > 1 && cores <= MAX_CORES ? (int)cores : 1, .notes = json_array()};
    bounds->device = json_deep_copy(device);
    bounds->count = bounds->cores > 1 ? (size_t)bounds->cores + 1 : 1;
    bounds->scopes = nx_zalloc(bounds->count, sizeof(*bounds->scopes));
    for (size_t i = 0; i < bounds->count; i++) {
        struct nx_scope *scope = &bounds->scopes[i];
        int peaks = i ? 1 : bounds->cores;

        scope->core = (int)i - 1;
        scope->total = (double)(inquiry->t1 - inquiry->t0);
        scope->dma_peak = peaks * nx_number(device, "dma_peak_bytes_per_s");
        scope->tensor_peak = peaks * nx_number(device, "tensor_peak_flops");
    }
    ask_long_ones(inquiry);
    take_dma(inquiry, bounds);
    take_engines(inquiry, bounds);
    take_flops(inquiry, bounds);
    take_tensors(inquiry, bounds);
    for (size_t i = 0; i < bounds->count; i++)
        compute(&bounds->scopes[i]);
    note_idle_cores(bounds);
    return inquiry->failure.code == NX_QUERY_OK;
}

double nx_ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

void nx_bounds_free(struct nx_bounds *bounds)
{
    json_decref(bounds->device);
    json_decref(bounds->notes);
    free(bounds->scopes);
}

/* ------------------------------------------------------------------ JSON */

json_t *nx_json_number(double value)
{
    if (isnan(value) || isinf(value))
        return json_null();
    if (value == floor(value) && fabs(value) < 9007199254740992.0)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *engine_json(const struct nx_scope *scope, enum nx_unit unit)
{
    return json_pack("{s:s,s:o,s:o}", "engine", nx_unit_name(unit), "active_ns",
                     nx_json_number(scope->active[unit]), "share",
                     nx_json_number(nx_ratio(scope->active[unit], scope->total)));
}

static json_t *bound_json(const struct nx_scope *scope, enum nx_bound bound)
{
    const struct nx_bound_kind *kind = &nx_bound_kinds[bound];
    double gap = nx_bound_gap(scope, bound);

    return json_pack("{s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:o}", "name", kind->name, "family", kind->family, "ns",
                     nx_json_number(scope->bound[bound]), "share",
                     nx_json_number(nx_ratio(scope->bound[bound], scope->total)), "gap", kind->means,
                     "gap_ns", nx_json_number(gap), "gap_share", nx_json_number(nx_ratio(gap, scope->total)),
                     "speedup", nx_json_number(nx_bound_speedup(scope, bound)));
}

const char *const nx_quantity_names[] = {"total_ns",
                                         "dma_active_ns",
                                         "dma_transfer_bytes",
                                         "necessary_bytes",
                                         "tensor_active_ns",
                                         "flops",
                                         "useful_flops",
                                         "transpose_flops",
                                         "dma_peak_bytes_per_s",
                                         "tensor_peak_flops_per_s",
                                         "dma_achieved_bytes_per_s",
                                         "tensor_achieved_flops_per_s",
                                         "dma_bandwidth_used",
                                         "tensor_flops_used",
                                         "excess_ratio",
                                         "transpose_share",
                                         NULL};

static json_t *quantities_json(const struct nx_scope *scope)
{
    double dma_rate = nx_ratio(scope->dma_bytes, scope->active[NX_DMA]) * 1e9;
    double tensor_rate = nx_ratio(scope->flops, scope->active[NX_TENSOR]) * 1e9;
    const double values[] = {scope->total,
                             scope->active[NX_DMA],
                             scope->dma_bytes,
                             scope->necessary_bytes,
                             scope->active[NX_TENSOR],
                             scope->flops,
                             scope->flops - scope->transpose_flops,
                             scope->transpose_flops,
                             scope->dma_peak,
                             scope->tensor_peak,
                             dma_rate,
                             tensor_rate,
                             nx_ratio(dma_rate, scope->dma_peak),
                             nx_ratio(tensor_rate, scope->tensor_peak),
                             nx_ratio(scope->dma_bytes, scope->necessary_bytes),
                             nx_ratio(scope->transpose_flops, scope->flops)};
    json_t *quantities = json_object();

    _Static_assert(sizeof(values) / sizeof(values[0]) + 1 ==
                       sizeof(nx_quantity_names) / sizeof(nx_quantity_names[0]),
                   "a value for each name");
    for (size_t i = 0; nx_quantity_names[i]; i++)
        json_object_set_new(quantities, nx_quantity_names[i], nx_json_number(values[i]));
    return quantities;
}

json_t *nx_scope_json(const struct nx_scope *scope)
{
    json_t *engines = json_array(), *bounds = json_array();

    for (int unit = 0; unit < NX_UNITS; unit++)
        json_array_append_new(engines, engine_json(scope, (enum nx_unit)unit));
    for (int bound = 0; bound < NX_BOUNDS; bound++)
        json_array_append_new(bounds, bound_json(scope, (enum nx_bound)bound));
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o}", "core", scope->core < 0 ? json_null() : json_integer(scope->core),
        "quantities", quantities_json(scope), "engines", engines, "bounds", bounds, "bottleneck",
        scope->bottleneck < 0 ? json_null() : json_string(nx_unit_name((enum nx_unit)scope->bottleneck)));
}
