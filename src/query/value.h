/* value.h - one value of a vector as text.  Private to this folder. */
#ifndef NX_QUERY_VALUE_H
#define NX_QUERY_VALUE_H

#include <duckdb.h>

#include "base/text.h"

struct nx_value_type; /* a column's type, taken apart once */

/* NULL when the type (or one inside it) cannot be written; *name is then its name (heap, duckdb_free not needed). */
struct nx_value_type *nx_value_type_new(duckdb_logical_type type);
void nx_value_type_free(struct nx_value_type *type);

const char *nx_value_type_name(const struct nx_value_type *type); /* "BIGINT", "DECIMAL(18,3)", "BIGINT[]" */
bool nx_value_is_number(const struct nx_value_type *type);
/* Whether JSON shows it without quotes: numbers, booleans, lists, structs, maps. */
bool nx_value_is_bare(const struct nx_value_type *type);
bool nx_value_is_null(duckdb_vector vector, uint64_t row);

/* The value as plain text (nested ones as JSON). False: it is null (NULL, NaN or infinite); nothing written. */
bool nx_value_put(const struct nx_value_type *type, duckdb_vector vector, uint64_t row, struct nx_text *out);
/* The value as JSON, "null" included. */
void nx_value_put_json(const struct nx_value_type *type, duckdb_vector vector, uint64_t row, struct nx_text *out);

#endif
