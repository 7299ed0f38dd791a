#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/analysis.h"
#include "analysis/investigation.h"
#include "base/memory.h"

#define REPORT_VERSION 1 /* of the JSON document: docs/analysis.md */

static void fail(struct nx_inquiry *inquiry, enum nx_query_code code, char *message)
{
    if (inquiry->failure.code == NX_QUERY_OK)
        inquiry->failure = (struct nx_answer){.code = code, .message = message};
    else
        free(message);
}

/* ------------------------------------------------------------------ window */

static double edge_ns(const struct nx_edge *edge, const json_t *dma, const json_t *device)
{
    switch (edge->kind) {
    case NX_EDGE_FIRST_DMA:
        return nx_number(dma, "t0");
    case NX_EDGE_LAST_DMA:
        return nx_number(dma, "t1");
    case NX_EDGE_START:
        return nx_number(device, "start_ts");
    case NX_EDGE_END:
        return nx_number(device, "end_ts");
    case NX_EDGE_NS:
        break;
    }
    return (double)edge->ns;
}

static bool is_dma(const struct nx_edge *edge)
{
    return edge->kind == NX_EDGE_FIRST_DMA || edge->kind == NX_EDGE_LAST_DMA;
}

static const char *edge_name(const struct nx_edge *edge)
{
    static const char *const names[] = {"first-dma", "last-dma", "start", "end", "given"};

    return names[edge->kind];
}

/*
 * Sets the inquiry's window. A profile without DMA packets has none of the default one: then it is all of it.
 */
static bool find_window(struct nx_inquiry *inquiry, struct nx_window window, const json_t *device,
                        json_t **note, json_t **shown)
{
    const json_t *dma = NULL;
    double t0, t1;

    *note = NULL;
    if (is_dma(&window.from) || is_dma(&window.to)) {
        dma = json_array_get(nx_ask(inquiry, "window"), 0);
        if (isnan(nx_number(dma, "t0"))) {
            *note = json_string(
                "the kernel has no DMA packets of its own: the window is the whole profile instead");
            if (is_dma(&window.from))
                window.from.kind = NX_EDGE_START;
            if (is_dma(&window.to))
                window.to.kind = NX_EDGE_END;
        }
    }
    t0 = edge_ns(&window.from, dma, device);
    t1 = edge_ns(&window.to, dma, device);
    if (inquiry->failure.code != NX_QUERY_OK)
        return false;
    if (isnan(t0) || isnan(t1) || !(t1 > t0) || t0 < -9e15 || t1 > 9e15) {
        char *message = NULL;

        if (asprintf(&message, "the window from %.0f to %.0f ns holds no time", t0, t1) < 0)
            message = NULL;
        fail(inquiry, NX_QUERY_SQL_ERROR, message);
        return false;
    }
    inquiry->t0 = (int64_t)t0;
    inquiry->t1 = (int64_t)t1;
    inquiry->has_window = true;
    inquiry->is_part = window.from.kind == NX_EDGE_NS || window.to.kind == NX_EDGE_NS;
    *shown = json_pack("{s:I,s:I,s:I,s:s,s:s}", "t0", (json_int_t)t0, "t1", (json_int_t)t1, "total_ns",
                       (json_int_t)(t1 - t0), "from", edge_name(&window.from), "to", edge_name(&window.to));
    return true;
}

/* ------------------------------------------------------------------ the report */

static json_t *scopes_json(const struct nx_bounds *bounds)
{
    json_t *list = json_array();

    for (size_t i = 0; i < bounds->count; i++)
        json_array_append_new(list, nx_scope_json(&bounds->scopes[i]));
    return list;
}

static json_t *keys(const json_t *set)
{
    json_t *list = json_array();
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)set, key, value) json_array_append_new(list, json_string(key));
    return list;
}

static json_t *assemble(struct nx_inquiry *inquiry, const struct nx_bounds *bounds, json_t *window,
                        const struct nx_analysis_options *options)
{
    json_t *findings = nx_investigate(inquiry, bounds);
    json_t *report =
        json_pack("{s:i,s:s,s:o,s:O,s:o,s:O,s:o,s:o}", "report", REPORT_VERSION, "profile", inquiry->profile,
                  "window", window, "device", bounds->device, "scopes", scopes_json(bounds), "notes",
                  bounds->notes, "absent_tables", keys(inquiry->absent), "findings", findings);

    if (options->show_sql)
        json_object_set(report, "sql", inquiry->sql);
    return report;
}

json_t *nx_analyze(struct nx_pool *pool, const char *profile, const struct nx_analysis_options *options,
                   struct nx_answer *failure)
{
    struct nx_inquiry inquiry = {
        .pool = pool, .profile = profile, .timeout_ms = options->timeout_ms, .cancel_fd = options->cancel_fd};
    struct nx_bounds bounds = {0};
    json_t *report = NULL, *note = NULL, *window = NULL;
    const json_t *device;

    *failure = (struct nx_answer){0};
    if (nx_inquiry_start(&inquiry)) {
        device = json_array_get(nx_ask(&inquiry, "device"), 0);
        if (!device)
            fail(&inquiry, NX_QUERY_FAILED,
                 nx_strdup("the profile has no Metadata: the device's constants are not known"));
        if (find_window(&inquiry, options->window, device, &note, &window) &&
            nx_bounds_measure(&inquiry, device, &bounds)) {
            if (note)
                json_array_insert(bounds.notes, 0, note);
            report = assemble(&inquiry, &bounds, json_incref(window), options);
            if (inquiry.stopped) {
                json_decref(report);
                report = NULL;
            }
        }
        json_decref(note);
        json_decref(window);
        nx_bounds_free(&bounds);
    }
    if (!report) {
        *failure = inquiry.failure;
        inquiry.failure = (struct nx_answer){0};
    }
    nx_inquiry_end(&inquiry);
    return report;
}
