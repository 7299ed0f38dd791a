/*
 * recording.h - a table held in memory as finished vectors, and given out again.
 *
 * What DuckDB alone needs to write the tables of a profile is measured by
 * writing recordings of them: every value is there already, and filling a
 * vector is a copy.
 */
#ifndef NX_BENCH_RECORDING_H
#define NX_BENCH_RECORDING_H

#include "tables/table.h"

#define NX_RECORDINGS_MAX 64 /* at a time */

/*
 * Fills `table` once, chunk by chunk as the store asks for them.  The result is a table of the same name and
 * dictionaries whose rows come from memory; `bytes` grows by what it holds.  With `keep` false the values are dropped as
 * they come: what filling costs.  Free with nx_recording_free after the last use of the table.
 */
struct nx_recording;
struct nx_recording *nx_recording_make(const struct nx_table *table, const struct nx_profile *profile, bool keep,
                                       uint64_t *rows, uint64_t *bytes);
const struct nx_table *nx_recording_table(const struct nx_recording *recording);
void nx_recording_free(struct nx_recording *recording);

#endif
