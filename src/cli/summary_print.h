/*
 * summary_print.h - the summary formats of `view`: the columns of Summary (and
 * for text also who captured it, from Metadata), straight from the tables.
 */
#ifndef NX_CLI_SUMMARY_PRINT_H
#define NX_CLI_SUMMARY_PRINT_H

#include "tables/table.h"

/* {"n_<40 hex>": {"column": value, ...}} */
void nx_print_summary_json(const struct nx_profile *profile);
/* The name, then one "    column  value" a line. */
void nx_print_summary_text(const struct nx_profile *profile);

#endif
