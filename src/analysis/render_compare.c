/* The comparison of versions, as text and as markdown: one column a version, changes from the first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/ask.h"
#include "analysis/draw.h"

#define LABEL 37
#define FIRST 21 /* value of the first version */
#define CELL 38  /* value, difference, factor of another one */

/* "-6151 us (0.28x)" behind a value; nothing if both are alike or one is not known. */
static void put_change(struct nx_text *out, const json_t *change, const char *unit)
{
    double difference = nx_number(change, "difference"), factor = nx_number(change, "factor");
    struct nx_text text = {0};
    const char *rate;

    if (isnan(difference) || difference == 0)
        return;
    nx_text_puts(out, difference > 0 ? " +" : " ");
    nx_draw_number(&text, difference, unit);
    rate = strstr(nx_text_string(&text), strcmp(unit, "flops/s") == 0 ? "FLOP/s" : "B/s");
    nx_text_append(out, nx_text_string(&text),
                   rate ? (size_t)(rate - text.data) : text.size); /* the unit is in the value */
    nx_text_free(&text);
    if (!isnan(factor)) {
        nx_text_puts(out, " (");
        nx_draw_number(out, factor, "factor");
        nx_text_puts(out, ")");
    }
}

static void draw_cell(struct nx_text *cell, const json_t *line, size_t at)
{
    const char *unit = nx_string(line, "unit");

    nx_text_clear(cell);
    nx_draw_value(cell, json_array_get(json_object_get(line, "values"), at), unit);
    if (at)
        put_change(cell, json_array_get(json_object_get(line, "changes"), at - 1), unit);
}

static void draw_finding(struct nx_text *cell, const json_t *finding, size_t at)
{
    const char *outcome = json_string_value(json_array_get(json_object_get(finding, "outcomes"), at));
    const char *change =
        at ? json_string_value(json_array_get(json_object_get(finding, "changes"), at - 1)) : NULL;

    nx_text_clear(cell);
    if (strcmp(outcome, "found") == 0)
        nx_draw_value(cell, json_array_get(json_object_get(finding, "costs_ns"), at), "ns");
    else
        nx_text_puts(cell, strcmp(outcome, "nothing") == 0 ? "none" : outcome);
    if (change && strncmp(change, "still", 5) != 0 && strcmp(change, "not known") != 0)
        nx_text_printf(cell, ", %s", change);
}

/* The first version's cell, and beside it those of others: what they are compared with is always in sight. */
static void put_cells(struct nx_text *out, const char *label, const json_t *row, size_t from, size_t to,
                      void (*draw)(struct nx_text *, const json_t *, size_t))
{
    struct nx_text cell = {0};

    nx_text_printf(out, "  %-*s", LABEL, label);
    draw(&cell, row, 0);
    nx_text_puts(out, nx_text_string(&cell));
    for (size_t i = from, width = FIRST; i < to; i++, width = CELL) {
        for (size_t own = nx_draw_width(nx_text_string(&cell)); own < width; own++)
            nx_text_puts(out, " ");
        draw(&cell, row, i);
        nx_text_puts(out, nx_text_string(&cell));
    }
    nx_text_puts(out, "\n");
    nx_text_free(&cell);
}

static void draw_name(struct nx_text *cell, const json_t *names, size_t at)
{
    struct nx_text name = {0};

    nx_text_clear(cell);
    nx_draw_value(&name, json_array_get(names, at), "text");
    nx_draw_tail(cell, nx_text_string(&name), at ? CELL - 2 : FIRST - 2);
    nx_text_free(&name);
}

/* The first version and `from` to `to`; the table is repeated for the next ones. */
static void put_versions(struct nx_text *out, const json_t *comparison, size_t from, size_t to)
{
    const json_t *list = json_object_get(comparison, "lines"),
                 *findings = json_object_get(comparison, "findings"), *row;
    char label[64];
    size_t i;

    put_cells(out, "", json_object_get(comparison, "profiles"), from, to, draw_name);
    json_array_foreach(list, i, row) put_cells(out, nx_string(row, "name"), row, from, to, draw_cell);
    put_cells(out, "bottleneck", json_object_get(comparison, "bottlenecks"), from, to, draw_name);
    nx_text_puts(out, "\n  Findings, cost\n");
    json_array_foreach(findings, i, row)
    {
        snprintf(label, sizeof(label), "%s [%s]", nx_string(row, "title"), nx_string(row, "id"));
        put_cells(out, label, row, from, to, draw_finding);
    }
}

void nx_comparison_text(const json_t *comparison, struct nx_text *out)
{
    size_t count = json_array_size(json_object_get(comparison, "profiles")),
           together = (NX_TEXT_WIDTH - LABEL - 2 - FIRST) / CELL;

    nx_text_puts(out, "Versions side by side; differences and factors are from the first\n\n");
    for (size_t from = 1; from < count; from += together) {
        nx_text_puts(out, from > 1 ? "\n" : "");
        put_versions(out, comparison, from, from + together < count ? from + together : count);
    }
}

/* ------------------------------------------------------------------ markdown */

static void put_row(struct nx_text *out, const char *label, const json_t *row, size_t count,
                    void (*draw)(struct nx_text *, const json_t *, size_t))
{
    struct nx_text cell = {0};

    nx_text_printf(out, "| %s", label);
    for (size_t i = 0; i < count; i++) {
        draw(&cell, row, i);
        nx_text_puts(out, " | ");
        nx_draw_markdown(out, nx_text_string(&cell));
    }
    nx_text_puts(out, " |\n");
    nx_text_free(&cell);
}

static void draw_whole_name(struct nx_text *cell, const json_t *names, size_t at)
{
    nx_text_clear(cell);
    nx_draw_value(cell, json_array_get(names, at), "text");
}

void nx_comparison_markdown(const json_t *comparison, struct nx_text *out)
{
    const json_t *profiles = json_object_get(comparison, "profiles"), *row;
    const json_t *list = json_object_get(comparison, "lines"),
                 *findings = json_object_get(comparison, "findings");
    size_t i, count = json_array_size(profiles);
    char label[64];

    put_row(out, "", profiles, count, draw_whole_name);
    nx_text_puts(out, "| ---");
    for (i = 0; i < count; i++)
        nx_text_puts(out, " | ---:");
    nx_text_puts(out, " |\n");
    json_array_foreach(list, i, row) put_row(out, nx_string(row, "name"), row, count, draw_cell);
    put_row(out, "bottleneck", json_object_get(comparison, "bottlenecks"), count, draw_whole_name);
    json_array_foreach(findings, i, row)
    {
        snprintf(label, sizeof(label), "%s [%s]", nx_string(row, "title"), nx_string(row, "id"));
        put_row(out, label, row, count, draw_finding);
    }
}
