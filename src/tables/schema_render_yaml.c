/*
 * The whole schema as an OpenAPI 3.0 document in YAML.  Texts are written as
 * JSON strings, which are YAML's double-quoted scalars too.
 */
#include <string.h>

#include "tables/schema.h"

static void put_line(struct nx_text *out, int indent, const char *key, const char *text)
{
    nx_text_printf(out, "%*s%s: ", indent, "", key);
    nx_text_json_string(out, text, strlen(text));
    nx_text_puts(out, "\n");
}

static void put_values(struct nx_text *out, int indent, const struct nx_enum *values)
{
    nx_text_printf(out, "%*senum:\n", indent, "");
    for (size_t i = 0; i < values->value_count; i++) {
        nx_text_printf(out, "%*s- ", indent + 2, "");
        nx_text_json_string(out, values->values[i], strlen(values->values[i]));
        nx_text_puts(out, "\n");
    }
}

static void put_items(struct nx_text *out, const char *items)
{
    nx_text_puts(out, "          items:\n");
    if (nx_schema_find(items, false))
        nx_text_printf(out, "            $ref: \"#/components/schemas/%s\"\n", items);
    else
        nx_text_printf(out, "            type: %s\n", items);
}

static void put_column(struct nx_text *out, const struct nx_column *column)
{
    nx_text_printf(out, "        %s:\n", column->name);
    nx_text_printf(out, "          type: %s\n", nx_type_name(column->type));
    if (column->format)
        nx_text_printf(out, "          format: %s\n", column->format);
    if (column->items)
        put_items(out, column->items);
    if (!column->required)
        nx_text_puts(out, "          nullable: true\n");
    put_line(out, 10, "description", column->description);
    if (column->unit)
        put_line(out, 10, "x-unit", column->unit);
    if (column->enum_name) {
        put_line(out, 10, "x-enum-name", column->enum_name);
        put_values(out, 10, nx_enum_find(column->enum_name));
    }
    if (column->example) {
        nx_text_puts(out, "          example: ");
        nx_schema_example(column, out);
        nx_text_puts(out, "\n");
    }
}

static void put_table(struct nx_text *out, const struct nx_table_schema *table)
{
    const char *heading = "      required:\n"; /* an empty list is not allowed: only with the first one */

    nx_text_printf(out, "    %s:\n      type: object\n", table->name);
    put_line(out, 6, "description", table->description);
    put_line(out, 6, "x-scope", nx_scope_name(table->scope));
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].required)
            continue;
        nx_text_printf(out, "%s        - %s\n", heading, table->columns[i].name);
        heading = "";
    }
    nx_text_puts(out, "      properties:\n");
    for (size_t i = 0; i < table->column_count; i++)
        put_column(out, &table->columns[i]);
}

void nx_schema_yaml(FILE *out)
{
    struct nx_text text = {0};

    nx_text_puts(&text, "openapi: 3.0.3\n"
                        "info:\n"
                        "  title: Tables of a Neuron profile\n"
                        "  version: " NX_SCHEMA_VERSION "\n"
                        "paths: {}\n"
                        "components:\n"
                        "  schemas:\n");
    for (size_t i = 0; i < nx_schema_count; i++)
        put_table(&text, &nx_schema[i]);
    for (size_t i = 0; i < nx_enum_count; i++) {
        nx_text_printf(&text, "    %s:\n      type: string\n", nx_enums[i].name);
        put_line(&text, 6, "description", nx_enums[i].description);
        put_values(&text, 6, &nx_enums[i]);
    }
    fwrite(text.data, 1, text.size, out);
    nx_text_free(&text);
}
