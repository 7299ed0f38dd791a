/*
 * The vetting of a syntax tree (guard.h).
 *
 * DuckDB prints the tree before it looks at any table, so nothing has
 * happened yet.  Everything that can name something outside the query is one
 * of three kinds of table reference (BASE_TABLE, TABLE_FUNCTION, SHOW_REF) or
 * a function call; the walk looks for those wherever they stand.
 */
#include "query/guard.h"

#include <ctype.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "query/suggest.h"

/* Names of CTEs that may be used here; inner ones first. */
struct scope {
    const struct scope *outer;
    const char *name;
};

struct walk {
    const char *const *tables;
    size_t table_count;
    bool *named; /* one for each table */
    char *reason;        /* set: refused */
    char *missing_table; /* set as well when that was the reason */
};

static void walk_value(struct walk *w, const json_t *value, const struct scope *scope);

static void refuse(struct walk *w, const char *format, const char *name)
{
    if (!w->reason && asprintf(&w->reason, format, name) < 0)
        w->reason = NULL;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

static bool in_list(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(name, list[i]) == 0)
            return true;
    return false;
}
#define IN(name, list) in_list(name, list, sizeof(list) / sizeof((list)[0]))

/* ------------------------------------------------------------------ functions */

/* Table functions that only compute. Everything else in FROM reads files, settings, logs or other databases. */
static bool table_function_allowed(const char *name)
{
    static const char *const allowed[] = {"range", "generate_series", "unnest", "repeat", "json_each", "json_tree"};

    return IN(name, allowed);
}

/* Functions that only compute (functions.def): no other may be called, whatever the engine has. */
static const char *const functions[] = {
#define NX_FUNCTION(name) name,
#include "query/functions.def"
#undef NX_FUNCTION
};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

static bool function_allowed(const char *name)
{
    int first = tolower((unsigned char)name[0]);

    for (size_t i = 0; i < FUNCTION_COUNT; i++)
        if (functions[i][0] == first && strcasecmp(functions[i], name) == 0)
            return true;
    return false;
}

static void check_function(struct walk *w, const json_t *object)
{
    const char *name = text_of(object, "function_name");
    char *near;

    if (w->reason || function_allowed(name))
        return;
    near = nx_suggest(name, functions, FUNCTION_COUNT);
    if (asprintf(&w->reason,
                 "the function %s is not one that a query may call: it reaches beyond the profile's tables, or there "
                 "is none%s%s",
                 name, near ? ". " : "", near ? near : "") < 0)
        w->reason = NULL;
    free(near);
}

static void check_table_function(struct walk *w, const json_t *object)
{
    const char *name = text_of(json_object_get(object, "function"), "function_name");

    if (!table_function_allowed(name))
        refuse(w, "the table function %s is not allowed: a query reads the profile's tables only", name);
}

/* ------------------------------------------------------------------ tables */

static bool in_scope(const struct scope *scope, const char *name)
{
    for (; scope; scope = scope->outer)
        if (strcasecmp(scope->name, name) == 0)
            return true;
    return false;
}

/* If so, it is noted as named. */
static bool is_profile_table(struct walk *w, const char *name)
{
    for (size_t i = 0; i < w->table_count; i++)
        if (strcasecmp(name, w->tables[i]) == 0)
            return w->named[i] = true;
    return false;
}

static void check_base_table(struct walk *w, const json_t *object, const struct scope *scope)
{
    const char *name = text_of(object, "table_name"), *schema = text_of(object, "schema_name");
    const char *catalog = text_of(object, "catalog_name");

    if (catalog[0] || (schema[0] && strcasecmp(schema, "main") != 0)) {
        refuse(w, "%s is in another schema or database: a query reads the profile's tables only", name);
    } else if (!is_profile_table(w, name) && (schema[0] || !in_scope(scope, name))) {
        refuse(w, "the profile has no table %s", name);
        if (w->reason && !w->missing_table)
            w->missing_table = nx_strdup(name);
    }
}

/* DESCRIBE, SUMMARIZE and SHOW: of a query, of a table, or the list of tables. */
static void check_show(struct walk *w, const json_t *object, const struct scope *scope)
{
    const char *name = text_of(object, "table_name");
    size_t size = strlen(name);
    char bare[128];

    if (json_is_object(json_object_get(object, "query")))
        return; /* it is walked like any other */
    if (strcmp(name, "\"tables\"") == 0) {
        for (size_t i = 0; i < w->table_count; i++)
            w->named[i] = true;
        return;
    }
    /* the name is quoted in the tree */
    if (size >= 2 && size < sizeof(bare) && name[0] == '"' && name[size - 1] == '"')
        snprintf(bare, sizeof(bare), "%.*s", (int)(size - 2), name + 1);
    else
        snprintf(bare, sizeof(bare), "%s", name);
    if (text_of(object, "catalog_name")[0] || text_of(object, "schema_name")[0] ||
        (!is_profile_table(w, bare) && !in_scope(scope, bare)))
        refuse(w, "SHOW and DESCRIBE of %s are not allowed: only of the profile's tables", bare);
}

/* ------------------------------------------------------------------ the walk */

/* Names that a CTE must not take: outside its scope they mean something of the system. */
static bool is_system_name(const char *name)
{
    static const char *const prefixes[] = {"duckdb_", "pg_", "sqlite_", "pragma_", "information_schema"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (starts_with(name, prefixes[i]))
            return true;
    return strpbrk(name, "./\\:*?[") != NULL;
}

static void walk_members(struct walk *w, const json_t *object, const char *skip, const struct scope *scope)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, key, value)
        if (!skip || strcmp(key, skip) != 0)
            walk_value(w, value, scope);
}

/*
 * CTEs come into scope one after the other: each sees those before it, and itself only if it is recursive.
 * Then the rest of the node sees all of them.
 */
static void walk_ctes(struct walk *w, const json_t *object, const json_t *map, size_t at, const struct scope *scope)
{
    const json_t *entry = json_array_get(map, at);
    const json_t *node = json_object_get(json_object_get(json_object_get(entry, "value"), "query"), "node");
    struct scope inner = {.outer = scope, .name = text_of(entry, "key")};
    bool recursive = strcmp(text_of(node, "type"), "RECURSIVE_CTE_NODE") == 0;

    if (w->reason)
        return;
    if (!entry) {
        walk_members(w, object, "cte_map", scope);
        return;
    }
    if (is_system_name(inner.name)) {
        refuse(w, "a common table expression must not be named %s", inner.name);
        return;
    }
    walk_value(w, json_object_get(entry, "value"), recursive ? &inner : scope);
    walk_ctes(w, object, map, at + 1, &inner);
}

static void walk_object(struct walk *w, const json_t *object, const struct scope *scope)
{
    const char *type = text_of(object, "type");
    const json_t *map = json_object_get(json_object_get(object, "cte_map"), "map");

    if (strcmp(type, "BASE_TABLE") == 0)
        check_base_table(w, object, scope);
    else if (strcmp(type, "SHOW_REF") == 0)
        check_show(w, object, scope);
    else if (json_object_get(object, "function_name"))
        check_function(w, object);
    if (json_array_size(map))
        walk_ctes(w, object, map, 0, scope);
    else
        walk_members(w, object, NULL, scope);
}

/* A table function's own call must not be judged as a scalar one. */
static void walk_table_function(struct walk *w, const json_t *object, const struct scope *scope)
{
    check_table_function(w, object);
    walk_members(w, json_object_get(object, "function"), "function_name", scope);
    walk_members(w, object, "function", scope);
}

static void walk_value(struct walk *w, const json_t *value, const struct scope *scope)
{
    if (w->reason)
        return;
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++)
            walk_value(w, json_array_get(value, i), scope);
    } else if (json_is_object(value)) {
        if (strcmp(text_of(value, "type"), "TABLE_FUNCTION") == 0)
            walk_table_function(w, value, scope);
        else
            walk_object(w, value, scope);
    }
}

bool nx_guard_check(const char *ast, size_t ast_size, const char *const *tables, size_t table_count, bool *named,
                    char **reason, char **missing_table)
{
    struct walk w = {.tables = tables, .table_count = table_count, .named = named};
    json_error_t why;
    /* positions are 64-bit unsigned in the tree: beyond what jansson takes as an integer */
    json_t *tree = json_loadb(ast, ast_size, JSON_DECODE_INT_AS_REAL, &why);
    const json_t *statements = json_object_get(tree, "statements");

    *missing_table = NULL;
    if (!tree)
        refuse(&w, "the statement is nested too deeply to be checked (%s)", why.text);
    else if (json_is_true(json_object_get(tree, "error")))
        refuse(&w, "%s", "only queries are answered: SELECT, WITH, FROM, VALUES, DESCRIBE, SUMMARIZE, EXPLAIN");
    else if (json_array_size(statements) != 1)
        refuse(&w, "%s", "expected one statement");
    else
        walk_value(&w, statements, NULL);
    json_decref(tree);
    *reason = w.reason;
    *missing_table = w.missing_table;
    return w.reason == NULL;
}

/* ------------------------------------------------------------------ prefixes */

/* The end of a comment, which may hold others as the engine's may; NULL if it has none. */
static const char *after_comment(const char *p)
{
    size_t depth = 0;

    while (*p) {
        if (p[0] == '/' && p[1] == '*') {
            depth++;
            p += 2;
        } else if (p[0] == '*' && p[1] == '/') {
            p += 2;
            if (--depth == 0)
                return p;
        } else {
            p++;
        }
    }
    return NULL;
}

static const char *skip_blank(const char *p)
{
    for (;;) {
        while (isspace((unsigned char)*p))
            p++;
        if (p[0] == '-' && p[1] == '-') {
            while (*p && *p != '\n')
                p++;
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = after_comment(p);

            p = end ? end : p + strlen(p);
        } else {
            return p;
        }
    }
}

/* If the text begins with the word: what follows it, else NULL. */
static const char *after_word(const char *p, const char *word)
{
    size_t size = strlen(word);

    if (strncasecmp(p, word, size) != 0 || isalnum((unsigned char)p[size]) || p[size] == '_')
        return NULL;
    return skip_blank(p + size);
}

enum nx_guard_prefix nx_guard_split(const char *sql, const char **rest)
{
    const char *p = skip_blank(sql), *next = after_word(p, "EXPLAIN");

    *rest = sql;
    if (!next)
        return NX_PREFIX_NONE;
    *rest = after_word(next, "ANALYZE");
    if (*rest)
        return NX_PREFIX_EXPLAIN_ANALYZE;
    *rest = next;
    return NX_PREFIX_EXPLAIN;
}

bool nx_guard_is_command(const char *sql)
{
    static const char *const words[] = {
        "ABORT",  "ALTER",   "ANALYZE", "ATTACH",     "BEGIN",  "CALL",   "CHECKPOINT", "COMMENT", "COMMIT",
        "COPY",   "CREATE",  "DEALLOCATE", "DELETE",  "DETACH", "DROP",   "EXECUTE",    "EXPORT",  "FORCE",
        "GRANT",  "IMPORT",  "INSERT",  "INSTALL",    "LOAD",   "MERGE",  "PRAGMA",     "PREPARE", "RESET",
        "REVOKE", "ROLLBACK", "SET",    "START",      "TRUNCATE", "UPDATE", "USE",     "VACUUM",
    };
    const char *p = skip_blank(sql);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (after_word(p, words[i]))
            return true;
    return false;
}
