/* The schema: equal to the reference's list of tables and fields, described throughout, rendered faithfully.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/memory.h"
#include "tables/absence.h"
#include "tables/schema.h"
#include "tables/table.h"

extern const struct nx_table nx_table_SchemaFields;

/* ------------------------------------------------------------------ the definition */

static void counts_and_order(void **state)
{
    size_t columns = 0;

    (void)state;
    assert_string_equal(NX_SCHEMA_VERSION, "7.4.0");
    assert_int_equal(nx_schema_count, 52);
    for (size_t t = 0; t < nx_schema_count; t++) {
        columns += nx_schema[t].column_count;
        if (t)
            assert_true(strcmp(nx_schema[t - 1].name, nx_schema[t].name) < 0);
    }
    assert_int_equal(columns, 656);
    assert_int_equal(nx_enum_count, 4);
}

static void names_are_unique_within_a_table(void **state)
{
    (void)state;
    for (size_t t = 0; t < nx_schema_count; t++) {
        struct nx_dict names = {0};

        for (size_t c = 0; c < nx_schema[t].column_count; c++)
            assert_int_equal(nx_dict_add_string(&names, nx_schema[t].columns[c].name), c);
        nx_dict_free(&names);
    }
}

static const struct nx_column *column_at(const char *table, unsigned number)
{
    const struct nx_table_schema *found = nx_schema_find(table, false);

    assert_non_null(found);
    assert_true(number < found->column_count);
    return &found->columns[number];
}

/* Every enumerator of every table stands for the column of its name. */
static void enumerators_number_the_columns(void **state)
{
    (void)state;
    assert_int_equal(NX_Instruction_start_ts, 0);
    assert_int_equal(NX_Instruction_COUNT, 55);
    assert_int_equal(NX_Summary_COUNT, 101);
#define NX_COLUMN(table, column, type, need, unit, enumeration, description, example) \
    assert_string_equal(column_at(#table, NX_##table##_##column)->name, #column);
#define NX_ARRAY(table, column, need, unit, items, description, example) \
    assert_string_equal(column_at(#table, NX_##table##_##column)->name, #column);
#define NX_TABLE_END(table) assert_int_equal(nx_schema_find(#table, false)->column_count, NX_##table##_COUNT);
#include "tables/schema.def"
}

static void scopes_follow_the_inputs(void **state)
{
    static const char *const others[] = {
        "AssemblyInstruction",
        "CpuUsage",
        "HostMemUsage",
        "MemoryBandwidthPoint",
        "MemoryBandwidthResponse",
        "MemoryBandwidthSeries",
        "SystemProfileEvents",
        "SystemProfileHbmUsage",
        "SystemProfileMetadata",
    };
    size_t next = 0;

    (void)state;
    for (size_t t = 0; t < nx_schema_count; t++) {
        enum nx_table_scope expected = NX_SCOPE_DEVICE;

        if (next < sizeof(others) / sizeof(others[0]) && strcmp(others[next], nx_schema[t].name) == 0) {
            expected =
                strncmp(others[next], "MemoryBandwidth", 15) == 0 ? NX_SCOPE_TRANSIENT : NX_SCOPE_SYSTEM;
            next++;
        }
        assert_int_equal(nx_schema[t].scope, expected);
    }
    assert_int_equal(next, sizeof(others) / sizeof(others[0]));
    assert_string_equal(nx_scope_name(NX_SCOPE_DEVICE), "device");
    assert_string_equal(nx_scope_name(NX_SCOPE_SYSTEM), "system");
    assert_string_equal(nx_scope_name(NX_SCOPE_TRANSIENT), "transient");
}

static void find_by_name(void **state)
{
    (void)state;
    assert_string_equal(nx_schema_find("DmaPacket", false)->name, "DmaPacket");
    assert_null(nx_schema_find("dmapacket", false));
    assert_string_equal(nx_schema_find("dmapacket", true)->name, "DmaPacket");
    assert_string_equal(nx_schema_find("DMAPACKETAGGREGATED", true)->name, "DmaPacketAggregated");
    assert_null(nx_schema_find("DmaPackets", true));
    assert_null(nx_schema_find("", true));
    assert_string_equal(nx_enum_find("PerformanceMode")->values[1], "4x");
    assert_null(nx_enum_find("performancemode"));
    assert_null(nx_enum_find(NULL));
}

/* A description is a sentence, and none is left out or made by copying a neighbour's within a table. */
static void check_sentence(const char *table, const char *column, const char *text)
{
    size_t size = strlen(text);

    if (size < 8 || size > 280 || text[size - 1] != '.' || strchr(text, '\n') || strchr(text, '\t') ||
        strstr(text, "  "))
        fail_msg("%s.%s: not a sentence: \"%s\"", table, column, text);
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p >= 0x80)
            fail_msg("%s.%s: not plain ASCII", table, column);
}

static void everything_is_described(void **state)
{
    (void)state;
    for (size_t t = 0; t < nx_schema_count; t++) {
        struct nx_dict seen = {0};

        check_sentence(nx_schema[t].name, "", nx_schema[t].description);
        for (size_t c = 0; c < nx_schema[t].column_count; c++) {
            const struct nx_column *column = &nx_schema[t].columns[c];

            check_sentence(nx_schema[t].name, column->name, column->description);
            if (nx_dict_add_string(&seen, column->description) != c)
                fail_msg("%s.%s: described in the words of another column", nx_schema[t].name, column->name);
        }
        nx_dict_free(&seen);
    }
    for (size_t e = 0; e < nx_enum_count; e++)
        check_sentence(nx_enums[e].name, "", nx_enums[e].description);
}

/* A user who asks for a table that is not there learns what it takes; tables need different things. */
static void every_absence_has_its_reason(void **state)
{
    (void)state;
    for (size_t t = 0; t < nx_schema_count; t++) {
        const char *reason = nx_table_absence(&nx_schema[t]);

        if (strcmp(reason, nx_table_absence(&(struct nx_table_schema){.name = ""})) == 0)
            fail_msg("%s: nothing says why it can be absent", nx_schema[t].name);
        assert_int_not_equal(reason[strlen(reason) - 1], '.');
        assert_true(strlen(reason) > 30);
        if (nx_schema[t].scope == NX_SCOPE_SYSTEM && !strstr(reason, "does not read"))
            fail_msg("%s: must say that no input of this program has it", nx_schema[t].name);
        if (nx_schema[t].scope == NX_SCOPE_TRANSIENT)
            assert_non_null(strstr(reason, "never stored"));
    }
    assert_non_null(strstr(nx_table_absence(nx_schema_find("DmaPacketAggregated", false)),
                           "NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1"));
    assert_non_null(strstr(nx_table_absence(nx_schema_find("KernelInstructions", false)), "NKI_DEBUG_INFO=True"));
    assert_non_null(strstr(nx_table_absence(nx_schema_find("StackFrame", false)), "NEURON_FRAMEWORK_DEBUG=1"));
    assert_non_null(strstr(nx_table_absence(nx_schema_find("HloInstruction", false)), "XLA_HLO_DEBUG=1"));
    assert_non_null(strstr(nx_table_absence(nx_schema_find("AssemblyInstruction", false)), "compiler_pc"));
}

/* Columns of device tables that are called _percent are fractions and say so. */
static void percentages_say_that_they_are_fractions(void **state)
{
    (void)state;
    for (size_t t = 0; t < nx_schema_count; t++)
        for (size_t c = 0; nx_schema[t].scope == NX_SCOPE_DEVICE && c < nx_schema[t].column_count; c++) {
            const struct nx_column *column = &nx_schema[t].columns[c];

            if (strstr(column->name, "_percent") && !strstr(column->description, "fraction"))
                fail_msg("%s.%s does not say that it is a fraction", nx_schema[t].name, column->name);
        }
}

/* Each "Table.column" of one table in a description names a column of it. */
static void check_mentions(const char *where, const struct nx_column *column,
                           const struct nx_table_schema *table)
{
    size_t size = strlen(table->name);

    for (const char *at = column->description; (at = strstr(at, table->name)) != NULL; at += size) {
        size_t name = at[size] == '.' ? strspn(at + size + 1, "abcdefghijklmnopqrstuvwxyz_0123456789") : 0;
        bool known = false;

        if (name == 0)
            continue;
        for (size_t k = 0; k < table->column_count; k++)
            known |= strlen(table->columns[k].name) == name &&
                     strncmp(table->columns[k].name, at + size + 1, name) == 0;
        if (!known)
            fail_msg("%s.%s refers to a column that is not there: %s", where, column->name, at);
    }
}

/* What a description or a type refers to exists: enums, and "Table.column". */
static void references_to_columns_hold(void **state)
{
    (void)state;
    for (size_t t = 0; t < nx_schema_count; t++)
        for (size_t c = 0; c < nx_schema[t].column_count; c++) {
            const struct nx_column *column = &nx_schema[t].columns[c];

            if (column->enum_name && !nx_enum_find(column->enum_name))
                fail_msg("%s.%s: no enum %s", nx_schema[t].name, column->name, column->enum_name);
            assert_int_equal(column->type == NX_TYPE_ARRAY, column->items != NULL);
            for (size_t other = 0; other < nx_schema_count; other++)
                check_mentions(nx_schema[t].name, column, &nx_schema[other]);
        }
}

static bool is_type(const json_t *value, enum nx_column_type type)
{
    switch (type) {
    case NX_TYPE_INT64:
    case NX_TYPE_INT32:
        return json_is_integer(value);
    case NX_TYPE_DOUBLE:
        return json_is_number(value);
    case NX_TYPE_BOOL:
        return json_is_boolean(value);
    case NX_TYPE_TEXT:
        return json_is_string(value);
    case NX_TYPE_ARRAY:
        break;
    }
    return json_is_array(value);
}

static void examples_are_of_their_type(void **state)
{
    struct nx_text text = {0};
    size_t examples = 0;

    (void)state;
    for (size_t t = 0; t < nx_schema_count; t++)
        for (size_t c = 0; c < nx_schema[t].column_count; c++) {
            const struct nx_column *column = &nx_schema[t].columns[c];
            json_t *value;

            nx_text_clear(&text);
            nx_schema_example(column, &text);
            if (!column->example) {
                assert_int_equal(text.size, 0);
                continue;
            }
            examples++;
            value = json_loadb(text.data, text.size, JSON_DECODE_ANY, NULL);
            if (!value || !is_type(value, column->type))
                fail_msg("%s.%s: example is not of its type: %s", nx_schema[t].name, column->name, text.data);
            if (column->type == NX_TYPE_TEXT)
                assert_string_equal(json_string_value(value), column->example);
            json_decref(value);
        }
    assert_true(examples > 150);
    nx_text_free(&text);
}

/* ------------------------------------------------------------------ equality with the reference */

static void same_text(const char *table, const char *column, const char *what, const char *ours,
                      const json_t *theirs)
{
    const char *expected = json_string_value(theirs);

    if ((ours == NULL) != (expected == NULL) || (ours && strcmp(ours, expected) != 0))
        fail_msg("%s.%s: %s is %s, expected %s", table, column, what, ours ? ours : "absent",
                 expected ? expected : "absent");
}

static void same_column(const char *table, const struct nx_column *ours, const json_t *theirs,
                        const json_t *enums)
{
    const char *enumeration = json_string_value(json_object_get(theirs, "enum"));
    /* The list writes a list of another table's rows as a string with that table as its enum. */
    bool rows = enumeration && !json_object_get(enums, enumeration);

    same_text(table, ours->name, "name", ours->name, json_object_get(theirs, "name"));
    if (rows) {
        assert_int_equal(ours->type, NX_TYPE_ARRAY);
        same_text(table, ours->name, "items", ours->items, json_object_get(theirs, "enum"));
    } else {
        same_text(table, ours->name, "type", nx_type_name(ours->type), json_object_get(theirs, "type"));
        same_text(table, ours->name, "enum", ours->enum_name, json_object_get(theirs, "enum"));
    }
    same_text(table, ours->name, "format", ours->format, json_object_get(theirs, "format"));
    same_text(table, ours->name, "unit", ours->unit, json_object_get(theirs, "unit"));
    same_text(table, ours->name, "example", ours->example, json_object_get(theirs, "example"));
    if (ours->required != json_is_true(json_object_get(theirs, "required")))
        fail_msg("%s.%s: required differs", table, ours->name);
}

static void equal_to_the_reference(void **state)
{
    json_t *schema = json_load_file(NX_SHARED_DIR "/schema/schema.json", 0, NULL), *tables, *enums, *value;
    const char *name;
    size_t at = 0, i;

    (void)state;
    if (!schema) {
        print_message("no schema.json beside this source tree: not compared with the reference\n");
        skip();
    }
    tables = json_object_get(schema, "tables");
    enums = json_object_get(schema, "enums");
    same_text("", "", "version", NX_SCHEMA_VERSION, json_object_get(schema, "schema_version"));
    assert_int_equal(json_object_size(tables), nx_schema_count);
    json_object_foreach(tables, name, value)
    {
        const struct nx_table_schema *ours = &nx_schema[at++];
        const json_t *fields = json_object_get(value, "fields"), *field;
        size_t f;

        assert_string_equal(ours->name, name);
        assert_int_equal(ours->column_count, json_array_size(fields));
        assert_int_equal(ours->scope == NX_SCOPE_TRANSIENT,
                         json_is_true(json_object_get(value, "transient")));
        json_array_foreach(fields, f, field) same_column(name, &ours->columns[f], field, enums);
    }
    assert_int_equal(json_object_size(enums), nx_enum_count);
    at = 0;
    json_object_foreach(enums, name, value)
    {
        const struct nx_enum *ours = &nx_enums[at++];
        const json_t *text;

        assert_string_equal(ours->name, name);
        assert_int_equal(ours->value_count, json_array_size(value));
        json_array_foreach(value, i, text) assert_string_equal(ours->values[i], json_string_value(text));
    }
    json_decref(schema);
}

/* ------------------------------------------------------------------ renderings */

static void same_optional(const char *ours, const json_t *object, const char *key)
{
    same_text("tableSchema", key, key, ours, json_object_get(object, key));
}

static void check_json_column(const struct nx_column *ours, const json_t *json)
{
    const struct nx_enum *values = nx_enum_find(ours->enum_name);
    const json_t *list = json_object_get(json, "enum");

    same_optional(ours->name, json, "name");
    same_optional(nx_type_name(ours->type), json, "type");
    same_optional(ours->format, json, "format");
    same_optional(ours->items, json, "items");
    same_optional(ours->unit, json, "unit");
    same_optional(ours->description, json, "description");
    assert_int_equal(json_is_true(json_object_get(json, "required")), ours->required);
    assert_int_equal(json_is_null(json_object_get(json, "example")), ours->example == NULL);
    assert_int_equal(json_is_null(json_object_get(json, "unit")), ours->unit == NULL);
    assert_int_equal(values ? values->value_count : 0, json_array_size(list));
    for (size_t i = 0; values && i < values->value_count; i++)
        assert_string_equal(json_string_value(json_array_get(list, i)), values->values[i]);
}

static void json_of_every_table(void **state)
{
    (void)state;
    for (size_t t = 0; t < nx_schema_count; t++) {
        struct nx_text text = {0};
        const json_t *columns, *column;
        json_error_t error;
        json_t *json;
        size_t c;

        nx_schema_json(&nx_schema[t], &text);
        json = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &error);
        if (!json)
            fail_msg("%s: %s", nx_schema[t].name, error.text);
        same_optional(nx_schema[t].name, json, "tableName");
        same_optional(nx_schema[t].description, json, "description");
        same_optional(nx_scope_name(nx_schema[t].scope), json, "scope");
        columns = json_object_get(json, "columns");
        assert_int_equal(json_array_size(columns), nx_schema[t].column_count);
        json_array_foreach(columns, c, column) check_json_column(&nx_schema[t].columns[c], column);
        json_decref(json);
        nx_text_free(&text);
    }
}

static char *print(void (*render)(FILE *), size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    assert_non_null(out);
    render(out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Goes forward to the next line that is `line`; every line in between is deeper than `indent` spaces. */
static const char *next_line(const char *at, size_t indent, const char *line)
{
    size_t size = strlen(line);

    while (*at) {
        const char *end = strchr(at, '\n');

        assert_non_null(end);
        if ((size_t)(end - at) == size && memcmp(at, line, size) == 0)
            return end + 1;
        if (strspn(at, " ") < indent)
            break;
        at = end + 1;
    }
    fail_msg("not found: \"%s\", before: %.60s", line, at);
    return NULL;
}

static void yaml_lists_every_column_in_order(void **state)
{
    size_t size;
    char *text = print(nx_schema_yaml, &size), line[256];
    const char *at = text;

    (void)state;
    assert_null(strchr(text, '\t'));
    at = next_line(at, 0, "openapi: 3.0.3");
    assert_non_null(next_line(at, 0, "  version: 7.4.0"));
    at = next_line(at, 0, "  schemas:");
    for (size_t t = 0; t < nx_schema_count; t++) {
        snprintf(line, sizeof(line), "    %s:", nx_schema[t].name);
        at = next_line(at, 4, line);
        for (size_t c = 0; c < nx_schema[t].column_count; c++) {
            const struct nx_column *column = &nx_schema[t].columns[c];

            if (!column->required)
                continue;
            snprintf(line, sizeof(line), "        - %s", column->name);
            at = next_line(at, 6, line);
        }
        at = next_line(at, 6, "      properties:");
        for (size_t c = 0; c < nx_schema[t].column_count; c++) {
            const struct nx_column *column = &nx_schema[t].columns[c];

            snprintf(line, sizeof(line), "        %s:", column->name);
            at = next_line(at, 8, line);
            snprintf(line, sizeof(line), "          type: %s", nx_type_name(column->type));
            at = next_line(at, 10, line);
            if (column->format) {
                snprintf(line, sizeof(line), "          format: %s", column->format);
                at = next_line(at, 10, line);
            }
            if (column->unit) {
                snprintf(line, sizeof(line), "          x-unit: \"%s\"", column->unit);
                at = next_line(at, 10, line);
            }
        }
    }
    for (size_t e = 0; e < nx_enum_count; e++) {
        snprintf(line, sizeof(line), "    %s:", nx_enums[e].name);
        at = next_line(at, 4, line);
    }
    free(text);
}

static char *read_page(size_t *size)
{
    FILE *in = fopen(NX_SOURCE_DIR "/docs/schema.md", "rb");
    char *text = nx_zalloc(1, 1 << 20);

    *size = in ? fread(text, 1, (1 << 20) - 1, in) : 0;
    if (in)
        fclose(in);
    return text;
}

/* The committed page is what the code prints; NX_UPDATE_DOCS=1 writes it instead. */
static void page_is_up_to_date(void **state)
{
    size_t size, committed_size, line = 1, i = 0;
    char *text = print(nx_schema_markdown, &size), *committed;

    (void)state;
    if (getenv("NX_UPDATE_DOCS")) {
        FILE *out = fopen(NX_SOURCE_DIR "/docs/schema.md", "wb");

        assert_non_null(out);
        assert_int_equal(fwrite(text, 1, size, out), size);
        assert_int_equal(fclose(out), 0);
    }
    committed = read_page(&committed_size);
    for (; i < size && i < committed_size && text[i] == committed[i]; i++)
        line += text[i] == '\n';
    if (i < size || i < committed_size)
        fail_msg("docs/schema.md differs from the schema in line %zu: run this test with NX_UPDATE_DOCS=1",
                 line);
    free(text);
    free(committed);
}

/* Each row of each table of the page has its five cells: nothing in a text breaks one. */
static void page_has_a_row_for_each_column(void **state)
{
    size_t size, rows = 0;
    char *text = print(nx_schema_markdown, &size), *line, *rest = text;

    (void)state;
    while ((line = strsep(&rest, "\n")) != NULL) {
        size_t bars = 0;

        for (const char *p = line; *p; p++)
            bars += *p == '|' && (p == line || p[-1] != '\\');
        if (strncmp(line, "| `", 3) != 0)
            continue;
        rows++;
        if (bars != 6)
            fail_msg("%zu bars in: %s", bars, line);
    }
    assert_int_equal(rows, 656);
    free(text);
}

/* ------------------------------------------------------------------ the table SchemaFields */

struct sink { /* texts of one chunk; NULL = NULL */
    char *text[NX_SchemaFields_COUNT][64];
};

static void keep_text(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size)
{
    struct sink *sink = chunk->sink;

    assert_true(column < NX_SchemaFields_COUNT && row < chunk->rows);
    assert_null(sink->text[column][row]);
    sink->text[column][row] = nx_zalloc(1, size + 1);
    memcpy(sink->text[column][row], bytes, size);
}

static void same_cell(const struct sink *sink, unsigned column, uint32_t row, const char *expected)
{
    const char *ours = sink->text[column][row];

    if ((ours == NULL) != (expected == NULL) || (ours && strcmp(ours, expected) != 0))
        fail_msg("column %u is %s, expected %s", column, ours ? ours : "NULL", expected ? expected : "NULL");
}

static const char *joined_values(const char *enumeration)
{
    static const char *const joined[][2] = {
        {"DmaQueueType", "instruction,input,output,data,software_dynamic,hardware_dynamic,unknown"},
        {"ErrorType", "Custom Notification,Errors,Warnings"},
        {"MemoryBandwidthDirection", "host_to_device,device_to_host,bidirectional"},
        {"PerformanceMode", "2x,4x"},
    };

    for (size_t i = 0; i < sizeof(joined) / sizeof(joined[0]); i++)
        if (strcmp(joined[i][0], enumeration) == 0)
            return joined[i][1];
    return NULL;
}

/* Fills rows first .. first + rows - 1 and compares them with the columns that come there in the schema. */
static void check_fields(void *table, uint64_t first, uint32_t rows)
{
    struct sink sink = {0};
    bool required[64] = {false};
    uint64_t valid[NX_SchemaFields_COUNT] = {0};
    struct nx_vector vectors[NX_SchemaFields_COUNT] = {0};
    struct nx_chunk chunk = {.rows = rows, .columns = vectors, .put_text = keep_text, .sink = &sink};
    size_t t = 0, c = 0;

    for (unsigned i = 0; i < NX_SchemaFields_COUNT; i++)
        vectors[i].valid = &valid[i];
    vectors[NX_SchemaFields_field_required].data = required;
    nx_table_SchemaFields.fill(table, first, &chunk);
    for (c = first; c >= nx_schema[t].column_count; t++)
        c -= nx_schema[t].column_count;
    for (uint32_t i = 0; i < rows; i++) {
        const struct nx_column *column = &nx_schema[t].columns[c];

        same_cell(&sink, NX_SchemaFields_table_name, i, nx_schema[t].name);
        same_cell(&sink, NX_SchemaFields_table_description, i, nx_schema[t].description);
        same_cell(&sink, NX_SchemaFields_field_name, i, column->name);
        same_cell(&sink, NX_SchemaFields_field_description, i, column->description);
        same_cell(&sink, NX_SchemaFields_field_example, i, column->example);
        same_cell(&sink, NX_SchemaFields_field_type, i, nx_type_name(column->type));
        same_cell(&sink, NX_SchemaFields_field_format, i, column->format);
        same_cell(&sink, NX_SchemaFields_field_unit, i, column->unit);
        same_cell(&sink, NX_SchemaFields_field_enum_values, i,
                  column->enum_name ? joined_values(column->enum_name) : NULL);
        assert_int_equal(required[i], column->required);
        assert_true(valid[NX_SchemaFields_field_required] >> i & 1);
        if (++c == nx_schema[t].column_count) {
            c = 0;
            t++;
        }
    }
    assert_int_equal(valid[NX_SchemaFields_field_minimum], 0);
    assert_int_equal(valid[NX_SchemaFields_field_maximum], 0);
    for (unsigned k = 0; k < NX_SchemaFields_COUNT; k++)
        for (uint32_t i = 0; i < rows; i++)
            free(sink.text[k][i]);
}

static void schema_fields_has_every_column(void **state)
{
    void *table = nx_table_SchemaFields.open(NULL);
    uint64_t count = nx_table_SchemaFields.count(table);

    (void)state;
    assert_string_equal(nx_table_SchemaFields.name, "SchemaFields");
    assert_int_equal(count, 656);
    for (uint64_t first = 0; first < count; first += 64)
        check_fields(table, first, count - first < 64 ? (uint32_t)(count - first) : 64);
    check_fields(table, 655, 1);
    check_fields(table, 3, 7);
    nx_table_SchemaFields.close(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_order),
        cmocka_unit_test(names_are_unique_within_a_table),
        cmocka_unit_test(enumerators_number_the_columns),
        cmocka_unit_test(scopes_follow_the_inputs),
        cmocka_unit_test(find_by_name),
        cmocka_unit_test(everything_is_described),
        cmocka_unit_test(every_absence_has_its_reason),
        cmocka_unit_test(percentages_say_that_they_are_fractions),
        cmocka_unit_test(references_to_columns_hold),
        cmocka_unit_test(examples_are_of_their_type),
        cmocka_unit_test(equal_to_the_reference),
        cmocka_unit_test(json_of_every_table),
        cmocka_unit_test(yaml_lists_every_column_in_order),
        cmocka_unit_test(page_is_up_to_date),
        cmocka_unit_test(page_has_a_row_for_each_column),
        cmocka_unit_test(schema_fields_has_every_column),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
