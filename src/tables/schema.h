/*
 * schema.h - the contract: tables and columns of profile schema 7.4.0.
 *
 * schema.def is the one definition.  From it come the Parquet columns, the
 * SchemaFields table, the API's tableSchema, --show-profile-schema (OpenAPI
 * YAML) and docs/schema.md.  Descriptions are this project's own words.
 *
 * Column numbers are named NX_<Table>_<column>: NX_Instruction_start_ts.
 */
#ifndef NX_TABLES_SCHEMA_H
#define NX_TABLES_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text.h"

#define NX_SCHEMA_VERSION "7.4.0"

enum nx_column_type {
    NX_TYPE_INT64,  /* integer, int64  -> Parquet INT64 */
    NX_TYPE_INT32,  /* integer, int32  -> INT32 */
    NX_TYPE_DOUBLE, /* number, float   -> DOUBLE */
    NX_TYPE_BOOL,   /* boolean         -> BOOLEAN */
    NX_TYPE_TEXT,   /* string          -> BYTE_ARRAY (UTF8) */
    NX_TYPE_ARRAY,  /* array, as JSON text -> BYTE_ARRAY (UTF8) */
};

enum nx_table_scope {
    NX_SCOPE_DEVICE,    /* a NEFF and an NTFF can fill it */
    NX_SCOPE_SYSTEM,    /* needs a system profile or a simulation, which this program does not read */
    NX_SCOPE_TRANSIENT, /* an answer of an API, never stored */
};

struct nx_column {
    const char *name;
    enum nx_column_type type;
    bool required;         /* never NULL */
    const char *unit;      /* "nanoseconds", or NULL */
    const char *enum_name; /* name of an nx_enum, or NULL */
    const char *items;     /* of an array: "integer", "string" or the name of a table; else NULL */
    const char *format;    /* OpenAPI: "int64", "int32", "float", "double", or NULL */
    const char *description;
    const char *example; /* or NULL */
};

struct nx_table_schema {
    const char *name;
    enum nx_table_scope scope;
    const char *description;
    const struct nx_column *columns;
    size_t column_count;
};

struct nx_enum {
    const char *name;
    const char *description;
    const char *const *values;
    size_t value_count;
};

/* enum { NX_ActiveTime_start_ts, ..., NX_ActiveTime_COUNT }; and so on for each table. */
/* clang-format off */
#define NX_TABLE(table, scope, description) enum {
#define NX_COLUMN(table, column, type, need, unit, enumeration, description, example) NX_##table##_##column,
#define NX_ARRAY(table, column, need, unit, items, description, example) NX_##table##_##column,
#define NX_TABLE_END(table) NX_##table##_COUNT };
#include "tables/schema.def"
/* clang-format on */

extern const struct nx_table_schema nx_schema[]; /* in the reference's order (alphabetical) */
extern const size_t nx_schema_count;
extern const struct nx_enum nx_enums[];
extern const size_t nx_enum_count;

/* Exact name, or (if fold_case) the same name in another case; NULL if there is none. */
const struct nx_table_schema *nx_schema_find(const char *table, bool fold_case);
const struct nx_enum *nx_enum_find(const char *name);

/*
 * The three renderings.  nx_schema_json() appends the API's tableSchema:
 *     {"tableName":"PendingDma","description":"...","scope":"device","columns":[
 *      {"name":"timestamp","type":"integer","format":"int64","unit":"nanoseconds","required":true,
 *       "description":"...","example":null},...]}
 * "unit" and "example" are null where there is none; "format", "items" and "enum" are left out.
 */
void nx_schema_json(const struct nx_table_schema *table, struct nx_text *out);
void nx_schema_yaml(FILE *out);     /* OpenAPI, all tables: --show-profile-schema */
void nx_schema_markdown(FILE *out); /* docs/schema.md */
/* A column's example as a JSON value of its type; appends nothing if it has none. */
void nx_schema_example(const struct nx_column *column, struct nx_text *out);

/*
 * OpenAPI words for a column type: "integer" and "int64"; format is NULL where there is none.  A column's own
 * format is nx_column.format.
 */
const char *nx_type_name(enum nx_column_type type);
const char *nx_type_format(enum nx_column_type type);
const char *nx_scope_name(enum nx_table_scope scope); /* "device", "system", "transient" */

#endif
