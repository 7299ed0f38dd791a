/*
 * One part of one table to a Parquet file, through DuckDB.
 *
 * The part becomes a DuckDB table function, and COPY scans it: DuckDB lends
 * vectors, the table fills them, DuckDB encodes and compresses them.  The
 * function runs in one thread, so rows keep their order; parts run in several.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/parquet_part.h"

/*
 * A dictionary becomes an ENUM, which the Parquet writer repeats in every row
 * group: worth it while it is small.  Beyond, its strings are handed over row
 * by row, and the writer builds a dictionary of each row group itself.
 */
#define ENUM_MAX 4096

struct scan { /* one part, while it is written */
    const struct nx_parquet_part *part;
    uint64_t next; /* row of the table */
    uint32_t **numbers; /* by column: dictionary numbers as the table puts them, one vector's worth */
    struct nx_vector *vectors;
    duckdb_vector *lent;
};

/* ------------------------------------------------------------------ a table, opened */

/* A copy of the entry's text as UTF-8. */
static struct nx_dict_entry mended_entry(struct nx_arena *arena, const struct nx_dict_entry *entry)
{
    struct nx_text text = {0};
    struct nx_dict_entry mended;

    nx_text_append_utf8(&text, entry->data, entry->size);
    mended = (struct nx_dict_entry){nx_arena_text(arena, text.data, text.size), (uint32_t)text.size};
    nx_text_free(&text);
    return mended;
}

/* The dictionary as it can be handed over, and whether as an ENUM. */
static void open_dictionary(struct nx_parquet_source *source, struct nx_parquet_column *column, const struct nx_dict *dict)
{
    struct nx_dict_entry *own = NULL;

    column->has_dictionary = true;
    column->entries = dict->entries;
    column->entry_count = dict->count;
    column->is_enum = dict->count > 0 && dict->count <= ENUM_MAX && dict->count <= source->rows;
    column->enum_width = dict->count <= UINT8_MAX ? 1 : dict->count <= UINT16_MAX ? 2 : 4;
    for (uint32_t i = 0; i < dict->count; i++) {
        const struct nx_dict_entry *entry = &dict->entries[i];

        /* names of an ENUM are C strings */
        if (column->is_enum && memchr(entry->data, 0, entry->size))
            column->is_enum = false;
        if (nx_text_is_utf8(entry->data, entry->size))
            continue;
        if (!own) {
            own = nx_arena_alloc(&source->texts, dict->count, sizeof(*own));
            memcpy(own, dict->entries, dict->count * sizeof(*own));
            column->entries = own;
            column->is_enum = false; /* two that differ may be the same when mended */
        }
        own[i] = mended_entry(&source->texts, entry);
    }
}

void nx_parquet_open_source(struct nx_parquet_source *source, const struct nx_table *table,
                            const struct nx_profile *profile)
{
    *source = (struct nx_parquet_source){.table = table, .schema = nx_schema_find(table->name, false)};
    source->state = table->open(profile);
    source->rows = source->schema ? table->count(source->state) : 0;
    if (!source->rows)
        return;
    source->columns = nx_zalloc(source->schema->column_count, sizeof(*source->columns));
    for (size_t c = 0; c < source->schema->column_count; c++) {
        const struct nx_dict *dict = table->dictionary ? table->dictionary(source->state, (unsigned)c) : NULL;

        source->columns[c].type = source->schema->columns[c].type;
        if (dict)
            open_dictionary(source, &source->columns[c], dict);
    }
}

void nx_parquet_close_source(struct nx_parquet_source *source)
{
    if (source->table)
        source->table->close(source->state);
    free(source->columns);
    nx_arena_free(&source->texts);
    *source = (struct nx_parquet_source){0};
}

/* ------------------------------------------------------------------ the table function */

/* Names in an input file may be any bytes; the database takes UTF-8 only, and does not check. */
static void put_text(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size)
{
    const struct scan *scan = chunk->sink;
    struct nx_text mended = {0};

    if (nx_text_is_utf8(bytes, size)) {
        duckdb_vector_assign_string_element_len(scan->lent[column], row, bytes, size);
    } else {
        nx_text_append_utf8(&mended, bytes, size);
        duckdb_vector_assign_string_element_len(scan->lent[column], row, mended.data, mended.size);
        nx_text_free(&mended);
    }
    nx_chunk_mark(chunk, column, row);
}

static duckdb_type scalar_type(enum nx_column_type type)
{
    switch (type) {
    case NX_TYPE_INT64:
        return DUCKDB_TYPE_BIGINT;
    case NX_TYPE_INT32:
        return DUCKDB_TYPE_INTEGER;
    case NX_TYPE_BOOL:
        return DUCKDB_TYPE_BOOLEAN;
    case NX_TYPE_TEXT:
    case NX_TYPE_ARRAY:
        return DUCKDB_TYPE_VARCHAR;
    default:
        return DUCKDB_TYPE_DOUBLE;
    }
}

static duckdb_logical_type make_type(const struct nx_parquet_column *column)
{
    duckdb_logical_type type;
    const char **names;

    if (!column->is_enum)
        return duckdb_create_logical_type(scalar_type(column->type));
    names = nx_alloc(column->entry_count * sizeof(*names));
    for (uint32_t i = 0; i < column->entry_count; i++)
        names[i] = column->entries[i].data;
    type = duckdb_create_enum_type(names, column->entry_count);
    free(names);
    return type;
}

static void bind(duckdb_bind_info info)
{
    const struct scan *scan = duckdb_bind_get_extra_info(info);
    const struct nx_parquet_source *source = scan->part->source;

    for (size_t c = 0; c < source->schema->column_count; c++) {
        duckdb_logical_type type = make_type(&source->columns[c]);

        duckdb_bind_add_result_column(info, source->schema->columns[c].name, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_bind_set_cardinality(info, scan->part->rows, true);
}

static void init(duckdb_init_info info)
{
    struct scan *scan = duckdb_init_get_extra_info(info);

    scan->next = scan->part->first;
    duckdb_init_set_max_threads(info, 1);
}

/* Every value is NULL until the table puts it. */
static void lend(struct scan *scan, duckdb_data_chunk output, uint32_t rows)
{
    for (size_t c = 0; c < scan->part->source->schema->column_count; c++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(output, c);

        duckdb_vector_ensure_validity_writable(vector);
        scan->lent[c] = vector;
        scan->vectors[c].valid = duckdb_vector_get_validity(vector);
        memset(scan->vectors[c].valid, 0, (rows + 63) / 64 * sizeof(uint64_t));
        scan->vectors[c].data = scan->numbers[c] ? (void *)scan->numbers[c] : duckdb_vector_get_data(vector);
    }
}

static bool is_valid(const struct nx_vector *vector, uint32_t row)
{
    return vector->valid[row >> 6] >> (row & 63) & 1;
}

/* Dictionary numbers, as the table put them, into DuckDB's own form. */
static void take_dictionary(const struct scan *scan, size_t c, uint32_t rows)
{
    const struct nx_parquet_column *column = &scan->part->source->columns[c];
    const struct nx_vector *vector = &scan->vectors[c];
    void *data = duckdb_vector_get_data(scan->lent[c]);

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t number = scan->numbers[c][row];

        if (!is_valid(vector, row))
            continue;
        if (!column->is_enum) {
            const struct nx_dict_entry *entry = &column->entries[number];

            duckdb_vector_assign_string_element_len(scan->lent[c], row, entry->data, entry->size);
        } else if (column->enum_width == 1) {
            ((uint8_t *)data)[row] = (uint8_t)number;
        } else if (column->enum_width == 2) {
            ((uint16_t *)data)[row] = (uint16_t)number;
        } else {
            ((uint32_t *)data)[row] = number;
        }
    }
}

static void fill(duckdb_function_info info, duckdb_data_chunk output)
{
    struct scan *scan = duckdb_function_get_extra_info(info);
    const struct nx_parquet_part *part = scan->part;
    uint64_t left = part->first + part->rows - scan->next, size = duckdb_vector_size();
    struct nx_chunk chunk = {.rows = (uint32_t)(left < size ? left : size),
                             .columns = scan->vectors,
                             .put_text = put_text,
                             .sink = scan};

    if (chunk.rows) {
        lend(scan, output, chunk.rows);
        part->source->table->fill(part->source->state, scan->next, &chunk);
        for (size_t c = 0; c < part->source->schema->column_count; c++)
            if (scan->numbers[c])
                take_dictionary(scan, c, chunk.rows);
        scan->next += chunk.rows;
        if (part->written)
            part->written(part->context, chunk.rows);
    }
    duckdb_data_chunk_set_size(output, chunk.rows);
}

/* ------------------------------------------------------------------ writing one part */

static bool run(duckdb_connection connection, const char *sql, struct nx_error *error)
{
    duckdb_result result;
    bool ok = duckdb_query(connection, sql, &result) == DuckDBSuccess;

    if (!ok)
        nx_fail(error, NX_FAILED, "%s", duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    return ok;
}

static bool register_scan(duckdb_connection connection, struct scan *scan, const char *name)
{
    duckdb_table_function function = duckdb_create_table_function();
    bool ok;

    duckdb_table_function_set_name(function, name);
    duckdb_table_function_set_extra_info(function, scan, NULL);
    duckdb_table_function_set_bind(function, bind);
    duckdb_table_function_set_init(function, init);
    duckdb_table_function_set_function(function, fill);
    ok = duckdb_register_table_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_table_function(&function);
    return ok;
}

/* 'text' with its quotes doubled, as an SQL string */
static void put_sql_string(struct nx_text *sql, const char *text)
{
    nx_text_puts(sql, "'");
    for (; *text; text++)
        nx_text_printf(sql, *text == '\'' ? "''" : "%c", *text);
    nx_text_puts(sql, "'");
}

static struct scan open_scan(const struct nx_parquet_part *part)
{
    size_t count = part->source->schema->column_count;
    struct scan scan = {.part = part,
                        .numbers = nx_zalloc(count, sizeof(*scan.numbers)),
                        .vectors = nx_zalloc(count, sizeof(*scan.vectors)),
                        .lent = nx_zalloc(count, sizeof(*scan.lent))};

    for (size_t c = 0; c < count; c++)
        if (part->source->columns[c].has_dictionary)
            scan.numbers[c] = nx_zalloc(duckdb_vector_size(), sizeof(*scan.numbers[c]));
    return scan;
}

static void close_scan(struct scan *scan)
{
    for (size_t c = 0; c < scan->part->source->schema->column_count; c++)
        free(scan->numbers[c]);
    free(scan->numbers);
    free(scan->vectors);
    free(scan->lent);
}

bool nx_parquet_write_part(duckdb_database database, const char *dir, const struct nx_parquet_part *part,
                           struct nx_error *error)
{
    const char *table = part->source->table->name;
    duckdb_connection connection;
    struct nx_text path = {0}, sql = {0};
    struct scan scan;
    char name[80];
    bool ok;

    if (duckdb_connect(database, &connection) != DuckDBSuccess) {
        nx_fail(error, NX_FAILED, "cannot connect to the database");
        return false;
    }
    scan = open_scan(part);
    snprintf(name, sizeof(name), "rows_of_%s_%d", table, part->number);
    nx_text_printf(&path, part->number < 0 ? "%s/%s.parquet" : "%s/%s_%d.parquet", dir, table, part->number);
    nx_text_printf(&sql, "COPY (SELECT * FROM \"%s\"()) TO ", name);
    put_sql_string(&sql, nx_text_string(&path));
    /* v2: delta encodings, a tenth smaller; pyarrow, pandas and DuckDB read it */
    nx_text_printf(&sql, " (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE %d)",
                   NX_PARQUET_ROW_GROUP);
    ok = register_scan(connection, &scan, name);
    if (!ok)
        nx_fail(error, NX_FAILED, "cannot register the table with the database");
    ok = ok && run(connection, nx_text_string(&sql), error);
    close_scan(&scan);
    nx_text_free(&path);
    nx_text_free(&sql);
    duckdb_disconnect(&connection);
    return ok;
}
