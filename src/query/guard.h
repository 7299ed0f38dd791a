/*
 * guard.h - vets a statement before the engine binds it.
 *
 * Accepted: one SELECT (WITH ... SELECT, VALUES, FROM-first, set operations,
 * PIVOT with an IN list), DESCRIBE, SHOW TABLES, SUMMARIZE, and EXPLAIN of one
 * of these.  Only the profile's tables, the query's own CTEs and allow-listed
 * table functions (range, generate_series, unnest and the like) may stand in
 * FROM, and only functions that compute from their arguments (functions.def)
 * may be called.
 */
#ifndef NX_QUERY_GUARD_H
#define NX_QUERY_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks at a statement's syntax tree, as DuckDB's json_serialize_sql() prints it (`ast`).
 * tables: names of the profile's tables.  True if it may be bound; else *reason says why not
 * (heap, one sentence) and *missing_table is the name of a table that the profile does not have,
 * if that was the reason (heap, or NULL).  named[i] is set for each table that the statement may read.
 */
bool nx_guard_check(const char *ast, size_t ast_size, const char *const *tables, size_t table_count, bool *named,
                    char **reason, char **missing_table);

/*
 * EXPLAIN cannot be printed as a tree: it is taken off, and what follows it is vetted as if it stood alone.
 * (DESCRIBE, SHOW and SUMMARIZE are queries to DuckDB's parser and need no such thing.)
 */
enum nx_guard_prefix { NX_PREFIX_NONE, NX_PREFIX_EXPLAIN, NX_PREFIX_EXPLAIN_ANALYZE };
/*
 * Skips white space and comments, reads EXPLAIN [ANALYZE]; *rest is what follows it, or all of `sql`.
 * Only *rest was vetted: run the prefix anew with *rest behind it, never `sql`.  The engine may read what stands
 * before *rest in another way than this does, and then begins elsewhere.
 */
enum nx_guard_prefix nx_guard_split(const char *sql, const char **rest);

/*
 * Whether the text begins with the word of a statement that is no query (COPY, SET, ...): it is refused for what it
 * is, even if its syntax is wrong as well.
 */
bool nx_guard_is_command(const char *sql);

#endif
