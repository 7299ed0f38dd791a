#include "cli/summary_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* One row of a table in memory: what nx_table.fill needs, without a database. */
struct row {
    const struct nx_table_schema *schema;
    struct nx_chunk chunk;
    struct nx_vector *vectors;
    uint64_t *values; /* one 8-byte cell a column */
    uint64_t *valid;
    char **texts;
};

static void put_text(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size)
{
    struct row *target = chunk->sink;

    free(target->texts[column]);
    target->texts[column] = strndup(bytes, size);
    nx_chunk_mark(chunk, column, row);
}

static const struct nx_table *find_table(const char *name)
{
    for (size_t i = 0; nx_tables[i]; i++)
        if (strcmp(nx_tables[i]->name, name) == 0)
            return nx_tables[i];
    return NULL;
}

static bool row_open(const struct nx_profile *profile, const char *name, struct row *row)
{
    const struct nx_table *table = find_table(name);
    void *state;
    size_t count;
    bool any;

    *row = (struct row){.schema = nx_schema_find(name, false)};
    if (!table || !row->schema)
        return false;
    count = row->schema->column_count;
    row->vectors = nx_zalloc(count, sizeof(*row->vectors));
    row->values = nx_zalloc(count, sizeof(*row->values));
    row->valid = nx_zalloc(count, sizeof(*row->valid));
    row->texts = nx_zalloc(count, sizeof(*row->texts));
    for (size_t c = 0; c < count; c++)
        row->vectors[c] = (struct nx_vector){&row->values[c], &row->valid[c]};
    row->chunk = (struct nx_chunk){.rows = 1, .columns = row->vectors, .put_text = put_text, .sink = row};
    state = table->open(profile);
    any = table->count(state) > 0;
    if (any)
        table->fill(state, 0, &row->chunk);
    table->close(state);
    return any;
}

static void row_close(struct row *row)
{
    for (size_t c = 0; row->texts && c < row->schema->column_count; c++)
        free(row->texts[c]);
    free(row->texts);
    free(row->vectors);
    free(row->values);
    free(row->valid);
}

/* The shortest digits that read back the same, in the form of the closed tool: 9.318809e-06, 0.35, 2048000. */
static void print_double(double value)
{
    char text[40];

    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (value == 0 || (fabs(value) >= 1e-4 && fabs(value) < 1e21)) {
        int exponent = value == 0 ? 0 : atoi(strchr(text, 'e') + 1);
        int digits = (int)(strchr(text, 'e') - text) - (text[0] == '-') - (strchr(text, '.') != NULL);
        int decimals = digits - 1 - exponent;

        printf("%.*f", decimals > 0 ? decimals : 0, value);
    } else {
        fputs(text, stdout);
    }
}

/* False: the value is NULL and nothing was printed. */
static bool print_value(const struct row *row, size_t c, bool quoted)
{
    int32_t narrow;
    double number;

    if (!(row->valid[c] & 1))
        return false;
    switch (row->schema->columns[c].type) {
    case NX_TYPE_INT64:
        printf("%" PRId64, (int64_t)row->values[c]);
        break;
    case NX_TYPE_INT32:
        memcpy(&narrow, &row->values[c], sizeof(narrow));
        printf("%" PRId32, narrow);
        break;
    case NX_TYPE_BOOL:
        fputs(*(const bool *)&row->values[c] ? "true" : "false", stdout);
        break;
    case NX_TYPE_DOUBLE:
        memcpy(&number, &row->values[c], sizeof(number));
        print_double(number);
        break;
    default:
        if (quoted) {
            struct nx_text text = {0};

            nx_text_json_string(&text, row->texts[c], strlen(row->texts[c]));
            fputs(nx_text_string(&text), stdout);
            nx_text_free(&text);
        } else {
            fputs(row->texts[c], stdout);
        }
        break;
    }
    return true;
}

/* The closed tool names a node by 40 hexadecimal digits: here the NEFF's uuid and the first bytes of its hash. */
static void print_node_name(const struct nx_neff_header *header)
{
    char uuid[33], hash[9];

    nx_hex(header->uuid, 16, uuid);
    nx_hex(header->hash, 4, hash);
    printf("n_%s%s", uuid, hash);
}

void nx_print_summary_json(const struct nx_profile *profile)
{
    struct row row;
    bool any = false;

    fputs("{\"", stdout);
    print_node_name(&profile->neff->header);
    fputs("\": {", stdout);
    if (row_open(profile, "Summary", &row))
        for (size_t c = 0; c < row.schema->column_count; c++) {
            if (!(row.valid[c] & 1))
                continue;
            printf("%s\"%s\": ", any ? ", " : "", row.schema->columns[c].name);
            print_value(&row, c, true);
            any = true;
        }
    row_close(&row);
    fputs("}}\n", stdout);
}

static void print_text_rows(const struct row *row, const char *const *wanted)
{
    for (size_t c = 0; c < row->schema->column_count; c++) {
        bool show = !wanted;

        for (size_t i = 0; wanted && wanted[i]; i++)
            show |= strcmp(wanted[i], row->schema->columns[c].name) == 0;
        if (!show || !(row->valid[c] & 1))
            continue;
        printf("    %-44s  ", row->schema->columns[c].name);
        print_value(row, c, false);
        putchar('\n');
    }
}

void nx_print_summary_text(const struct nx_profile *profile)
{
    static const char *const from_metadata[] = {"instance_type",    "runtime_version",  "collectives_version",
                                                "driver_version",   "compiler_version", "explorer_version",
                                                "neuroncore_idx",   "neuron_device_idx", NULL};
    struct row row;

    print_node_name(&profile->neff->header);
    putchar('\n');
    if (row_open(profile, "Summary", &row))
        print_text_rows(&row, NULL);
    row_close(&row);
    if (row_open(profile, "Metadata", &row))
        print_text_rows(&row, from_metadata);
    row_close(&row);
}
