/*
 * rollup.h - executions summed up by groups: what the tables of the compiler's
 * levels (BIR, Penguin, HLO, framework) say of each operation.
 *
 * A group is whatever instructions are told to be of it; an execution counts
 * for the group of its instruction.  Executions of a group that overlap or
 * touch make one interval, and each counts for the interval that it is in.
 */
#ifndef NX_TABLES_ROLLUP_H
#define NX_TABLES_ROLLUP_H

#include "base/text.h"
#include "trace/trace.h"

/*
 * Of one operation in a loop of millions, the list of intervals would be larger than all other tables together: the
 * shortest gaps are closed until so many are left.  Starts, ends and sums stay exact.
 */
#define NX_ROLLUP_MAX_INTERVALS 4096

struct nx_rollup_interval {
    int64_t start, end; /* ps */
    uint64_t elements, transpose_elements; /* multiply-accumulates of MATMULs; of transposing ones */
    uint64_t hbm_bytes;                    /* read and written */
};

struct nx_rollup {
    uint32_t group;
    uint32_t first_exec; /* the earliest one, into nx_trace.execs */
    int64_t start, end;  /* ps */
    size_t first_interval, interval_count; /* into nx_rollups.intervals */
    bool joined;                           /* some gaps were closed, see NX_ROLLUP_MAX_INTERVALS */
    uint64_t elements, transpose_elements;
    struct nx_inst_bytes bytes;
    uint64_t weight_bytes;  /* read by LDWEIGHTS */
    bool counts_bytes, loads_weights; /* of some execution it is known; some is an LDWEIGHTS */
    uint64_t executions[NX_ENGINE_COUNT], channels[NX_ENGINE_COUNT];
    int64_t engine_start[NX_ENGINE_COUNT], engine_end[NX_ENGINE_COUNT]; /* ps, where there are executions */
};

struct nx_rollups {
    struct nx_rollup *list; /* groups with executions, by start */
    size_t count;
    struct nx_rollup_interval *intervals;
    size_t interval_count, interval_capacity;
};

/*
 * `group_of_inst`: by instruction, its group or NX_NONE.  `group_of_core`: the group of executions whose code is not
 * in the trace, by core; NULL for none.
 */
void nx_rollups_open(const struct nx_trace *trace, const uint32_t *group_of_inst, const uint32_t *group_of_core,
                     uint32_t group_count, struct nx_rollups *rollups);
void nx_rollups_close(struct nx_rollups *rollups);

static inline const struct nx_rollup_interval *nx_rollup_intervals(const struct nx_rollups *rollups,
                                                                   const struct nx_rollup *rollup)
{
    return rollups->intervals + rollup->first_interval;
}

/* "[[1, 10], [20, 50]]", in nanoseconds; appended. */
void nx_rollup_intervals_text(const struct nx_rollups *rollups, const struct nx_rollup *rollup, struct nx_text *out);
/* "[1024, 2048]": one value of each interval, what of it `value` says; appended. */
void nx_rollup_values_text(const struct nx_rollups *rollups, const struct nx_rollup *rollup,
                           uint64_t (*value)(const struct nx_rollup_interval *), struct nx_text *out);
uint64_t nx_interval_elements(const struct nx_rollup_interval *interval);
uint64_t nx_interval_transpose_elements(const struct nx_rollup_interval *interval);
uint64_t nx_interval_hbm_bytes(const struct nx_rollup_interval *interval);

#endif
