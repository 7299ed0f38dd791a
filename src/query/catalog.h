/*
 * catalog.h - the tables of a profile as a worker's engine has them.  Private
 * to this folder.
 *
 * A table is there from the first statement that names it: as a view of its
 * files.  The engine reads the footers and binds every column of a view anew
 * for each statement, twice, which for a wide table takes longer than the
 * statement itself.  So a small table is copied into memory after it was asked
 * for, and takes the view's name.
 */
#ifndef NX_QUERY_CATALOG_H
#define NX_QUERY_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <duckdb.h>

#include "base/text.h"

struct nx_catalog_table {
    char *name, *file;
    uint64_t bytes;
    int *fds;
    size_t part_count;
    enum { NX_CATALOG_ABSENT, NX_CATALOG_VIEW, NX_CATALOG_COPY } state;
    bool stays_view;   /* it is not to be copied (again) */
    struct stat copied; /* NX_CATALOG_COPY: the file as it was */
};

/* Appends the table's files as a list of SQL strings. */
void nx_catalog_files(const struct nx_catalog_table *table, struct nx_text *sql);
/*
 * Before a statement that names the table.  A copy whose file was changed meanwhile gives way to a view, and so it
 * does with `as_view`.  False: *why is the engine's message (heap).
 */
bool nx_catalog_show(duckdb_connection connection, struct nx_catalog_table *table, bool as_view, char **why);
/*
 * After it: copies the table if it is small, and all copies together stay below `memory` bytes.  May be interrupted;
 * then, or when it fails, the view stays for good.  False: there was nothing to do.
 */
bool nx_catalog_keep(duckdb_connection connection, struct nx_catalog_table *table, uint64_t memory);

#endif
