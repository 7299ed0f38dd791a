/*
 * table.h - how a table gives its rows: as vectors, never as row objects.
 *
 * Each table has one file with one `const struct nx_table`, and one entry in
 * schema.def; tables.c lists them.  Whoever stores them (store/) asks for
 * chunks of rows in order.  Every value of a chunk is NULL until nx_put_*()
 * gives it: what a file does not say stays NULL.
 *
 * Tables know nothing of the database: a chunk's vectors are plain memory
 * that the store lends.
 */
#ifndef NX_TABLES_TABLE_H
#define NX_TABLES_TABLE_H

#include "base/text.h"
#include "tables/schema.h"
#include "trace/trace.h"

struct nx_chunk;
struct nx_vector {
    void *data;      /* int64_t, int32_t, double or bool, by the column's type; uint32_t with a dictionary */
    uint64_t *valid; /* bit set = not NULL */
};
struct nx_chunk {
    uint32_t rows; /* rows to fill: row numbers 0..rows-1 of this chunk */
    struct nx_vector *columns;
    /* private to the store: keeps `size` bytes as the text of one value */
    void (*put_text)(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size);
    void *sink;
};

static inline void nx_chunk_mark(struct nx_chunk *c, unsigned column, uint32_t row)
{
    c->columns[column].valid[row >> 6] |= (uint64_t)1 << (row & 63);
}
static inline void nx_put_i64(struct nx_chunk *c, unsigned column, uint32_t row, int64_t value)
{
    ((int64_t *)c->columns[column].data)[row] = value;
    nx_chunk_mark(c, column, row);
}
static inline void nx_put_i32(struct nx_chunk *c, unsigned column, uint32_t row, int32_t value)
{
    ((int32_t *)c->columns[column].data)[row] = value;
    nx_chunk_mark(c, column, row);
}
static inline void nx_put_f64(struct nx_chunk *c, unsigned column, uint32_t row, double value)
{
    ((double *)c->columns[column].data)[row] = value;
    nx_chunk_mark(c, column, row);
}
static inline void nx_put_bool(struct nx_chunk *c, unsigned column, uint32_t row, bool value)
{
    ((bool *)c->columns[column].data)[row] = value;
    nx_chunk_mark(c, column, row);
}
/* A number of the column's dictionary (nx_table.dictionary); NX_NO_TEXT leaves NULL. */
static inline void nx_put_dict(struct nx_chunk *c, unsigned column, uint32_t row, uint32_t number)
{
    if (number == NX_NO_TEXT)
        return;
    ((uint32_t *)c->columns[column].data)[row] = number;
    nx_chunk_mark(c, column, row);
}
/* Text of a column without a dictionary; NULL leaves NULL. The bytes are copied. Marks the value itself. */
static inline void nx_put_text(struct nx_chunk *c, unsigned column, uint32_t row, const char *text)
{
    if (text)
        c->put_text(c, column, row, text, strlen(text));
}

/* Nanoseconds of a time in picoseconds, rounded down as the closed tool does. */
static inline int64_t nx_ns(int64_t ps)
{
    return ps >= 0 ? ps / 1000 : -((999 - ps) / 1000);
}

/*
 * Bytes per second of a transfer; 0 where it took no measurable time.  In single
 * precision, which gives the closed tool's digits (found by trying forms: docs/fidelity.md).
 */
static inline double nx_bytes_per_second(uint64_t bytes, int64_t ps)
{
    return ps > 0 ? (double)((float)bytes / (float)((double)ps * 1e-12)) : 0.0;
}

/* What tables are made from. */
struct nx_profile {
    const char *name;         /* the profile's name in the store */
    const char *explorer_version;
    const struct nx_neff *neff;
    const struct nx_ntff *ntff;
    const struct nx_trace *trace;
    const struct nx_warnings *warnings; /* of all stages together */
};

struct nx_table {
    const char *name; /* of its entry in schema.def */
    /*
     * Prepares what the rows need and returns it (never NULL); called once, before the others; another table may be
     * opened meanwhile.  `profile` outlives it.
     */
    void *(*open)(const struct nx_profile *profile);
    uint64_t (*count)(const void *state); /* rows; 0 = the table is not written */
    /* Rows first .. first + chunk->rows - 1. Called in any order, and by several threads at a time. */
    void (*fill)(const void *state, uint64_t first, struct nx_chunk *chunk);
    /* The dictionary of a text column whose values repeat, or NULL: nx_put_text. May be NULL as a whole. */
    const struct nx_dict *(*dictionary)(const void *state, unsigned column);
    void (*close)(void *state);
};

/* All tables of this build, in alphabetical order, NULL at the end. */
extern const struct nx_table *const nx_tables[];

#endif
