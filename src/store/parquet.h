/*
 * parquet.h - writes tables to Parquet files, through DuckDB.
 *
 * Each table is a DuckDB table function scanned directly by COPY: its vectors
 * are filled by the table (tables/table.h), so no row is held twice.  Text
 * with a dictionary goes as ENUM (the same UTF8 column in the file).  Order
 * of rows is kept.  A table of about a million rows or more becomes several
 * files, TABLE_0.parquet, TABLE_1.parquet and so on, which hold its rows in
 * that order.  The files do not depend on the number of threads.
 */
#ifndef NX_STORE_PARQUET_H
#define NX_STORE_PARQUET_H

#include "base/error.h"
#include "tables/table.h"

/*
 * Writes each table with rows to DIR/TABLE.parquet (or its parts); the files are new. `threads`: 1 or more
 * (nx_jobs_threads).  `progress` is called with the rows written so far of all tables; may be NULL.
 */
enum nx_status nx_parquet_write(const char *dir, const struct nx_table *const *tables,
                                const struct nx_profile *profile, unsigned threads,
                                nx_progress *progress, void *context, struct nx_error *error);

#endif
