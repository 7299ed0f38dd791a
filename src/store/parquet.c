/*
 * Tables to Parquet, through DuckDB.
 *
 * A table becomes a DuckDB table function, and COPY scans it: DuckDB lends
 * vectors, the table fills them, DuckDB encodes and compresses them.  Each
 * function runs in one thread, so rows keep their order; two tables are
 * written at a time to use a second core.
 */
#include "store/parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <duckdb.h>

#include "base/memory.h"

/*
 * A dictionary becomes an ENUM, which the Parquet writer repeats in every row
 * group: worth it while it is small.  Beyond, its strings are handed over row
 * by row, and the writer builds a dictionary of each row group itself.
 */
#define ENUM_MAX 4096
#define ROW_GROUP_SIZE 122880 /* rows; a multiple of DuckDB's vector size */

struct column {
    enum nx_column_type type;
    const struct nx_dict_entry *entries; /* of its dictionary, as UTF-8 */
    uint32_t entry_count;
    bool is_enum;
    unsigned enum_width; /* bytes of DuckDB's vector of this ENUM: 1, 2 or 4 */
    uint32_t *numbers;   /* as the table puts them, one vector's worth; NULL: no dictionary */
};

struct source { /* one table, on its way to a file */
    const struct nx_table *table;
    const struct nx_table_schema *schema;
    void *state;
    uint64_t rows, next;
    struct column *columns;
    struct nx_vector *vectors;
    duckdb_vector *lent;
    struct nx_arena texts; /* entries of dictionaries that were not UTF-8 */
    struct writer *writer;
};

struct writer {
    const char *dir;
    duckdb_database database;
    struct source *sources; /* largest first */
    size_t count, taken;
    uint64_t total, written;
    nx_progress *progress;
    void *context;
    pthread_mutex_t lock; /* of taken, written, failed and error */
    bool failed;
    struct nx_error error;
};

/* ------------------------------------------------------------------ the table function */

/* Names in an input file may be any bytes; the database takes UTF-8 only, and does not check. */
static void put_text(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size)
{
    const struct source *source = chunk->sink;
    struct nx_text mended = {0};

    if (nx_text_is_utf8(bytes, size)) {
        duckdb_vector_assign_string_element_len(source->lent[column], row, bytes, size);
    } else {
        nx_text_append_utf8(&mended, bytes, size);
        duckdb_vector_assign_string_element_len(source->lent[column], row, mended.data, mended.size);
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

static duckdb_logical_type make_type(const struct column *column)
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
    struct source *source = duckdb_bind_get_extra_info(info);

    for (size_t c = 0; c < source->schema->column_count; c++) {
        duckdb_logical_type type = make_type(&source->columns[c]);

        duckdb_bind_add_result_column(info, source->schema->columns[c].name, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_bind_set_cardinality(info, source->rows, true);
}

static void init(duckdb_init_info info)
{
    struct source *source = duckdb_init_get_extra_info(info);

    source->next = 0;
    duckdb_init_set_max_threads(info, 1);
}

/* Every value is NULL until the table puts it. */
static void lend(struct source *source, duckdb_data_chunk output, uint32_t rows)
{
    for (size_t c = 0; c < source->schema->column_count; c++) {
        duckdb_vector vector = duckdb_data_chunk_get_vector(output, c);
        struct column *column = &source->columns[c];

        duckdb_vector_ensure_validity_writable(vector);
        source->lent[c] = vector;
        source->vectors[c].valid = duckdb_vector_get_validity(vector);
        memset(source->vectors[c].valid, 0, (rows + 63) / 64 * sizeof(uint64_t));
        source->vectors[c].data = column->numbers ? (void *)column->numbers : duckdb_vector_get_data(vector);
    }
}

static bool is_valid(const struct nx_vector *vector, uint32_t row)
{
    return vector->valid[row >> 6] >> (row & 63) & 1;
}

/* Dictionary numbers, as the table put them, into DuckDB's own form. */
static void take_dictionary(const struct source *source, size_t c, uint32_t rows)
{
    const struct column *column = &source->columns[c];
    const struct nx_vector *vector = &source->vectors[c];
    void *data = duckdb_vector_get_data(source->lent[c]);

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t number = column->numbers[row];

        if (!is_valid(vector, row))
            continue;
        if (!column->is_enum) {
            const struct nx_dict_entry *entry = &column->entries[number];

            duckdb_vector_assign_string_element_len(source->lent[c], row, entry->data, entry->size);
        } else if (column->enum_width == 1) {
            ((uint8_t *)data)[row] = (uint8_t)number;
        } else if (column->enum_width == 2) {
            ((uint16_t *)data)[row] = (uint16_t)number;
        } else {
            ((uint32_t *)data)[row] = number;
        }
    }
}

static void report(struct writer *writer, uint64_t rows)
{
    pthread_mutex_lock(&writer->lock);
    writer->written += rows;
    if (writer->progress)
        writer->progress(writer->context, writer->written, writer->total);
    pthread_mutex_unlock(&writer->lock);
}

static void fill(duckdb_function_info info, duckdb_data_chunk output)
{
    struct source *source = duckdb_function_get_extra_info(info);
    uint64_t left = source->rows - source->next, size = duckdb_vector_size();
    struct nx_chunk chunk = {.rows = (uint32_t)(left < size ? left : size),
                             .columns = source->vectors,
                             .put_text = put_text,
                             .sink = source};

    if (chunk.rows) {
        lend(source, output, chunk.rows);
        source->table->fill(source->state, source->next, &chunk);
        for (size_t c = 0; c < source->schema->column_count; c++)
            if (source->columns[c].numbers)
                take_dictionary(source, c, chunk.rows);
        source->next += chunk.rows;
        report(source->writer, chunk.rows);
    }
    duckdb_data_chunk_set_size(output, chunk.rows);
}

/* ------------------------------------------------------------------ writing one table */

static bool run(duckdb_connection connection, const char *sql, struct nx_error *error)
{
    duckdb_result result;
    bool ok = duckdb_query(connection, sql, &result) == DuckDBSuccess;

    if (!ok)
        nx_fail(error, NX_FAILED, "%s", duckdb_result_error(&result));
    duckdb_destroy_result(&result);
    return ok;
}

static bool register_source(duckdb_connection connection, struct source *source, const char *name)
{
    duckdb_table_function function = duckdb_create_table_function();
    bool ok;

    duckdb_table_function_set_name(function, name);
    duckdb_table_function_set_extra_info(function, source, NULL);
    duckdb_table_function_set_bind(function, bind);
    duckdb_table_function_set_init(function, init);
    duckdb_table_function_set_function(function, fill);
    ok = duckdb_register_table_function(connection, function) == DuckDBSuccess;
    duckdb_destroy_table_function(&function);
    return ok;
}

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
static void open_dictionary(struct source *source, struct column *column, const struct nx_dict *dict)
{
    struct nx_dict_entry *own = NULL;

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

static void open_columns(struct source *source)
{
    size_t count = source->schema->column_count;

    source->columns = nx_zalloc(count, sizeof(*source->columns));
    source->vectors = nx_zalloc(count, sizeof(*source->vectors));
    source->lent = nx_zalloc(count, sizeof(*source->lent));
    for (size_t c = 0; c < count; c++) {
        struct column *column = &source->columns[c];
        const struct nx_dict *dict = NULL;

        column->type = source->schema->columns[c].type;
        if (source->table->dictionary)
            dict = source->table->dictionary(source->state, (unsigned)c);
        if (!dict)
            continue;
        column->numbers = nx_zalloc(duckdb_vector_size(), sizeof(*column->numbers));
        open_dictionary(source, column, dict);
    }
}

static void close_columns(struct source *source)
{
    for (size_t c = 0; source->columns && c < source->schema->column_count; c++)
        free(source->columns[c].numbers);
    free(source->columns);
    free(source->vectors);
    free(source->lent);
    nx_arena_free(&source->texts);
    source->columns = NULL;
    source->vectors = NULL;
    source->lent = NULL;
}

/* 'text' with its quotes doubled, as an SQL string */
static void put_sql_string(struct nx_text *sql, const char *text)
{
    nx_text_puts(sql, "'");
    for (; *text; text++)
        nx_text_printf(sql, *text == '\'' ? "''" : "%c", *text);
    nx_text_puts(sql, "'");
}

static bool write_source(struct writer *writer, struct source *source, struct nx_error *error)
{
    duckdb_connection connection;
    struct nx_text path = {0}, sql = {0};
    char name[64];
    bool ok;

    if (duckdb_connect(writer->database, &connection) != DuckDBSuccess) {
        nx_fail(error, NX_FAILED, "cannot connect to the database");
        return false;
    }
    open_columns(source);
    snprintf(name, sizeof(name), "rows_of_%s", source->table->name);
    nx_text_printf(&path, "%s/%s.parquet", writer->dir, source->table->name);
    nx_text_printf(&sql, "COPY (SELECT * FROM %s()) TO ", name);
    put_sql_string(&sql, nx_text_string(&path));
    /* v2: delta encodings, a tenth smaller; pyarrow, pandas and DuckDB read it */
    nx_text_printf(&sql, " (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE %d)",
                   ROW_GROUP_SIZE);
    ok = register_source(connection, source, name);
    if (!ok)
        nx_fail(error, NX_FAILED, "cannot register the table with the database");
    ok = ok && run(connection, nx_text_string(&sql), error);
    close_columns(source);
    nx_text_free(&path);
    nx_text_free(&sql);
    duckdb_disconnect(&connection);
    return ok;
}

/* ------------------------------------------------------------------ all tables */

static struct source *take(struct writer *writer)
{
    struct source *source = NULL;

    pthread_mutex_lock(&writer->lock);
    if (!writer->failed && writer->taken < writer->count)
        source = &writer->sources[writer->taken++];
    pthread_mutex_unlock(&writer->lock);
    return source;
}

static void fail(struct writer *writer, const struct source *source, const struct nx_error *why)
{
    bool full = strstr(why->text, "No space left") || strstr(why->text, strerror(EDQUOT));

    pthread_mutex_lock(&writer->lock);
    if (!writer->failed)
        nx_fail(&writer->error, full ? NX_UNAVAILABLE : NX_FAILED, "cannot write table %s: %s",
                source->table->name, why->text);
    writer->failed = true;
    pthread_mutex_unlock(&writer->lock);
}

static void *work(void *opaque)
{
    struct writer *writer = opaque;
    struct source *source;
    struct nx_error why;

    while ((source = take(writer)))
        if (!write_source(writer, source, &why))
            fail(writer, source, &why);
    return NULL;
}

static int largest_first(const void *left, const void *right)
{
    const struct source *a = left, *b = right;

    if (a->rows != b->rows)
        return a->rows < b->rows ? 1 : -1;
    return strcmp(a->table->name, b->table->name);
}

static void open_sources(struct writer *writer, const struct nx_table *const *tables,
                         const struct nx_profile *profile)
{
    size_t count = 0;

    while (tables[count])
        count++;
    writer->sources = nx_zalloc(count, sizeof(*writer->sources));
    for (size_t i = 0; i < count; i++) {
        struct source *source = &writer->sources[writer->count];

        *source = (struct source){.table = tables[i],
                                  .schema = nx_schema_find(tables[i]->name, false),
                                  .state = tables[i]->open(profile),
                                  .writer = writer};
        source->rows = tables[i]->count(source->state);
        if (source->rows && source->schema) {
            writer->total += source->rows;
            writer->count++;
        } else {
            tables[i]->close(source->state);
        }
    }
    qsort(writer->sources, writer->count, sizeof(*writer->sources), largest_first);
}

static bool open_database(struct writer *writer, unsigned threads, struct nx_error *error)
{
    duckdb_config config;
    char count[16];
    char *why = NULL;
    bool ok;

    snprintf(count, sizeof(count), "%u", threads);
    if (duckdb_create_config(&config) != DuckDBSuccess) {
        nx_fail(error, NX_FAILED, "cannot configure the database");
        return false;
    }
    duckdb_set_config(config, "threads", count);
    duckdb_set_config(config, "autoinstall_known_extensions", "false");
    duckdb_set_config(config, "autoload_known_extensions", "false");
    duckdb_set_config(config, "temp_directory", "");
    ok = duckdb_open_ext(NULL, &writer->database, config, &why) == DuckDBSuccess;
    if (!ok)
        nx_fail(error, NX_FAILED, "cannot start the database: %s", why ? why : "unknown reason");
    duckdb_free(why);
    duckdb_destroy_config(&config);
    return ok;
}

enum nx_status nx_parquet_write(const char *dir, const struct nx_table *const *tables,
                                const struct nx_profile *profile, unsigned threads,
                                nx_progress *progress, void *context, struct nx_error *error)
{
    struct writer writer = {
        .dir = dir, .progress = progress, .context = context, .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t second;
    bool has_second;

    if (!open_database(&writer, threads ? threads : 1, error))
        return error->status;
    open_sources(&writer, tables, profile);
    has_second = threads > 1 && pthread_create(&second, NULL, work, &writer) == 0;
    work(&writer);
    if (has_second)
        pthread_join(second, NULL);
    for (size_t i = 0; i < writer.count; i++)
        writer.sources[i].table->close(writer.sources[i].state);
    free(writer.sources);
    duckdb_close(&writer.database);
    if (!writer.failed)
        return NX_OK;
    *error = writer.error;
    return error->status;
}
