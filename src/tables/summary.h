/*
 * summary.h - the figures of a whole profile (table Summary, one row).
 *
 * Computed once from the correlated trace; what it cannot say is absent.
 * Times are seconds, `_percent` are fractions.
 */
#ifndef NX_TABLES_SUMMARY_H
#define NX_TABLES_SUMMARY_H

#include "tables/table.h"

struct nx_summary {
    struct {
        bool given;
        int64_t integer; /* columns of type INT64 */
        double number;   /* columns of type DOUBLE */
    } value[NX_Summary_COUNT]; /* by column: NX_Summary_total_time */
};

void nx_summary_compute(const struct nx_profile *profile, struct nx_summary *summary);

#endif
