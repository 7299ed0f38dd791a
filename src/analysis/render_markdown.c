/* The report as markdown, for an issue or a pull request. */
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/ask.h"
#include "analysis/draw.h"

static void put_cell(struct nx_text *out, const json_t *row, const char *key, const char *unit)
{
    struct nx_text cell = {0};

    nx_draw_value(&cell, json_object_get(row, key), unit);
    nx_text_puts(out, "| ");
    nx_draw_markdown(out, nx_text_string(&cell));
    nx_text_puts(out, " ");
    nx_text_free(&cell);
}

static void put_scope(struct nx_text *out, const json_t *scope, size_t scope_count)
{
    const json_t *core = json_object_get(scope, "core"), *row;
    size_t i;

    if (json_is_integer(core))
        nx_text_printf(out, "\n## Bounds of core %d\n", (int)json_integer_value(core));
    else
        nx_text_printf(out, "\n## Bounds%s\n", scope_count > 1 ? " of all cores" : "");
    nx_text_puts(out, "\n| Bound | Time | of total | Gap | Gap, time | of total | Speed-up |\n"
                      "| --- | ---: | ---: | --- | ---: | ---: | ---: |\n");
    json_array_foreach(json_object_get(scope, "bounds"), i, row)
    {
        nx_text_printf(out, "| %s ", nx_string(row, "name"));
        put_cell(out, row, "ns", "ns");
        put_cell(out, row, "share", "share");
        put_cell(out, row, "gap", "text");
        put_cell(out, row, "gap_ns", "ns");
        put_cell(out, row, "gap_share", "share");
        put_cell(out, row, "speedup", "factor");
        nx_text_puts(out, "|\n");
    }
    nx_text_puts(out, "\n| Engine | At work | of total |\n| --- | ---: | ---: |\n");
    json_array_foreach(json_object_get(scope, "engines"), i, row)
    {
        nx_text_printf(out, "| %s ", nx_string(row, "engine"));
        put_cell(out, row, "active_ns", "ns");
        put_cell(out, row, "share", "share");
        nx_text_puts(out, "|\n");
    }
    if (nx_string(scope, "bottleneck"))
        nx_text_printf(out, "\nBottleneck: %s\n", nx_string(scope, "bottleneck"));
}

static void put_table(struct nx_text *out, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"), *column, *row;
    size_t c, r;

    if (json_array_size(json_object_get(table, "rows")) == 0)
        return;
    nx_text_printf(out, "\n%s:\n\n", nx_string(table, "title"));
    json_array_foreach(columns, c, column) nx_text_printf(out, "| %s ", nx_string(column, "title"));
    nx_text_puts(out, "|\n");
    json_array_foreach(columns, c, column)
        nx_text_puts(out, strcmp(nx_string(column, "unit"), "text") == 0 ? "| --- " : "| ---: ");
    nx_text_puts(out, "|\n");
    json_array_foreach(json_object_get(table, "rows"), r, row)
    {
        json_array_foreach(columns, c, column)
            put_cell(out, row, nx_string(column, "key"), nx_string(column, "unit"));
        nx_text_puts(out, "|\n");
    }
}

static void put_list(struct nx_text *out, const json_t *list, const char *label)
{
    const json_t *item;
    size_t i;

    nx_text_puts(out, json_array_size(list) ? "\n" : "");
    json_array_foreach(list, i, item) nx_text_printf(out, "- %s%s\n", label, json_string_value(item));
}

static void put_finding(struct nx_text *out, const json_t *finding)
{
    bool found = strcmp(nx_string(finding, "outcome"), "found") == 0;
    const json_t *table;
    size_t i;

    nx_text_printf(out, "\n### %s (%s)\n\n%s", nx_string(finding, "title"), nx_string(finding, "id"),
                   nx_string(finding, "headline"));
    if (found) {
        nx_text_puts(out, "; cost ");
        nx_draw_value(out, json_object_get(finding, "cost_ns"), "ns");
        nx_text_puts(out, ", leverage ");
        nx_draw_value(out, json_object_get(finding, "leverage_ns"), "ns");
    }
    nx_text_puts(out, ".\n");
    if (found)
        json_array_foreach(json_object_get(finding, "tables"), i, table) put_table(out, table);
    put_list(out, json_object_get(finding, "notes"), "");
    put_list(out, json_object_get(finding, "missing"), "missing: ");
}

void nx_report_markdown(const json_t *report, struct nx_text *out)
{
    const json_t *window = json_object_get(report, "window"), *scopes = json_object_get(report, "scopes"),
                 *row;
    const json_t *notes = json_object_get(report, "notes");
    size_t i;

    nx_text_printf(out, "# %s\n\nWindow %.0f to %.0f ns, ", nx_string(report, "profile"),
                   nx_number(window, "t0"), nx_number(window, "t1"));
    nx_draw_number(out, nx_number(window, "total_ns"), "ns");
    nx_text_puts(out, "\n");
    json_array_foreach(scopes, i, row) put_scope(out, row, json_array_size(scopes));
    nx_text_puts(out, json_array_size(notes) ? "\n## Notes\n\n" : "");
    json_array_foreach(notes, i, row) nx_text_printf(out, "- %s\n", json_string_value(row));
    nx_text_puts(out, "\n## Findings\n");
    json_array_foreach(json_object_get(report, "findings"), i, row) put_finding(out, row);
}
