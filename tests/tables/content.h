/* content.h - a whole table in memory, value by value.  For inclusion by test programs. */
#ifndef NX_TESTS_TABLES_CONTENT_H
#define NX_TESTS_TABLES_CONTENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "tables/table.h"

/* All rows of a table in one chunk; a text without a dictionary is kept as the number of an entry of `texts`. */
struct content {
    const struct nx_table *table;
    void *state;
    struct nx_chunk chunk;
    struct nx_dict texts;
};

static inline void keep_text(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size)
{
    struct content *content = chunk->sink;

    ((uint32_t *)chunk->columns[column].data)[row] = nx_dict_add(&content->texts, bytes, size);
    nx_chunk_mark(chunk, column, row);
}

static inline void read_content(const struct nx_table *table, const struct nx_profile *profile,
                         struct content *content)
{
    const struct nx_table_schema *schema = nx_schema_find(table->name, false);
    void *state = table->open(profile);

    *content = (struct content){.table = table, .state = state};
    content->chunk.rows = (uint32_t)table->count(state);
    content->chunk.columns = nx_zalloc(schema->column_count, sizeof(struct nx_vector));
    content->chunk.put_text = keep_text;
    content->chunk.sink = content;
    for (size_t c = 0; c < schema->column_count; c++) {
        content->chunk.columns[c].data = nx_zalloc((size_t)content->chunk.rows + 1, sizeof(uint64_t));
        content->chunk.columns[c].valid = nx_zalloc((size_t)content->chunk.rows / 64 + 1, sizeof(uint64_t));
    }
    table->fill(state, 0, &content->chunk);
}

static inline void close_content(struct content *content)
{
    const struct nx_table_schema *schema = nx_schema_find(content->table->name, false);

    for (size_t c = 0; c < schema->column_count; c++) {
        free(content->chunk.columns[c].data);
        free(content->chunk.columns[c].valid);
    }
    free(content->chunk.columns);
    nx_dict_free(&content->texts);
    content->table->close(content->state);
}

static inline bool is_null(const struct content *content, unsigned column, uint32_t row)
{
    return !(content->chunk.columns[column].valid[row >> 6] >> (row & 63) & 1);
}

static inline int64_t integer(const struct content *content, unsigned column, uint32_t row)
{
    assert_false(is_null(content, column, row));
    return ((const int64_t *)content->chunk.columns[column].data)[row];
}

static inline int32_t integer32(const struct content *content, unsigned column, uint32_t row)
{
    assert_false(is_null(content, column, row));
    return ((const int32_t *)content->chunk.columns[column].data)[row];
}

static inline double number(const struct content *content, unsigned column, uint32_t row)
{
    assert_false(is_null(content, column, row));
    return ((const double *)content->chunk.columns[column].data)[row];
}

static inline const char *text(const struct content *content, unsigned column, uint32_t row)
{
    const struct nx_dict *dict =
        content->table->dictionary ? content->table->dictionary(content->state, column) : NULL;

    assert_false(is_null(content, column, row));
    return (dict ? dict : &content->texts)->entries[((const uint32_t *)content->chunk.columns[column].data)[row]].data;
}

#endif
