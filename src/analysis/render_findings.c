/* The findings of a report on a terminal. */
#include <string.h>

#include "analysis/ask.h"
#include "analysis/draw.h"

#define ROWS 12 /* of a finding's table; the JSON has more */
#define MAX_COLUMNS 12
#define SHORTEST 12 /* a text is not cut below that */

static bool is_text(const json_t *column)
{
    return strcmp(nx_string(column, "unit"), "text") == 0;
}

static void draw(struct nx_text *cell, const json_t *row, const json_t *column)
{
    nx_text_clear(cell);
    nx_draw_value(cell, json_object_get(row, nx_string(column, "key")), nx_string(column, "unit"));
}

/* Widths of the columns; where the line would be too long, the widest texts give way. */
static void measure(const json_t *table, size_t *widths)
{
    const json_t *columns = json_object_get(table, "columns"), *rows = json_object_get(table, "rows"),
                 *column, *row;
    size_t c, r, total = 4;
    struct nx_text cell = {0};

    json_array_foreach(columns, c, column)
    {
        widths[c] = nx_draw_width(nx_string(column, "title"));
        json_array_foreach(rows, r, row)
        {
            size_t own;

            if (r == ROWS)
                break;
            draw(&cell, row, column);
            own = nx_draw_width(nx_text_string(&cell));
            if (own > widths[c])
                widths[c] = own;
        }
        total += widths[c] + 2;
    }
    while (total > NX_TEXT_WIDTH + 2) {
        size_t widest = 0, found = SHORTEST;

        json_array_foreach(columns, c, column) if (is_text(column) && widths[c] > found) widest = c,
                                                                                         found = widths[c];
        if (found == SHORTEST)
            break;
        widths[widest]--;
        total--;
    }
    nx_text_free(&cell);
}

static void put_padded(struct nx_text *out, const char *text, size_t width, bool right)
{
    size_t own;
    struct nx_text cut = {0};

    nx_draw_tail(&cut, text, width);
    own = nx_draw_width(nx_text_string(&cut));
    nx_text_printf(out, "%*s%s%*s", right && own < width ? (int)(width - own) : 0, "", nx_text_string(&cut),
                   !right && own < width ? (int)(width - own) : 0, "");
    nx_text_free(&cut);
}

static void put_table(struct nx_text *out, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"), *rows = json_object_get(table, "rows"),
                 *column, *row;
    size_t widths[MAX_COLUMNS] = {0}, c, r, count = json_array_size(rows);
    json_int_t more = json_integer_value(json_object_get(table, "more"));
    struct nx_text cell = {0};

    if (!count || json_array_size(columns) > MAX_COLUMNS)
        return;
    nx_text_printf(out, "\n    %s\n    ", nx_string(table, "title"));
    measure(table, widths);
    json_array_foreach(columns, c, column)
    {
        nx_text_puts(out, c ? "  " : "");
        put_padded(out, nx_string(column, "title"), widths[c], !is_text(column));
    }
    nx_text_puts(out, "\n");
    json_array_foreach(rows, r, row)
    {
        if (r == ROWS)
            break;
        nx_text_puts(out, "    ");
        json_array_foreach(columns, c, column)
        {
            draw(&cell, row, column);
            nx_text_puts(out, c ? "  " : "");
            put_padded(out, nx_text_string(&cell), widths[c], !is_text(column));
        }
        nx_text_puts(out, "\n");
    }
    if (count > ROWS || more)
        nx_text_printf(out, "    (%lld more rows: --format json)\n",
                       (long long)(count > ROWS ? count - ROWS : 0) + (long long)more);
    nx_text_free(&cell);
}

static void put_list(struct nx_text *out, const json_t *list, const char *label)
{
    struct nx_text line = {0};
    const json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        nx_text_clear(&line);
        nx_text_printf(&line, "%s: %s", label, json_string_value(item));
        nx_text_puts(out, i ? "" : "\n");
        nx_draw_wrapped(out, nx_text_string(&line), 4, NX_TEXT_WIDTH);
        nx_text_puts(out, "\n");
    }
    nx_text_free(&line);
}

static void put_finding(struct nx_text *out, const json_t *finding, size_t number)
{
    const json_t *table;
    size_t i;

    nx_text_printf(out, "\n%zu. %s [%s]", number, nx_string(finding, "title"), nx_string(finding, "id"));
    if (json_is_number(json_object_get(finding, "cost_ns"))) {
        nx_text_puts(out, "  ");
        nx_draw_value(out, json_object_get(finding, "cost_ns"), "ns");
        nx_text_puts(out, " (");
        nx_draw_value(out, json_object_get(finding, "cost_share"), "share");
        nx_text_puts(out, " of total)");
    }
    nx_text_puts(out, nx_number_or_0(finding, "leverage_ns") > 0 ? ", leverage "
                                                                 : ", no leverage: not the bottleneck");
    if (nx_number_or_0(finding, "leverage_ns") > 0)
        nx_draw_value(out, json_object_get(finding, "leverage_ns"), "ns");
    nx_text_puts(out, "\n");
    nx_draw_wrapped(out, nx_string(finding, "headline"), 4, NX_TEXT_WIDTH);
    nx_text_puts(out, "\n");
    json_array_foreach(json_object_get(finding, "tables"), i, table) put_table(out, table);
    put_list(out, json_object_get(finding, "notes"), "note");
    put_list(out, json_object_get(finding, "missing"), "missing");
}

static void put_other(struct nx_text *out, const json_t *finding)
{
    struct nx_text line = {0};

    nx_text_printf(&line, "%s [%s]: %s", nx_string(finding, "title"), nx_string(finding, "id"),
                   nx_string(finding, "headline"));
    nx_draw_wrapped(out, nx_text_string(&line), 2, NX_TEXT_WIDTH);
    nx_text_puts(out, "\n");
    put_list(out, json_object_get(finding, "missing"), "missing");
    nx_text_free(&line);
}

void nx_draw_findings(struct nx_text *out, const json_t *findings)
{
    const json_t *finding;
    size_t i, number = 0;
    bool others = false;

    nx_text_puts(out, "\nFindings, the one with the most leverage on the bottleneck first\n");
    json_array_foreach(findings, i, finding) if (strcmp(nx_string(finding, "outcome"), "found") == 0)
        put_finding(out, finding, ++number);
    else others = true;
    if (!number)
        nx_text_puts(out, "  none\n");
    if (others)
        nx_text_puts(out, "\nLooked at, without a finding\n");
    json_array_foreach(findings, i, finding) if (strcmp(nx_string(finding, "outcome"), "found") != 0)
        put_other(out, finding);
}
