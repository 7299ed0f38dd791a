/* The whole schema as a page to read: docs/schema.md. */
#include <string.h>

#include "tables/absence.h"
#include "tables/schema.h"

/* Text inside a cell: a bar would end the cell, and a new line the table. */
static void put_cell(FILE *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p == '\n')
            fputs("\\n", out);
        else if (*p == '|')
            fputs("\\|", out);
        else
            fputc(*p, out);
    }
}

static void put_code(FILE *out, const char *text)
{
    fputc('`', out);
    put_cell(out, text);
    fputc('`', out);
}

static void put_type(FILE *out, const struct nx_column *column)
{
    fputs(nx_type_name(column->type), out);
    if (column->format)
        fprintf(out, " (%s)", column->format);
    if (column->items && nx_schema_find(column->items, false))
        fprintf(out, " of [%s](#%s)", column->items, column->items);
    else if (column->items)
        fprintf(out, " of %s", column->items);
    if (column->enum_name)
        fprintf(out, " ([%s](#%s))", column->enum_name, column->enum_name);
}

static void put_column(FILE *out, const struct nx_column *column)
{
    fprintf(out, "| `%s` | ", column->name);
    put_type(out, column);
    fprintf(out, " | %s | %s | ", column->unit ? column->unit : "", column->required ? "never NULL" : "");
    put_cell(out, column->description);
    if (column->example) {
        fputs(" Example: ", out);
        put_code(out, column->example);
    }
    fputs(" |\n", out);
}

/* GitHub makes anchors of headings in lower case; these are as written, for any other reader too. */
static void put_heading(FILE *out, const char *name)
{
    fprintf(out, "\n<a id=\"%s\"></a>\n\n### %s\n\n", name, name);
}

static void put_table(FILE *out, const struct nx_table_schema *table)
{
    put_heading(out, table->name);
    fprintf(out, "%s\n\n", table->description);
    fprintf(out, "%s: %s.\n\n", table->scope == NX_SCOPE_DEVICE ? "Where it is absent" : "Always absent",
            nx_table_absence(table));
    fputs("| Column | Type | Unit | NULL | Meaning |\n| --- | --- | --- | --- | --- |\n",
          out);
    for (size_t i = 0; i < table->column_count; i++)
        put_column(out, &table->columns[i]);
}

static void put_enum(FILE *out, const struct nx_enum *values)
{
    put_heading(out, values->name);
    fprintf(out, "%s\n\nValues: ", values->description);
    for (size_t i = 0; i < values->value_count; i++)
        fprintf(out, "%s`%s`", i ? ", " : "", values->values[i]);
    fputs("\n", out);
}

static void put_index(FILE *out, enum nx_table_scope scope, const char *introduction)
{
    const char *separator = "";

    fprintf(out, "\n%s\n", introduction);
    for (size_t i = 0; i < nx_schema_count; i++) {
        if (nx_schema[i].scope != scope)
            continue;
        fprintf(out, "%s[%s](#%s)", separator, nx_schema[i].name, nx_schema[i].name);
        separator = ",\n";
    }
    fputs("\n", out);
}

void nx_schema_markdown(FILE *out)
{
    fputs("<!-- Generated from src/tables/schema.def: change it there, then run "
          "`NX_UPDATE_DOCS=1 build/release/tests/test_schema`. -->\n"
          "# Tables and columns\n\n"
          "Profile schema " NX_SCHEMA_VERSION
          ". Each table is a Parquet file of the profile; one that has no rows is "
          "not written;\n"
          "asked for all the same, `query` and the API answer what the inputs would have to hold.\n"
          "The same page as data: the table `SchemaFields`, the API's `tableSchema`, and\n"
          "`neuron-explorer --show-profile-schema` (OpenAPI).\n\n"
          "- Times are nanoseconds from the start of the profile, unless a column says otherwise. A time "
          "that ends\n"
          "  in `_ts` is a point, `duration_ns` a length.\n"
          "- Columns named `_percent` are fractions: 0.25 is a quarter. The exceptions say so.\n"
          "- NULL means that the files do not say it. Nothing is guessed; `Warning` tells what is missing "
          "and why.\n"
          "- Types are words of OpenAPI. In Parquet, `integer` is INT64 or INT32, `number` DOUBLE, `boolean` "
          "BOOLEAN,\n"
          "  `string` UTF8 text; an `array` is UTF8 text that holds JSON.\n",
          out);
    put_index(out, NX_SCOPE_DEVICE, "Made from a NEFF and an NTFF:");
    put_index(out, NX_SCOPE_SYSTEM,
              "Part of the schema, but they need a system profile or a simulation, which this program does "
              "not read:");
    put_index(out, NX_SCOPE_TRANSIENT, "Answers of an API, never stored:");
    fputs("\n## Tables\n", out);
    for (size_t i = 0; i < nx_schema_count; i++)
        put_table(out, &nx_schema[i]);
    fputs("\n## Lists of values\n", out);
    for (size_t i = 0; i < nx_enum_count; i++)
        put_enum(out, &nx_enums[i]);
}
