/* Several versions of a kernel side by side. */
#include <math.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/bounds.h"

/* What all versions have: where it stands in a report's first scope, and its unit. */
struct line {
    const char *list; /* "quantities", "bounds", "engines" */
    const char *name;
    const char *member; /* of a bound: "ns" or "gap_ns" */
    const char *unit;
};

static const struct line lines[] = {
    {"quantities", "total_ns", NULL, "ns"},
    {"bounds", "memory_bound", "ns", "ns"},
    {"bounds", "memory_bound_ideal", "ns", "ns"},
    {"bounds", "memory_bound_ideal_no_reloads", "ns", "ns"},
    {"bounds", "compute_bound", "ns", "ns"},
    {"bounds", "compute_bound_ideal_flops", "ns", "ns"},
    {"bounds", "compute_bound_ideal_useful_flops", "ns", "ns"},
    {"bounds", "perfect_pipeline", "ns", "ns"},
    {"bounds", "memory_bound", "gap_ns", "ns"},
    {"bounds", "memory_bound_ideal", "gap_ns", "ns"},
    {"bounds", "memory_bound_ideal_no_reloads", "gap_ns", "ns"},
    {"bounds", "compute_bound", "gap_ns", "ns"},
    {"bounds", "compute_bound_ideal_flops", "gap_ns", "ns"},
    {"bounds", "compute_bound_ideal_useful_flops", "gap_ns", "ns"},
    {"bounds", "perfect_pipeline", "gap_ns", "ns"},
    {"engines", "Tensor", "active_ns", "ns"},
    {"engines", "Vector", "active_ns", "ns"},
    {"engines", "Scalar", "active_ns", "ns"},
    {"engines", "GpSimd", "active_ns", "ns"},
    {"engines", "DMA", "active_ns", "ns"},
    {"quantities", "dma_transfer_bytes", NULL, "bytes"},
    {"quantities", "necessary_bytes", NULL, "bytes"},
    {"quantities", "dma_achieved_bytes_per_s", NULL, "bytes/s"},
    {"quantities", "flops", NULL, "flops"},
    {"quantities", "transpose_flops", NULL, "flops"},
    {"quantities", "tensor_achieved_flops_per_s", NULL, "flops/s"},
};

static const json_t *named(const json_t *list, const char *key, const char *name)
{
    const json_t *row;
    size_t i;

    json_array_foreach(list, i, row)
    {
        const char *own = nx_string(row, key);

        if (own && strcmp(own, name) == 0)
            return row;
    }
    return NULL;
}

static const json_t *first_scope(const json_t *report)
{
    return json_array_get(json_object_get(report, "scopes"), 0);
}

static double value_of(const json_t *report, const struct line *line)
{
    const json_t *list = json_object_get(first_scope(report), line->list);

    if (!line->member)
        return nx_number(list, line->name);
    return nx_number(named(list, strcmp(line->list, "engines") == 0 ? "engine" : "name", line->name),
                     line->member);
}

/* {"name", "unit", "values": [...], "changes": [{"difference", "factor"}, ...]}: changes from the first, one
 * a version. */
static json_t *line_json(const json_t *reports, const struct line *line)
{
    json_t *values = json_array(), *changes = json_array(), *name;
    double first = value_of(json_array_get(reports, 0), line);
    const json_t *report;
    size_t i;

    json_array_foreach(reports, i, report)
    {
        double value = value_of(report, line);

        json_array_append_new(values, nx_json_number(value));
        if (i)
            json_array_append_new(changes,
                                  json_pack("{s:o,s:o}", "difference", nx_json_number(value - first),
                                            "factor", nx_json_number(first > 0 ? value / first : NAN)));
    }
    if (line->member && strcmp(line->member, "gap_ns") == 0)
        name = json_sprintf("%s_gap", line->name);
    else if (strcmp(line->list, "engines") == 0)
        name = json_sprintf("%s active", line->name);
    else
        name = json_string(line->name);
    return json_pack("{s:o,s:s,s:o,s:o}", "name", name, "unit", line->unit, "values", values, "changes",
                     changes);
}

/* Findings by version: their costs (null where the version does not have it), and how that changed from the
 * one before. */
static json_t *findings_json(const json_t *reports)
{
    json_t *list = json_array();
    const json_t *kinds = json_object_get(json_array_get(reports, 0), "findings"), *kind, *report;
    size_t k, i;

    json_array_foreach(kinds, k, kind)
    {
        const char *name = nx_string(kind, "name"), *before = NULL;
        json_t *costs = json_array(), *outcomes = json_array(), *changes = json_array(),
               *headlines = json_array();

        json_array_foreach(reports, i, report)
        {
            const json_t *own = named(json_object_get(report, "findings"), "name", name);
            const char *outcome = nx_string(own, "outcome");
            bool had = before && strcmp(before, "found") == 0, has = strcmp(outcome, "found") == 0;

            json_array_append_new(costs, nx_json_number(nx_number(own, "cost_ns")));
            json_array_append_new(outcomes, json_string(outcome));
            json_array_append(headlines, json_object_get(own, "headline"));
            if (i)
                json_array_append_new(
                    changes, json_string(strcmp(outcome, "no data") == 0 || strcmp(before, "no data") == 0
                                             ? (strcmp(outcome, before) == 0 ? "not known" : "not comparable")
                                         : had == has ? (has ? "still there" : "still absent")
                                         : has        ? "appeared"
                                                      : "vanished"));
            before = outcome;
        }
        json_array_append_new(list,
                              json_pack("{s:O,s:O,s:O,s:o,s:o,s:o,s:o}", "id", json_object_get(kind, "id"),
                                        "name", json_object_get(kind, "name"), "title",
                                        json_object_get(kind, "title"), "outcomes", outcomes, "costs_ns",
                                        costs, "changes", changes, "headlines", headlines));
    }
    return list;
}

static json_t *members(const json_t *reports, const char *scope_member, const char *member)
{
    json_t *list = json_array();
    const json_t *report;
    size_t i;

    json_array_foreach(reports, i, report)
    {
        const json_t *value = json_object_get(scope_member ? first_scope(report) : report,
                                              scope_member ? scope_member : member);

        json_array_append(list, (json_t *)(uintptr_t)value);
    }
    return list;
}

json_t *nx_compare(struct nx_pool *pool, const char *const *profiles, size_t count,
                   const struct nx_analysis_options *options, struct nx_answer *failure)
{
    json_t *reports = json_array(), *table = json_array(), *comparison;

    for (size_t i = 0; i < count; i++) {
        json_t *report = nx_analyze(pool, profiles[i], options, failure);

        if (!report) {
            json_decref(reports);
            json_decref(table);
            return NULL;
        }
        json_array_append_new(reports, report);
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        json_array_append_new(table, line_json(reports, &lines[i]));
    comparison = json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:o}", "comparison", 1, "profiles",
                           members(reports, NULL, "profile"), "windows", members(reports, NULL, "window"),
                           "bottlenecks", members(reports, "bottleneck", NULL), "lines", table, "findings",
                           findings_json(reports), "notes", members(reports, NULL, "notes"));
    if (options->show_sql)
        json_object_set_new(comparison, "sql", members(reports, NULL, "sql"));
    json_decref(reports);
    return comparison;
}
