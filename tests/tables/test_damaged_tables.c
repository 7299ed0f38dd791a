/*
 * Tables of damaged files: every table is filled from every trace that could
 * still be read (tests/trace/damage.h), under sanitizers.  Whatever the values
 * are, a dictionary number must be one of the dictionary's, and intervals must
 * not run backwards.
 */
#include "../trace/damage.h"
#include "tables/table.h"

#define CHUNK 2048
#define MAX_ROWS 8192 /* of each table: enough to reach every branch */

struct sink { /* what a table writes into */
    struct nx_chunk chunk;
    size_t columns;
    size_t text_bytes;
};

static void count_text(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size)
{
    struct sink *sink = chunk->sink;

    assert_true(column < sink->columns);
    assert_true(row < chunk->rows);
    for (size_t i = 0; i < size; i++)
        sink->text_bytes += bytes[i] != '\0';
    nx_chunk_mark(chunk, column, row);
}

static struct sink sink_open(const struct nx_table_schema *schema)
{
    struct sink sink = {.columns = schema->column_count};

    sink.chunk.columns = nx_zalloc(schema->column_count, sizeof(struct nx_vector));
    for (size_t c = 0; c < schema->column_count; c++) {
        sink.chunk.columns[c].data = nx_alloc(CHUNK * sizeof(uint64_t));
        sink.chunk.columns[c].valid = nx_alloc(CHUNK / 8);
    }
    sink.chunk.put_text = count_text;
    return sink;
}

static void sink_close(struct sink *sink)
{
    for (size_t c = 0; c < sink->columns; c++) {
        free(sink->chunk.columns[c].data);
        free(sink->chunk.columns[c].valid);
    }
    free(sink->chunk.columns);
}

static bool is_valid(const struct nx_chunk *chunk, size_t column, uint32_t row)
{
    return chunk->columns[column].valid[row >> 6] >> (row & 63) & 1;
}

/* Of a device that nobody knows, figures that a table requires are NULL all the same: nothing says them. */
static bool device_known;

static void check_column(const struct nx_table *table, const void *state,
                         const struct nx_table_schema *schema, const struct nx_chunk *chunk, size_t column)
{
    const struct nx_column *c = &schema->columns[column];
    const struct nx_dict *dict = table->dictionary ? table->dictionary(state, (unsigned)column) : NULL;

    for (uint32_t row = 0; row < chunk->rows; row++) {
        if (!is_valid(chunk, column, row)) {
            if (c->required && device_known)
                fail_msg("%s.%s is required, and NULL in row %u", schema->name, c->name, row);
            continue;
        }
        if (dict)
            assert_true(((const uint32_t *)chunk->columns[column].data)[row] < dict->count);
        if (c->type == NX_TYPE_INT64 && !strcmp(c->name, "duration_ns"))
            assert_true(((const int64_t *)chunk->columns[column].data)[row] >= 0);
    }
}

static void fill_table(const struct nx_table *table, const struct nx_profile *profile)
{
    const struct nx_table_schema *schema = nx_schema_find(table->name, false);
    void *state = table->open(profile);
    uint64_t rows = table->count(state);
    struct sink sink;

    assert_non_null(schema);
    sink = sink_open(schema);
    sink.chunk.sink = &sink;
    for (uint64_t first = 0; first < rows && first < MAX_ROWS; first += CHUNK) {
        sink.chunk.rows = rows - first < CHUNK ? (uint32_t)(rows - first) : CHUNK;
        for (size_t c = 0; c < sink.columns; c++)
            memset(sink.chunk.columns[c].valid, 0, CHUNK / 8);
        table->fill(state, first, &sink.chunk);
        for (size_t c = 0; c < sink.columns; c++)
            check_column(table, state, schema, &sink.chunk, c);
    }
    sink_close(&sink);
    table->close(state);
}

static void fill_all(const struct nx_neff *neff, const struct nx_ntff *ntff, const struct nx_trace *trace)
{
    struct nx_profile profile = {.name = "damaged",
                                 .explorer_version = NX_VERSION,
                                 .neff = neff,
                                 .ntff = ntff,
                                 .trace = trace,
                                 .warnings = &trace->warnings};

    device_known = trace->device != NULL;
    for (size_t t = 0; nx_tables[t]; t++)
        fill_table(nx_tables[t], &profile);
}

static void tables_of_a_damaged_v4_profile(void **state)
{
    (void)state;
    damage_real("vector-add-trn1-fd1k", 8, fill_all);
}

static void tables_of_a_damaged_v6_profile(void **state)
{
    (void)state;
    damage_real("attention-fused-fp32-s512", 16, fill_all);
}

static void tables_of_damaged_generated_profiles(void **state)
{
    (void)state;
    damage_generated(16, fill_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_a_damaged_v4_profile),
        cmocka_unit_test(tables_of_a_damaged_v6_profile),
        cmocka_unit_test(tables_of_damaged_generated_profiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
