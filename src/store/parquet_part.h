/*
 * parquet_part.h - a table opened for writing, and one part of it to one file.
 * Private to this folder; parquet.c decides what the parts are and who writes them.
 */
#ifndef NX_STORE_PARQUET_PART_H
#define NX_STORE_PARQUET_PART_H

#include <duckdb.h>

#include "base/error.h"
#include "tables/table.h"

#define NX_PARQUET_ROW_GROUP 122880 /* rows; a multiple of DuckDB's vector size */

struct nx_parquet_column {
    enum nx_column_type type;
    bool has_dictionary, is_enum;
    const struct nx_dict_entry *entries; /* of its dictionary, as UTF-8 */
    uint32_t entry_count;
    unsigned enum_width; /* bytes of DuckDB's vector of this ENUM: 1, 2 or 4 */
};

struct nx_parquet_source { /* read-only once open: parts are filled from it by several threads */
    const struct nx_table *table;
    const struct nx_table_schema *schema; /* NULL: not in the schema, so not written */
    void *state;
    uint64_t rows;
    struct nx_parquet_column *columns; /* NULL without rows */
    struct nx_arena texts;             /* entries of dictionaries that were not UTF-8 */
};

void nx_parquet_open_source(struct nx_parquet_source *source, const struct nx_table *table,
                            const struct nx_profile *profile);
void nx_parquet_close_source(struct nx_parquet_source *source); /* safe on a zeroed struct */

struct nx_parquet_part {
    const struct nx_parquet_source *source;
    uint64_t first, rows;
    int number; /* of TABLE_n.parquet; -1: the table is in one file */
    void (*written)(void *context, uint64_t rows); /* while it goes on; may be NULL */
    void *context;
};

/* false: the error says why, and what is left of the file is of no use. Callable from several threads. */
bool nx_parquet_write_part(duckdb_database database, const char *dir, const struct nx_parquet_part *part,
                           struct nx_error *error);

#endif
