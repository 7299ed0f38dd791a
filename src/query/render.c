#include "query/render.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/value.h"

struct column {
    char *name; /* unique in the answer */
    struct nx_value_type *type;
};

struct renderer {
    const struct nx_rendering *how;
    struct nx_rendered *out;
    struct column *columns;
    size_t count;
    /* NX_FORMAT_TABLE: cells wait until their widths are known */
    char **cells;
    size_t cell_count, cell_capacity;
};

/* ------------------------------------------------------------------ columns */

/* Names given so far, and for each the suffix that its next double begins with. */
struct given_names {
    struct nx_dict names;
    unsigned *next;
    size_t capacity;
};

static bool give(struct given_names *given, const char *name)
{
    if (nx_dict_find(&given->names, name) != NX_NO_TEXT)
        return false;
    given->next = nx_grow(given->next, given->names.count, &given->capacity, sizeof(*given->next));
    given->next[nx_dict_add_string(&given->names, name)] = 1;
    return true;
}

/* A row is an object, whose keys must differ: the second "x" becomes "x_1", as DuckDB's own clients do. */
static char *unique_name(struct given_names *given, const char *name)
{
    uint32_t first = nx_dict_find(&given->names, name);
    char *candidate = nx_strdup(name);

    while (!give(given, candidate)) {
        free(candidate);
        if (asprintf(&candidate, "%s_%u", name, given->next[first]++) < 0)
            candidate = nx_strdup("");
    }
    return candidate;
}

static bool open_columns(struct renderer *r, duckdb_result *result)
{
    idx_t count = duckdb_column_count(result);
    struct given_names given = {0};
    bool ok = true;

    r->columns = nx_zalloc(count, sizeof(*r->columns));
    for (; r->count < count && ok; r->count++) {
        duckdb_logical_type logical = duckdb_column_logical_type(result, r->count);
        struct column *column = &r->columns[r->count];

        column->name = unique_name(&given, duckdb_column_name(result, r->count));
        column->type = nx_value_type_new(logical);
        duckdb_destroy_logical_type(&logical);
        ok = column->type != NULL;
        if (!ok) {
            if (asprintf(&r->out->problem, "column %s is of a type that cannot be written: cast it to VARCHAR",
                         column->name) < 0)
                r->out->problem = nx_strdup("a column cannot be written");
        }
    }
    nx_dict_free(&given.names);
    free(given.next);
    return ok;
}

static void close_columns(struct renderer *r)
{
    for (size_t c = 0; c < r->count; c++) {
        free(r->columns[c].name);
        nx_value_type_free(r->columns[c].type);
    }
    free(r->columns);
    for (size_t i = 0; i < r->cell_count; i++)
        free(r->cells[i]);
    free(r->cells);
}

/* ------------------------------------------------------------------ formats that stream */

static void put_object(struct renderer *r, duckdb_data_chunk chunk, idx_t row)
{
    struct nx_text *out = &r->out->body;

    nx_text_puts(out, "{");
    for (size_t c = 0; c < r->count; c++) {
        nx_text_puts(out, c ? "," : "");
        nx_text_json_string(out, r->columns[c].name, strlen(r->columns[c].name));
        nx_text_puts(out, ":");
        nx_value_put_json(r->columns[c].type, duckdb_data_chunk_get_vector(chunk, c), row, out);
    }
    nx_text_puts(out, "}");
}

static void put_csv_field(struct nx_text *out, const char *text, size_t size)
{
    if (!memchr(text, '"', size) && !memchr(text, ',', size) && !memchr(text, '\n', size) &&
        !memchr(text, '\r', size)) {
        nx_text_append(out, text, size);
        return;
    }
    nx_text_puts(out, "\"");
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            nx_text_puts(out, "\"");
        nx_text_append(out, text + i, 1);
    }
    nx_text_puts(out, "\"");
}

static void put_markdown_cell(struct nx_text *out, const char *text, size_t size)
{
    nx_text_puts(out, " ");
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '|' || text[i] == '\\')
            nx_text_puts(out, "\\");
        if (text[i] == '\n')
            nx_text_puts(out, "<br>");
        else if (text[i] != '\r')
            nx_text_append(out, text + i, 1);
    }
    nx_text_puts(out, " |");
}

static void put_head(struct renderer *r)
{
    struct nx_text *out = &r->out->body;

    switch (r->how->format) {
    case NX_FORMAT_JSON:
        nx_text_puts(out, "{\"columns\":[");
        for (size_t c = 0; c < r->count; c++) {
            nx_text_puts(out, c ? ",{\"name\":" : "{\"name\":");
            nx_text_json_string(out, r->columns[c].name, strlen(r->columns[c].name));
            nx_text_printf(out, ",\"type\":\"%s\"}", nx_value_type_name(r->columns[c].type));
        }
        nx_text_puts(out, "],\"data\":[");
        break;
    case NX_FORMAT_CSV:
        for (size_t c = 0; c < r->count; c++) {
            nx_text_puts(out, c ? "," : "");
            put_csv_field(out, r->columns[c].name, strlen(r->columns[c].name));
        }
        nx_text_puts(out, "\n");
        break;
    case NX_FORMAT_MARKDOWN:
        nx_text_puts(out, "|");
        for (size_t c = 0; c < r->count; c++)
            put_markdown_cell(out, r->columns[c].name, strlen(r->columns[c].name));
        nx_text_puts(out, "\n|");
        for (size_t c = 0; c < r->count; c++)
            nx_text_puts(out, nx_value_is_number(r->columns[c].type) ? " ---: |" : " --- |");
        nx_text_puts(out, "\n");
        break;
    default:
        break;
    }
}

static void put_cells(struct renderer *r, duckdb_data_chunk chunk, idx_t row)
{
    struct nx_text *out = &r->out->body, cell = {0};

    for (size_t c = 0; c < r->count; c++) {
        bool given;

        nx_text_clear(&cell);
        given = nx_value_put(r->columns[c].type, duckdb_data_chunk_get_vector(chunk, c), row, &cell);
        switch (r->how->format) {
        case NX_FORMAT_CSV:
            nx_text_puts(out, c ? "," : "");
            put_csv_field(out, nx_text_string(&cell), cell.size);
            break;
        case NX_FORMAT_MARKDOWN:
            nx_text_puts(out, c ? "" : "|");
            put_markdown_cell(out, given ? nx_text_string(&cell) : "NULL", given ? cell.size : 4);
            break;
        default:
            r->cells = nx_grow(r->cells, r->cell_count, &r->cell_capacity, sizeof(*r->cells));
            r->cells[r->cell_count++] = nx_strdup(given ? nx_text_string(&cell) : "NULL");
            break;
        }
    }
    if (r->how->format != NX_FORMAT_TABLE)
        nx_text_puts(out, "\n");
    nx_text_free(&cell);
}

static void put_row(struct renderer *r, duckdb_data_chunk chunk, idx_t row)
{
    switch (r->how->format) {
    case NX_FORMAT_JSON:
        nx_text_puts(&r->out->body, r->out->rows ? "," : "");
        put_object(r, chunk, row);
        break;
    case NX_FORMAT_JSONL:
        put_object(r, chunk, row);
        nx_text_puts(&r->out->body, "\n");
        break;
    default:
        put_cells(r, chunk, row);
        break;
    }
    r->out->rows++;
}

/* ------------------------------------------------------------------ the aligned table */

static void put_padded(struct nx_text *out, const char *text, size_t width, bool right)
{
    size_t own = nx_text_width(text), pad = own < width ? width - own : 0;

    for (size_t i = 0; right && i < pad; i++)
        nx_text_puts(out, " ");
    for (const char *p = text; *p; p++)
        nx_text_append(out, (unsigned char)*p < 0x20 || *p == 0x7f ? " " : p, 1);
    for (size_t i = 0; !right && i < pad; i++)
        nx_text_puts(out, " ");
}

/* Cuts a line to the terminal: whole characters, and a mark that something is missing. */
static void cut_line(struct nx_text *line, unsigned width)
{
    size_t keep = 0, columns = 0;

    if (!width || nx_text_width(nx_text_string(line)) <= width)
        return;
    while (keep < line->size && columns + 1 < width) {
        keep++;
        while (keep < line->size && ((unsigned char)line->data[keep] & 0xc0) == 0x80)
            keep++;
        columns++;
    }
    line->size = keep;
    line->data[keep] = '\0';
    nx_text_puts(line, ">");
}

static void put_table_line(struct renderer *r, char *const *cells, const size_t *widths, bool is_head)
{
    struct nx_text line = {0};

    for (size_t c = 0; c < r->count; c++) {
        bool right = nx_value_is_number(r->columns[c].type);
        bool last = c + 1 == r->count;

        nx_text_puts(&line, c ? "  " : "");
        put_padded(&line, is_head ? r->columns[c].name : cells[c], last && !right ? 0 : widths[c], right);
    }
    cut_line(&line, r->how->width);
    nx_text_append(&r->out->body, nx_text_string(&line), line.size);
    nx_text_puts(&r->out->body, "\n");
    nx_text_free(&line);
}

static void put_aligned(struct renderer *r)
{
    size_t *widths = nx_zalloc(r->count, sizeof(*widths)), total = 0;
    struct nx_text rule = {0};

    for (size_t c = 0; c < r->count; c++)
        widths[c] = nx_text_width(r->columns[c].name);
    for (size_t i = 0; i < r->cell_count; i++) {
        size_t width = nx_text_width(r->cells[i]);

        if (width > widths[i % r->count])
            widths[i % r->count] = width;
    }
    put_table_line(r, NULL, widths, true);
    for (size_t c = 0; c < r->count; c++) {
        nx_text_puts(&rule, c ? "  " : "");
        for (size_t i = 0; i < widths[c] && (!r->how->width || total < r->how->width); i++, total++)
            nx_text_puts(&rule, "-");
    }
    cut_line(&rule, r->how->width);
    nx_text_printf(&r->out->body, "%s\n", nx_text_string(&rule));
    nx_text_free(&rule);
    for (size_t i = 0; i + r->count <= r->cell_count; i += r->count)
        put_table_line(r, r->cells + i, widths, false);
    nx_text_printf(&r->out->body, "(%llu row%s%s)\n", (unsigned long long)r->out->rows,
                   r->out->rows == 1 ? "" : "s", r->out->truncated ? ", more were left out" : "");
    free(widths);
}

static locale_t users_locale;

void nx_render_init(void)
{
    users_locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
}

/*
 * Widths are the user's locale's business, and only they: a worker that was in it altogether would also compare
 * names by its rules, and "I" is no upper case of "i" in some.
 */
static void put_table(struct renderer *r)
{
    locale_t before = uselocale(users_locale);

    put_aligned(r);
    uselocale(before);
}

/* ------------------------------------------------------------------ all of it */

static void put_foot(struct renderer *r, double elapsed)
{
    if (r->how->format == NX_FORMAT_JSON)
        nx_text_printf(&r->out->body, "],\"rowCount\":%llu,\"truncated\":%s,\"elapsedMs\":%.3f}",
                       (unsigned long long)r->out->rows, r->out->truncated ? "true" : "false", elapsed);
    else if (r->how->format == NX_FORMAT_TABLE)
        put_table(r);
}

static bool full(const struct renderer *r, uint64_t cell_bytes)
{
    return r->out->rows >= r->how->max_rows || r->out->body.size + cell_bytes >= r->how->max_bytes;
}

/* The last row does not fit. */
static void take_back(struct renderer *r, size_t size)
{
    for (size_t c = 0; c < r->count && r->cell_count; c++)
        free(r->cells[--r->cell_count]);
    if (r->out->body.size > size) {
        r->out->body.size = size;
        r->out->body.data[size] = '\0';
    }
    r->out->rows--;
    r->out->truncated = true;
}

void nx_render(duckdb_result *result, const struct nx_rendering *how, double (*elapsed_ms)(void *), void *context,
               struct nx_rendered *out)
{
    struct renderer r = {.how = how, .out = out};
    duckdb_data_chunk chunk;
    uint64_t cell_bytes = 0;

    *out = (struct nx_rendered){0};
    if (!open_columns(&r, result)) {
        close_columns(&r);
        return;
    }
    put_head(&r);
    while (!out->truncated && (chunk = duckdb_fetch_chunk(*result))) {
        idx_t rows = duckdb_data_chunk_get_size(chunk);

        for (idx_t row = 0; row < rows && !out->truncated; row++) {
            size_t before = r.cell_count, size = out->body.size;

            if (full(&r, cell_bytes)) {
                out->truncated = true;
                break;
            }
            put_row(&r, chunk, row);
            for (; before < r.cell_count; before++)
                cell_bytes += strlen(r.cells[before]) + sizeof(char *);
            if (out->body.size + cell_bytes > how->max_bytes) /* one row can be larger than any answer */
                take_back(&r, size);
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    put_foot(&r, elapsed_ms(context));
    close_columns(&r);
}
