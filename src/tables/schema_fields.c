/* SchemaFields: the schema as a table, one row for each column of each table. */
#include <stdlib.h>

#include "base/memory.h"
#include "tables/table.h"

struct field {
    const struct nx_table_schema *table;
    const struct nx_column *column;
};

struct state {
    struct field *fields;
    uint64_t count;
};

static void *open_table(const struct nx_profile *profile)
{
    struct state *state = nx_zalloc(1, sizeof(*state));
    size_t total = 0;

    (void)profile; /* the same for every profile of this schema */
    for (size_t t = 0; t < nx_schema_count; t++)
        total += nx_schema[t].column_count;
    state->fields = nx_alloc(total * sizeof(*state->fields));
    for (size_t t = 0; t < nx_schema_count; t++)
        for (size_t c = 0; c < nx_schema[t].column_count; c++)
            state->fields[state->count++] = (struct field){&nx_schema[t], &nx_schema[t].columns[c]};
    return state;
}

static uint64_t count_rows(const void *opaque)
{
    return ((const struct state *)opaque)->count;
}

static void put_enum_values(struct nx_chunk *chunk, uint32_t row, const struct nx_enum *values)
{
    struct nx_text text = {0};

    for (size_t i = 0; i < values->value_count; i++)
        nx_text_printf(&text, "%s%s", i ? "," : "", values->values[i]);
    nx_put_text(chunk, NX_SchemaFields_field_enum_values, row, nx_text_string(&text));
    nx_text_free(&text);
}

static void fill(const void *opaque, uint64_t first, struct nx_chunk *chunk)
{
    const struct state *state = opaque;

    for (uint32_t i = 0; i < chunk->rows; i++) {
        const struct nx_table_schema *table = state->fields[first + i].table;
        const struct nx_column *column = state->fields[first + i].column;

        nx_put_text(chunk, NX_SchemaFields_table_name, i, table->name);
        nx_put_text(chunk, NX_SchemaFields_table_description, i, table->description);
        nx_put_text(chunk, NX_SchemaFields_field_name, i, column->name);
        nx_put_text(chunk, NX_SchemaFields_field_description, i, column->description);
        nx_put_text(chunk, NX_SchemaFields_field_example, i, column->example);
        nx_put_text(chunk, NX_SchemaFields_field_type, i, nx_type_name(column->type));
        nx_put_bool(chunk, NX_SchemaFields_field_required, i, column->required);
        nx_put_text(chunk, NX_SchemaFields_field_format, i, column->format);
        nx_put_text(chunk, NX_SchemaFields_field_unit, i, column->unit);
        /* field_minimum and field_maximum: this version of the schema sets no limits. */
        if (column->enum_name)
            put_enum_values(chunk, i, nx_enum_find(column->enum_name));
    }
}

static void close_table(void *opaque)
{
    free(((struct state *)opaque)->fields);
    free(opaque);
}

const struct nx_table nx_table_SchemaFields = {"SchemaFields", open_table, count_rows,
                                               fill,           NULL,       close_table};
