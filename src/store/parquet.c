/*
 * All tables of a profile to Parquet: which parts there are, and which thread writes what.
 *
 * The jobs are shared out among threads: first every table is opened (its rows are
 * worked out), then every part is written, the largest first.  What the parts
 * are depends on the numbers of rows alone, so the files do not depend on the
 * number of threads.
 */
#include "store/parquet.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/jobs.h"
#include "base/memory.h"
#include "store/parquet_part.h"

/* A table of more rows than that becomes several files, of which both cores can write; but not of hundreds. */
#define PART_ROWS (8 * (uint64_t)NX_PARQUET_ROW_GROUP)
#define MAX_PARTS 64

struct writer {
    const char *dir;
    const struct nx_table *const *tables;
    const struct nx_profile *profile;
    duckdb_database database;
    struct nx_parquet_source *sources; /* as `tables` */
    size_t source_count;
    struct nx_parquet_part *parts; /* largest first */
    size_t part_count;
    uint64_t total, written;
    nx_progress *progress;
    void *context;
    pthread_mutex_t lock; /* of written, failed and error */
    bool failed;
    struct nx_error error;
};

/* ------------------------------------------------------------------ jobs */

static void open_table(void *context, size_t number)
{
    struct writer *writer = context;

    nx_parquet_open_source(&writer->sources[number], writer->tables[number], writer->profile);
}

static void fail(struct writer *writer, const struct nx_parquet_part *part, const struct nx_error *why)
{
    bool full = strstr(why->text, "No space left") || strstr(why->text, strerror(EDQUOT));

    pthread_mutex_lock(&writer->lock);
    if (!writer->failed)
        nx_fail(&writer->error, full ? NX_UNAVAILABLE : NX_FAILED, "cannot write table %s: %s",
                part->source->table->name, why->text);
    writer->failed = true;
    pthread_mutex_unlock(&writer->lock);
}

static bool has_failed(struct writer *writer)
{
    bool failed;

    pthread_mutex_lock(&writer->lock);
    failed = writer->failed;
    pthread_mutex_unlock(&writer->lock);
    return failed;
}

static void write_part(void *context, size_t number)
{
    struct writer *writer = context;
    struct nx_error why;

    if (!has_failed(writer) && !nx_parquet_write_part(writer->database, writer->dir, &writer->parts[number], &why))
        fail(writer, &writer->parts[number], &why);
}

/* ------------------------------------------------------------------ parts */

static void written(void *context, uint64_t rows)
{
    struct writer *writer = context;

    pthread_mutex_lock(&writer->lock);
    writer->written += rows;
    if (writer->progress)
        writer->progress(writer->context, writer->written, writer->total);
    pthread_mutex_unlock(&writer->lock);
}

/* Rows of each part but the last: whole row groups. */
static uint64_t rows_of_part(uint64_t rows)
{
    uint64_t groups = (rows / MAX_PARTS + NX_PARQUET_ROW_GROUP) / NX_PARQUET_ROW_GROUP;
    uint64_t size = groups * NX_PARQUET_ROW_GROUP;

    return size > PART_ROWS ? size : PART_ROWS;
}

static void add_parts(struct writer *writer, const struct nx_parquet_source *source, size_t *capacity)
{
    uint64_t size = rows_of_part(source->rows);

    writer->total += source->rows;
    for (uint64_t first = 0; first < source->rows; first += size) {
        uint64_t left = source->rows - first;

        writer->parts = nx_grow(writer->parts, writer->part_count, capacity, sizeof(*writer->parts));
        writer->parts[writer->part_count++] =
            (struct nx_parquet_part){.source = source,
                                     .first = first,
                                     .rows = left < size ? left : size,
                                     .number = source->rows > size ? (int)(first / size) : -1,
                                     .written = written,
                                     .context = writer};
    }
}

/* By cells, which is what writing takes; whatever is left to do last should be small. */
static int largest_first(const void *left, const void *right)
{
    const struct nx_parquet_part *a = left, *b = right;
    uint64_t cells_a = a->rows * a->source->schema->column_count, cells_b = b->rows * b->source->schema->column_count;

    if (cells_a != cells_b)
        return cells_a < cells_b ? 1 : -1;
    if (a->source != b->source)
        return strcmp(a->source->table->name, b->source->table->name);
    return a->number - b->number;
}

static void make_parts(struct writer *writer)
{
    size_t capacity = 0;

    for (size_t i = 0; i < writer->source_count; i++)
        add_parts(writer, &writer->sources[i], &capacity);
    if (writer->part_count)
        qsort(writer->parts, writer->part_count, sizeof(*writer->parts), largest_first);
}

/*
 * The engine starts no threads of its own: each part is written by the thread that asks for it.  With helpers, that
 * thread would spin while one of them has its work, which took a sixth of the CPU time of an ingestion.
 */
static bool open_database(struct writer *writer, struct nx_error *error)
{
    duckdb_config config;
    char *why = NULL;
    bool ok;

    if (duckdb_create_config(&config) != DuckDBSuccess) {
        nx_fail(error, NX_FAILED, "cannot configure the database");
        return false;
    }
    duckdb_set_config(config, "threads", "1");
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
    struct writer writer = {.dir = dir,
                            .tables = tables,
                            .profile = profile,
                            .progress = progress,
                            .context = context,
                            .lock = PTHREAD_MUTEX_INITIALIZER};

    if (!open_database(&writer, error))
        return error->status;
    while (tables[writer.source_count])
        writer.source_count++;
    writer.sources = nx_zalloc(writer.source_count, sizeof(*writer.sources));
    nx_jobs_run(open_table, &writer, writer.source_count, threads);
    make_parts(&writer);
    nx_jobs_run(write_part, &writer, writer.part_count, threads);
    for (size_t i = 0; i < writer.source_count; i++)
        nx_parquet_close_source(&writer.sources[i]);
    free(writer.sources);
    free(writer.parts);
    duckdb_close(&writer.database);
    if (!writer.failed)
        return NX_OK;
    *error = writer.error;
    return error->status;
}
