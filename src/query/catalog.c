#include "query/catalog.h"

#include <time.h>

#include "base/memory.h"

/* Of a file that is worth a copy. What the copy takes is measured besides: a few bytes can stand for long texts. */
#define COPY_BYTES ((uint64_t)1 << 20)
#define COPY_ROWS 20000
/* A file that was written just now can change again without its times showing it. */
#define SETTLED_NS 100000000

static bool run(duckdb_connection connection, const char *sql, char **why)
{
    duckdb_result result;
    bool ok = duckdb_query(connection, sql, &result) == DuckDBSuccess;

    if (!ok && why) {
        const char *text = duckdb_result_error(&result);

        *why = nx_strdup(text ? text : "the engine gave no reason");
    }
    duckdb_destroy_result(&result);
    return ok;
}

/* One number, or -1. */
static int64_t number(duckdb_connection connection, const char *sql)
{
    duckdb_result result;
    int64_t value = -1;

    if (duckdb_query(connection, sql, &result) == DuckDBSuccess) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(result);

        if (chunk && duckdb_data_chunk_get_size(chunk) == 1)
            value = ((int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 0)))[0];
        duckdb_destroy_data_chunk(&chunk);
    }
    duckdb_destroy_result(&result);
    return value;
}

void nx_catalog_files(const struct nx_catalog_table *table, struct nx_text *sql)
{
    for (size_t p = 0; p < table->part_count; p++)
        nx_text_printf(sql, "%s'/proc/self/fd/%d'", p ? "," : "", table->fds[p]);
}

/* "CREATE <kind> <table> AS SELECT <its files>" */
static void put_create(const struct nx_catalog_table *table, const char *kind, struct nx_text *sql)
{
    nx_text_printf(sql, "CREATE %s \"%s\" AS SELECT * FROM read_parquet([", kind, table->name);
    nx_catalog_files(table, sql);
    nx_text_puts(sql, "])");
}

static bool was_changed(const struct nx_catalog_table *table)
{
    const struct stat *then = &table->copied;
    struct stat now;

    return fstat(table->fds[0], &now) != 0 || now.st_size != then->st_size ||
           now.st_mtim.tv_sec != then->st_mtim.tv_sec || now.st_mtim.tv_nsec != then->st_mtim.tv_nsec ||
           now.st_ctim.tv_sec != then->st_ctim.tv_sec || now.st_ctim.tv_nsec != then->st_ctim.tv_nsec;
}

static bool drop_copy(duckdb_connection connection, struct nx_catalog_table *table, char **why)
{
    struct nx_text sql = {0};
    bool ok;

    nx_text_printf(&sql, "DROP TABLE \"%s\"", table->name);
    ok = run(connection, nx_text_string(&sql), why);
    nx_text_free(&sql);
    if (ok)
        table->state = NX_CATALOG_ABSENT;
    table->stays_view = true;
    return ok;
}

bool nx_catalog_show(duckdb_connection connection, struct nx_catalog_table *table, bool as_view, char **why)
{
    struct nx_text sql = {0};
    bool ok = true;

    if (table->state == NX_CATALOG_COPY && (as_view || was_changed(table)))
        ok = drop_copy(connection, table, why);
    if (ok && table->state == NX_CATALOG_ABSENT) {
        put_create(table, "VIEW", &sql);
        ok = run(connection, nx_text_string(&sql), why);
        if (ok)
            table->state = NX_CATALOG_VIEW;
    }
    nx_text_free(&sql);
    return ok;
}

static bool is_settled(const struct stat *file)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - file->st_ctim.tv_sec) * 1000000000LL + now.tv_nsec - file->st_ctim.tv_nsec > SETTLED_NS;
}

static bool is_small(duckdb_connection connection, const struct nx_catalog_table *table)
{
    struct nx_text sql = {0};
    int64_t rows;

    if (table->part_count != 1 || table->bytes > COPY_BYTES)
        return false;
    nx_text_printf(&sql, "SELECT count(*) FROM \"%s\"", table->name); /* the footer knows */
    rows = number(connection, nx_text_string(&sql));
    nx_text_free(&sql);
    return rows >= 0 && rows <= COPY_ROWS;
}

/* The copy takes the view's place, or nothing happens. */
static bool make_copy(duckdb_connection connection, const struct nx_catalog_table *table)
{
    struct nx_text sql = {0};
    bool ok;

    nx_text_printf(&sql, "BEGIN; DROP VIEW \"%s\"; ", table->name);
    put_create(table, "TABLE", &sql);
    nx_text_puts(&sql, "; COMMIT");
    ok = run(connection, nx_text_string(&sql), NULL);
    if (!ok)
        run(connection, "ROLLBACK", NULL);
    nx_text_free(&sql);
    return ok;
}

bool nx_catalog_keep(duckdb_connection connection, struct nx_catalog_table *table, uint64_t memory)
{
    int64_t taken;

    if (table->state != NX_CATALOG_VIEW || table->stays_view || fstat(table->fds[0], &table->copied) != 0 ||
        !is_settled(&table->copied))
        return false;
    if (!is_small(connection, table) || !make_copy(connection, table)) {
        table->stays_view = true;
        return true;
    }
    table->state = NX_CATALOG_COPY;
    taken = number(connection, "SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory() "
                               "WHERE tag IN ('IN_MEMORY_TABLE', 'OVERFLOW_STRINGS')");
    if (taken < 0 || (uint64_t)taken > memory)
        drop_copy(connection, table, NULL);
    return true;
}
