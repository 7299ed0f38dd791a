/*
 * bounds.h - how long a kernel would take if one kind of overhead were gone.
 * Private to this folder; docs/analysis.md gives the formulas.
 *
 * All is measured inside one window, for each core of a logical NeuronCore
 * apart (a scope each) and for all together: there an engine is active when
 * that of any core is, and peaks count once for each core.
 *
 * Times are whole nanoseconds.  What the profile does not tell is NAN, and so
 * is everything that would follow from it.
 */
#ifndef NX_ANALYSIS_BOUNDS_H
#define NX_ANALYSIS_BOUNDS_H

#include "analysis/ask.h"

enum nx_unit { NX_TENSOR, NX_VECTOR, NX_SCALAR, NX_GPSIMD, NX_DMA, NX_UNITS };
const char *nx_unit_name(enum nx_unit unit); /* "Tensor", ..., "DMA" */

enum nx_bound {
    NX_MEMORY_BOUND,
    NX_MEMORY_IDEAL,
    NX_MEMORY_NO_RELOADS,
    NX_COMPUTE_BOUND,
    NX_COMPUTE_IDEAL,
    NX_COMPUTE_USEFUL,
    NX_PERFECT_PIPELINE,
    NX_BOUNDS
};
struct nx_bound_kind {
    const char *name;   /* "memory_bound_ideal" */
    const char *family; /* "memory", "compute", "pipeline" */
    const char *means;  /* what the gap to the bound before it is: "DMA inefficiency" */
    int before;         /* enum nx_bound; -1: total time */
    int improves;       /* enum nx_unit that would be faster; -1: none */
};
extern const struct nx_bound_kind nx_bound_kinds[NX_BOUNDS];

struct nx_scope {
    int core; /* -1: all together */
    double total;
    double active[NX_UNITS];
    double dma_bytes, necessary_bytes;
    double flops, transpose_flops;
    double dma_peak, tensor_peak; /* bytes, FLOPs per second */
    double bound[NX_BOUNDS];
    int bottleneck; /* enum nx_unit; -1: nothing was active */
};

struct nx_bounds {
    struct nx_scope *scopes; /* all together first; then, if there is more than one, each core */
    size_t count;
    int cores;
    json_t *device; /* the row of device.sql */
    json_t *notes;  /* what the figures lack, and why */
};

/* The inquiry has its window. False: a statement failed, and the inquiry says how. */
bool nx_bounds_measure(struct nx_inquiry *inquiry, const json_t *device, struct nx_bounds *bounds);
void nx_bounds_free(struct nx_bounds *bounds);

/* Time from the bound before it (or total time) to this one. */
double nx_bound_gap(const struct nx_scope *scope, enum nx_bound bound);
/* How much faster the kernel could get if it reached this bound and the other engines stayed as they are. */
double nx_bound_speedup(const struct nx_scope *scope, enum nx_bound bound);
/* The slowest of the engines other than this one. */
double nx_slowest_other(const struct nx_scope *scope, int unit);

/* The quantities of a report by name: "total_ns", "excess_ratio", ...; NULL at the end. */
extern const char *const nx_quantity_names[];
/* {"core", "quantities", "engines", "bounds", "bottleneck"} */
json_t *nx_scope_json(const struct nx_scope *scope);
/* part / whole; NAN if whole is not above 0. */
double nx_ratio(double part, double whole);
/* A number as JSON: whole ones as integers, NAN as null. */
json_t *nx_json_number(double value);

#endif
