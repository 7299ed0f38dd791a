#include "recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/schema.h"

#define CHUNK 2048 /* rows; DuckDB's vector size */
#define WORDS (CHUNK / 64)

struct text {
    const char *data;
    size_t size;
};

struct column {
    size_t width; /* bytes of a value; of a struct text where the text has no dictionary */
    bool is_text;
    char *values;    /* of all rows */
    uint64_t *valid; /* WORDS a chunk */
};

struct nx_recording {
    struct nx_table table;
    const struct nx_table *original;
    void *state; /* of the original: its dictionaries */
    size_t column_count;
    struct column *columns;
    uint64_t rows;
    struct nx_arena texts;
    /* while it is made: */
    bool keep;
    unsigned slot;
    uint64_t first;
};

/*
 * A table is opened without being told which, and by several threads: so each
 * recording has an open function of its own.
 */
static struct nx_recording *slots[NX_RECORDINGS_MAX];

#define SLOT(n)                                                                                                        \
    static void *open_##n(const struct nx_profile *profile)                                                            \
    {                                                                                                                  \
        (void)profile;                                                                                                 \
        return slots[0x##n];                                                                                           \
    }
#define ROW(EACH, n)                                                                                                   \
    EACH(n##0) EACH(n##1) EACH(n##2) EACH(n##3) EACH(n##4) EACH(n##5) EACH(n##6) EACH(n##7) EACH(n##8) EACH(n##9)      \
    EACH(n##a) EACH(n##b) EACH(n##c) EACH(n##d) EACH(n##e) EACH(n##f)
#define ALL(EACH) ROW(EACH, 0) ROW(EACH, 1) ROW(EACH, 2) ROW(EACH, 3)
ALL(SLOT)
#define ITS_OPEN(n) open_##n,
static void *(*const open_slot[NX_RECORDINGS_MAX])(const struct nx_profile *) = {ALL(ITS_OPEN)};

static unsigned free_slot(void)
{
    unsigned slot = 0;

    while (slot < NX_RECORDINGS_MAX && slots[slot])
        slot++;
    if (slot == NX_RECORDINGS_MAX)
        abort();
    return slot;
}

static void keep_text(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size)
{
    struct nx_recording *r = chunk->sink;

    if (r->keep)
        ((struct text *)r->columns[column].values)[r->first + row] =
            (struct text){nx_arena_text(&r->texts, bytes, size), size};
    nx_chunk_mark(chunk, column, row);
}

static size_t width_of(enum nx_column_type type)
{
    return type == NX_TYPE_BOOL ? 1 : type == NX_TYPE_INT32 ? 4 : 8;
}

static void open_columns(struct nx_recording *r, const struct nx_table_schema *schema)
{
    uint64_t chunks = (r->rows + CHUNK - 1) / CHUNK, room = r->keep ? chunks * CHUNK : CHUNK;

    r->column_count = schema->column_count;
    r->columns = nx_zalloc(r->column_count, sizeof(*r->columns));
    for (size_t c = 0; c < r->column_count; c++) {
        struct column *column = &r->columns[c];
        bool text = schema->columns[c].type == NX_TYPE_TEXT || schema->columns[c].type == NX_TYPE_ARRAY;
        bool dictionary = r->original->dictionary && r->original->dictionary(r->state, (unsigned)c);

        column->is_text = text && !dictionary;
        column->width = column->is_text ? sizeof(struct text) : dictionary ? 4 : width_of(schema->columns[c].type);
        column->values = nx_zalloc(room, column->width);
        column->valid = nx_zalloc(room / 64, sizeof(*column->valid));
    }
}

static void record_chunk(struct nx_recording *r, struct nx_vector *vectors, uint32_t rows)
{
    struct nx_chunk chunk = {.rows = rows, .columns = vectors, .put_text = keep_text, .sink = r};
    uint64_t at = r->keep ? r->first : 0;

    for (size_t c = 0; c < r->column_count; c++) {
        vectors[c].data = r->columns[c].values + at * r->columns[c].width;
        vectors[c].valid = r->columns[c].valid + at / 64;
        if (!r->keep)
            memset(vectors[c].valid, 0, WORDS * sizeof(uint64_t));
    }
    r->original->fill(r->state, r->first, &chunk);
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct nx_recording *)opaque)->rows;
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct nx_recording *r = opaque;

    for (unsigned c = 0; c < r->column_count; c++) {
        const struct column *column = &r->columns[c];
        const uint64_t *valid = column->valid + first / 64;

        if (!column->is_text) {
            memcpy(chunk->columns[c].data, column->values + first * column->width, chunk->rows * column->width);
            memcpy(chunk->columns[c].valid, valid, (chunk->rows + 63) / 64 * sizeof(*valid));
            continue;
        }
        for (uint32_t row = 0; row < chunk->rows; row++) {
            const struct text *text = &((const struct text *)column->values)[first + row];

            if (valid[row / 64] >> (row % 64) & 1)
                chunk->put_text(chunk, c, row, text->data, text->size);
        }
    }
}

static const struct nx_dict *dictionary(const void *opaque, unsigned column)
{
    const struct nx_recording *r = opaque;

    return r->original->dictionary ? r->original->dictionary(r->state, column) : NULL;
}

static void close_recording(void *opaque)
{
    (void)opaque; /* nx_recording_free */
}

struct nx_recording *nx_recording_make(const struct nx_table *table, const struct nx_profile *profile, bool keep,
                                       uint64_t *rows, uint64_t *bytes)
{
    struct nx_recording *r = nx_zalloc(1, sizeof(*r));
    unsigned slot = free_slot();
    struct nx_vector *vectors;

    *r = (struct nx_recording){.original = table, .keep = keep, .slot = slot};
    slots[slot] = r;
    r->table = (struct nx_table){table->name, open_slot[slot], count_rows, fill, dictionary, close_recording};
    r->state = table->open(profile);
    r->rows = table->count(r->state);
    open_columns(r, nx_schema_find(table->name, false));
    vectors = nx_zalloc(r->column_count, sizeof(*vectors));
    for (r->first = 0; r->first < r->rows; r->first += CHUNK)
        record_chunk(r, vectors, r->rows - r->first < CHUNK ? (uint32_t)(r->rows - r->first) : CHUNK);
    free(vectors);
    *rows += r->rows;
    for (size_t c = 0; c < r->column_count; c++)
        *bytes += r->rows * r->columns[c].width;
    return r;
}

const struct nx_table *nx_recording_table(const struct nx_recording *recording)
{
    return &recording->table;
}

void nx_recording_free(struct nx_recording *r)
{
    if (!r)
        return;
    slots[r->slot] = NULL;
    r->original->close(r->state);
    for (size_t c = 0; c < r->column_count; c++) {
        free(r->columns[c].values);
        free(r->columns[c].valid);
    }
    free(r->columns);
    nx_arena_free(&r->texts);
    free(r);
}
