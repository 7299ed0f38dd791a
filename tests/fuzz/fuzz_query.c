/* From the body of a request to the verdict on its SQL: JSON, the words in front, the engine's syntax tree, the guard. */
#include <stdlib.h>
#include <string.h>

#include <duckdb.h>
#include <jansson.h>

#include "fuzz/fuzz.h"
#include "query/guard.h"

static duckdb_connection connection;
static duckdb_prepared_statement serialize;

static void open_engine(void)
{
    duckdb_database database;

    if (duckdb_open(NULL, &database) != DuckDBSuccess || duckdb_connect(database, &connection) != DuckDBSuccess ||
        duckdb_prepare(connection, "SELECT json_serialize_sql(?::VARCHAR)", &serialize) != DuckDBSuccess)
        abort();
}

static void vet(const char *sql)
{
    static const char *const tables[] = {"Summary", "Instruction", "DmaPacket"};
    bool named[3] = {false};
    const char *rest;
    char *tree, *reason = NULL, *missing = NULL;
    duckdb_result result;

    nx_guard_is_command(sql);
    nx_guard_split(sql, &rest);
    if (duckdb_bind_varchar(serialize, 1, rest) != DuckDBSuccess)
        return;
    if (duckdb_execute_prepared(serialize, &result) == DuckDBSuccess) {
        tree = duckdb_value_varchar(&result, 0, 0);
        if (tree) {
            nx_guard_check(tree, strlen(tree), tables, 3, named, &reason, &missing);
            free(reason);
            free(missing);
            duckdb_free(tree);
        }
    }
    duckdb_destroy_result(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_error_t why;
    json_t *body = json_loadb((const char *)data, size, 0, &why);
    const char *sql = json_string_value(json_object_get(body, "query"));

    if (!connection)
        open_engine();
    if (sql) {
        vet(sql);
    } else { /* the bytes themselves: JSON is found too seldom */
        char *text = strndup((const char *)data, size);

        vet(text);
        free(text);
    }
    json_decref(body);
    return 0;
}
