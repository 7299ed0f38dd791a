/*
 * absence.h - why a profile can lack a table, and what to do about it.
 *
 * A table without rows is not stored.  Whoever asks for one all the same (SQL,
 * the API, docs/schema.md) is told here what the inputs must hold for it, with
 * the setting of the capture or of the compilation by name.
 */
#ifndef NX_TABLES_ABSENCE_H
#define NX_TABLES_ABSENCE_H

#include "tables/schema.h"

/* One sentence without a full stop: what a profile must hold for that table of the schema. Never NULL. */
const char *nx_table_absence(const struct nx_table_schema *table);

#endif
