/* The report on a terminal. */
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/ask.h"
#include "analysis/draw.h"

#define BAR 24

/* Right-aligned in `width` columns. */
static void put_cell(struct nx_text *out, const json_t *value, const char *unit, size_t width)
{
    struct nx_text cell = {0};
    size_t own;

    nx_draw_value(&cell, value, unit);
    own = nx_draw_width(nx_text_string(&cell));
    nx_text_printf(out, "%*s%s", own < width ? (int)(width - own) : 0, "", nx_text_string(&cell));
    nx_text_free(&cell);
}

static void put_bar(struct nx_text *out, double share)
{
    int full = isnan(share) ? 0 : (int)lround(fmin(fmax(share, 0), 1) * BAR);

    for (int i = 0; i < BAR; i++)
        nx_text_puts(out, i < full ? "#" : ".");
}

static void put_bound(struct nx_text *out, const json_t *bound)
{
    nx_text_printf(out, "  %-32s", nx_string(bound, "name"));
    put_cell(out, json_object_get(bound, "ns"), "ns", 10);
    nx_text_puts(out, "  ");
    put_bar(out, nx_number(bound, "share"));
    put_cell(out, json_object_get(bound, "share"), "share", 8);
    put_cell(out, json_object_get(bound, "speedup"), "factor", 8);
    nx_text_puts(out, "\n");
}

static void put_gap(struct nx_text *out, const json_t *bound)
{
    nx_text_printf(out, "  %-18s", nx_string(bound, "gap"));
    put_cell(out, json_object_get(bound, "gap_ns"), "ns", 10);
    put_cell(out, json_object_get(bound, "gap_share"), "share", 9);
    nx_text_printf(out, "   to %s\n", nx_string(bound, "name"));
}

static void put_together(struct nx_text *out, const json_t *scope, bool several)
{
    const json_t *bounds = json_object_get(scope, "bounds"), *engines = json_object_get(scope, "engines"),
                 *row;
    const char *bottleneck = nx_string(scope, "bottleneck");
    size_t i;

    nx_text_printf(out, "\n%-52s of total time     speed-up\n",
                   several ? "Bounds, all cores together" : "Bounds");
    nx_text_printf(out, "  %-32s", "total_time");
    put_cell(out, json_object_get(json_object_get(scope, "quantities"), "total_ns"), "ns", 10);
    nx_text_puts(out, "  ");
    put_bar(out, 1);
    nx_text_puts(out, " 100.0 %\n");
    json_array_foreach(bounds, i, row) put_bound(out, row);
    nx_text_puts(out, "\nGaps\n");
    json_array_foreach(bounds, i, row) put_gap(out, row);
    nx_text_puts(out, "\nEngines, time at work\n");
    json_array_foreach(engines, i, row)
    {
        const char *name = nx_string(row, "engine");

        nx_text_printf(out, "  %-32s", name);
        put_cell(out, json_object_get(row, "active_ns"), "ns", 10);
        nx_text_puts(out, "  ");
        put_bar(out, nx_number(row, "share"));
        put_cell(out, json_object_get(row, "share"), "share", 8);
        nx_text_puts(out, bottleneck && strcmp(name, bottleneck) == 0 ? "  bottleneck\n" : "\n");
    }
}

/* One row of `list` ("bounds", "engines") over the cores, time and share. */
static void put_over_cores(struct nx_text *out, const json_t *scopes, const char *list, size_t at,
                           const char *label, const char *time)
{
    const json_t *scope;
    size_t i;

    nx_text_printf(out, "  %-32s", label);
    json_array_foreach(scopes, i, scope)
    {
        const json_t *row = json_array_get(json_object_get(scope, list), at);

        if (i == 0)
            continue;
        put_cell(out, json_object_get(row, time), "ns", 12);
        put_cell(out, json_object_get(row, "share"), "share", 9);
    }
    nx_text_puts(out, "\n");
}

static void put_apart(struct nx_text *out, const json_t *scopes)
{
    const json_t *first = json_array_get(scopes, 1), *scope, *row;
    size_t i;

    nx_text_printf(out, "\n%-34s", "Each core apart");
    json_array_foreach(scopes, i, scope) if (i)
        nx_text_printf(out, "%14s %-5lld ", "core", json_integer_value(json_object_get(scope, "core")));
    nx_text_puts(out, "\n");
    json_array_foreach(json_object_get(first, "bounds"), i, row)
        put_over_cores(out, scopes, "bounds", i, nx_string(row, "name"), "ns");
    json_array_foreach(json_object_get(first, "engines"), i, row)
        put_over_cores(out, scopes, "engines", i, nx_string(row, "engine"), "active_ns");
    nx_text_printf(out, "  %-32s", "bottleneck");
    json_array_foreach(scopes, i, scope) if (i)
        nx_text_printf(out, "%21s", nx_string(scope, "bottleneck") ? nx_string(scope, "bottleneck") : "-");
    nx_text_puts(out, "\n");
}

static void put_quantities(struct nx_text *out, const json_t *scope)
{
    static const struct {
        const char *label, *name, *unit, *of, *of_unit, *share;
    } lines[] = {
        {"DMA moved", "dma_transfer_bytes", "bytes", "necessary_bytes", "bytes", "excess_ratio"},
        {"DMA rate", "dma_achieved_bytes_per_s", "bytes/s", "dma_peak_bytes_per_s", "bytes/s",
         "dma_bandwidth_used"},
        {"Tensor FLOPs", "flops", "flops", "useful_flops", "flops", NULL},
        {"Tensor rate", "tensor_achieved_flops_per_s", "flops/s", "tensor_peak_flops_per_s", "flops/s",
         "tensor_flops_used"},
    };
    static const char *const words[] = {"necessary", "at peak", "useful", "at peak"};
    const json_t *quantities = json_object_get(scope, "quantities");

    nx_text_puts(out, "\nQuantities\n");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        nx_text_printf(out, "  %-18s", lines[i].label);
        put_cell(out, json_object_get(quantities, lines[i].name), lines[i].unit, 14);
        put_cell(out, json_object_get(quantities, lines[i].of), lines[i].of_unit, 14);
        nx_text_printf(out, " %-10s", words[i]);
        if (lines[i].share)
            put_cell(out, json_object_get(quantities, lines[i].share), i == 0 ? "factor" : "share", 10);
        nx_text_puts(out, "\n");
    }
}

static void put_sql(struct nx_text *out, const json_t *sql)
{
    const char *name;
    json_t *text;

    json_object_foreach((json_t *)(uintptr_t)sql, name, text)
        nx_text_printf(out, "\n-- %s ------------------------------------------------------------\n%s", name,
                       json_string_value(text));
}

void nx_report_text(const json_t *report, struct nx_text *out)
{
    const json_t *window = json_object_get(report, "window"), *scopes = json_object_get(report, "scopes"),
                 *row;
    const json_t *device = json_object_get(report, "device"), *notes = json_object_get(report, "notes");
    const char *instance = nx_string(device, "instance_type");
    size_t i;

    nx_text_printf(out, "%s%s%s, %.0f core%s\n", nx_string(report, "profile"), instance ? ", " : "",
                   instance ? instance : "", nx_number(device, "cores"),
                   nx_number(device, "cores") == 1 ? "" : "s");
    nx_text_printf(out, "window %.0f:%.0f ns (%s to %s)\n", nx_number(window, "t0"), nx_number(window, "t1"),
                   nx_string(window, "from"), nx_string(window, "to"));
    put_together(out, json_array_get(scopes, 0), json_array_size(scopes) > 1);
    put_quantities(out, json_array_get(scopes, 0));
    if (json_array_size(scopes) > 1)
        put_apart(out, scopes);
    if (json_array_size(notes))
        nx_text_puts(out, "\nNotes\n");
    json_array_foreach(notes, i, row)
    {
        nx_draw_wrapped(out, json_string_value(row), 2, NX_TEXT_WIDTH);
        nx_text_puts(out, "\n");
    }
    nx_draw_findings(out, json_object_get(report, "findings"));
    put_sql(out, json_object_get(report, "sql"));
}
