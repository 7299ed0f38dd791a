/* The schema of one table as JSON: the API's answer to tableSchema. */
#include <string.h>

#include "tables/schema.h"

static void put_string(struct nx_text *out, const char *string)
{
    nx_text_json_string(out, string, strlen(string));
}

static void put_member(struct nx_text *out, const char *key, const char *value)
{
    if (!value)
        return;
    nx_text_printf(out, ",\"%s\":", key);
    put_string(out, value);
}

void nx_schema_example(const struct nx_column *column, struct nx_text *out)
{
    if (!column->example)
        return;
    if (column->type == NX_TYPE_TEXT)
        put_string(out, column->example);
    else
        nx_text_puts(out, column->example); /* schema.def writes numbers, booleans and arrays as JSON */
}

static void put_column(struct nx_text *out, const struct nx_column *column)
{
    const struct nx_enum *values = nx_enum_find(column->enum_name);

    nx_text_puts(out, "{\"name\":");
    put_string(out, column->name);
    put_member(out, "type", nx_type_name(column->type));
    put_member(out, "format", column->format);
    put_member(out, "items", column->items);
    put_member(out, "unit", column->unit);
    if (!column->unit)
        nx_text_puts(out, ",\"unit\":null"); /* like "example" a key of every column, for tables of them */
    nx_text_printf(out, ",\"required\":%s", column->required ? "true" : "false");
    put_member(out, "description", column->description);
    nx_text_puts(out, ",\"example\":");
    if (column->example)
        nx_schema_example(column, out);
    else
        nx_text_puts(out, "null");
    if (values) {
        nx_text_puts(out, ",\"enum\":");
        for (size_t i = 0; i < values->value_count; i++) {
            nx_text_puts(out, i ? "," : "[");
            put_string(out, values->values[i]);
        }
        nx_text_puts(out, "]");
    }
    nx_text_puts(out, "}");
}

void nx_schema_json(const struct nx_table_schema *table, struct nx_text *out)
{
    nx_text_puts(out, "{\"tableName\":");
    put_string(out, table->name);
    put_member(out, "description", table->description);
    put_member(out, "scope", nx_scope_name(table->scope));
    for (size_t i = 0; i < table->column_count; i++) {
        nx_text_puts(out, i ? "," : ",\"columns\":[");
        put_column(out, &table->columns[i]);
    }
    nx_text_puts(out, "]}");
}
