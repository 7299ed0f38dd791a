#include "analysis/investigation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/draw.h"
#include "analysis/thresholds.h"
#include "base/memory.h"

extern const struct nx_investigation nx_investigate_dma_idle, nx_investigate_dma_efficiency,
    nx_investigate_dma_redundant, nx_investigate_tensor_idle, nx_investigate_tensor_efficiency,
    nx_investigate_tensor_transposes, nx_investigate_other_engine;

const struct nx_investigation *const nx_investigations[] = {
    &nx_investigate_dma_idle,          &nx_investigate_dma_efficiency,
    &nx_investigate_dma_redundant,     &nx_investigate_tensor_idle,
    &nx_investigate_tensor_efficiency, &nx_investigate_tensor_transposes,
    &nx_investigate_other_engine,      NULL,
};

/* ------------------------------------------------------------------ what an investigation says */

static json_t *print_text(const char *format, va_list args)
{
    char *text = NULL;
    json_t *json;

    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    json = json_string(text ? text : "");
    free(text);
    return json ? json : json_string("(a name in it is not UTF-8)");
}

void nx_case_headline(struct nx_case *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    json_decref(c->headline);
    c->headline = print_text(format, args);
    va_end(args);
}

void nx_case_note(struct nx_case *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    json_array_append_new(c->notes, print_text(format, args));
    va_end(args);
}

void nx_case_missing(struct nx_case *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    json_array_append_new(c->missing, print_text(format, args));
    va_end(args);
}

void nx_case_figure(struct nx_case *c, const char *name, double value, const char *unit)
{
    json_array_append_new(
        c->figures, json_pack("{s:s,s:o,s:s}", "name", name, "value", nx_json_number(value), "unit", unit));
}

void nx_case_table(struct nx_case *c, const char *name, const char *title,
                   const struct nx_table_column *columns, size_t column_count, json_t *rows)
{
    json_t *list = json_array(), *kept = json_array();
    size_t count = json_array_size(rows);

    for (size_t i = 0; i < column_count; i++)
        json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "key", columns[i].key, "title",
                                              columns[i].title, "unit", columns[i].unit));
    for (size_t r = 0; r < count && r < NX_TABLE_ROWS; r++) {
        const json_t *row = json_array_get(rows, r);
        json_t *shown = json_object();

        for (size_t i = 0; i < column_count; i++) {
            json_t *value = json_object_get(row, columns[i].key);

            if (json_is_real(value))
                json_object_set_new(shown, columns[i].key, nx_json_number(json_number_value(value)));
            else
                json_object_set_new(shown, columns[i].key, value ? json_incref(value) : json_null());
        }
        json_array_append_new(kept, shown);
    }
    json_array_append_new(
        c->tables, json_pack("{s:s,s:s,s:o,s:o,s:I}", "name", name, "title", title, "columns", list, "rows",
                             kept, "more", (json_int_t)(count > NX_TABLE_ROWS ? count - NX_TABLE_ROWS : 0)));
    json_decref(rows);
}

void nx_case_statement(struct nx_case *c, const char *key)
{
    const json_t *known;
    size_t i;

    json_array_foreach(c->statements, i, known) if (strcmp(json_string_value(known), key) == 0) return;
    json_array_append_new(c->statements, json_string(key));
}

const json_t *nx_case_ask_about(struct nx_case *c, const char *statement, const char *engine)
{
    char *key = nx_ask_key(statement, engine);
    const json_t *rows = nx_ask_about(c->inquiry, statement, engine);
    const char *why = json_string_value(json_object_get(c->inquiry->failed, key));

    nx_case_statement(c, key);
    if (why)
        nx_case_missing(c, "%s has no answer: %s", key, why);
    free(key);
    return rows;
}

const json_t *nx_case_ask(struct nx_case *c, const char *statement)
{
    return nx_case_ask_about(c, statement, NULL);
}

bool nx_case_needs(struct nx_case *c, const char *table, const char *why)
{
    if (nx_inquiry_has(c->inquiry, table))
        return true;
    nx_case_missing(c, "no table %s: %s", table, why);
    return false;
}

const char *nx_shown(double value, const char *unit)
{
    static _Thread_local char shown[8][40];
    static _Thread_local unsigned next;
    struct nx_text text = {0};
    char *to = shown[next++ % 8];

    nx_draw_number(&text, value, unit);
    snprintf(to, sizeof(shown[0]), "%s", nx_text_string(&text));
    nx_text_free(&text);
    return to;
}

/* ------------------------------------------------------------------ all of them */

/*
 * By how much the slowest engine's time falls when this overhead is gone and the other engines stay as they
 * are; for idleness, by how much total time can fall before the slowest engine is never idle.
 */
static double leverage(const struct nx_case *c, bool is_idleness)
{
    const struct nx_scope *scope = c->scope;
    double slowest;

    if (c->outcome != NX_FOUND || c->unit < 0 || isnan(c->cost) || c->unit != scope->bottleneck)
        return 0;
    if (is_idleness)
        return c->cost;
    slowest = scope->active[c->unit];
    return fmax(0, slowest - fmax(slowest - c->cost, nx_slowest_other(scope, c->unit)));
}

static json_t *investigate(struct nx_inquiry *inquiry, const struct nx_bounds *bounds,
                           const struct nx_investigation *what)
{
    static const char *const outcomes[] = {
        [NX_NOTHING] = "nothing", [NX_FOUND] = "found", [NX_NO_DATA] = "no data"};
    struct nx_case c = {.inquiry = inquiry,
                        .bounds = bounds,
                        .scope = &bounds->scopes[0],
                        .unit = -1,
                        .cost = NAN,
                        .figures = json_array(),
                        .tables = json_array(),
                        .notes = json_array(),
                        .missing = json_array(),
                        .statements = json_array()};
    double gain;

    what->run(&c);
    gain = leverage(&c, what->is_idleness);
    return json_pack("{s:s,s:s,s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "id", what->id, "name",
                     what->name, "title", what->title, "outcome", outcomes[c.outcome], "engine",
                     c.unit < 0 ? json_null() : json_string(nx_unit_name((enum nx_unit)c.unit)), "cost_ns",
                     nx_json_number(c.outcome == NX_FOUND ? c.cost : NAN), "cost_share",
                     nx_json_number(c.outcome == NX_FOUND ? nx_ratio(c.cost, c.scope->total) : NAN),
                     "leverage_ns", nx_json_number(gain), "headline",
                     c.headline ? c.headline : json_string(""), "figures", c.figures, "tables", c.tables,
                     "notes", c.notes, "missing", c.missing, "statements", c.statements);
}

static int by_leverage(const void *left, const void *right)
{
    const json_t *a = *(const json_t *const *)left, *b = *(const json_t *const *)right;
    double x = nx_number_or_0(a, "leverage_ns"), y = nx_number_or_0(b, "leverage_ns");
    bool a_found = strcmp(nx_string(a, "outcome"), "found") == 0,
         b_found = strcmp(nx_string(b, "outcome"), "found") == 0;

    if (a_found != b_found)
        return a_found ? -1 : 1;
    if (x != y)
        return x > y ? -1 : 1;
    x = nx_number_or_0(a, "cost_ns");
    y = nx_number_or_0(b, "cost_ns");
    return x != y ? (x > y ? -1 : 1) : strcmp(nx_string(a, "id"), nx_string(b, "id"));
}

json_t *nx_investigate(struct nx_inquiry *inquiry, const struct nx_bounds *bounds)
{
    json_t *list[sizeof(nx_investigations) / sizeof(nx_investigations[0])], *ordered = json_array();
    size_t count = 0;

    for (; nx_investigations[count]; count++)
        list[count] = investigate(inquiry, bounds, nx_investigations[count]);
    qsort(list, count, sizeof(list[0]), by_leverage);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(ordered, list[i]);
    return ordered;
}
