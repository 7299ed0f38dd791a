/* --fail-on: conditions on the figures of a report. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/bounds.h"

struct condition {
    char name[64];
    char sign[3]; /* ">", ">=", "<", "<=" */
    double limit;
};

/* Splits "BOUND", "BOUND_gap", "BOUND_speedup" into the bound and its member; -1: it is none of these. */
static int bound_of(const char *name, const char **member)
{
    static const struct {
        const char *ending, *member;
    } endings[] = {{"", "ns"}, {"_gap", "gap_share"}, {"_speedup", "speedup"}};

    for (int bound = 0; bound < NX_BOUNDS; bound++) {
        size_t size = strlen(nx_bound_kinds[bound].name);

        if (strncmp(name, nx_bound_kinds[bound].name, size) != 0)
            continue;
        for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
            if (strcmp(name + size, endings[i].ending) == 0) {
                *member = endings[i].member;
                return bound;
            }
    }
    return -1;
}

static bool is_quantity(const char *name)
{
    for (size_t i = 0; nx_quantity_names[i]; i++)
        if (strcmp(nx_quantity_names[i], name) == 0)
            return true;
    return false;
}

static const char *skip_blanks(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Reads one condition; NULL: it is wrong. */
static const char *read_condition(const char *p, struct condition *condition)
{
    size_t size = 0;
    char *end;

    p = skip_blanks(p);
    while (isalnum((unsigned char)p[size]) || p[size] == '_')
        size++;
    if (!size || size >= sizeof(condition->name))
        return NULL;
    memcpy(condition->name, p, size);
    condition->name[size] = '\0';
    p = skip_blanks(p + size);
    if (*p != '<' && *p != '>')
        return NULL;
    snprintf(condition->sign, sizeof(condition->sign), "%c%s", *p, p[1] == '=' ? "=" : "");
    p = skip_blanks(p + strlen(condition->sign));
    condition->limit = strtod(p, &end);
    if (end == p || !isfinite(condition->limit))
        return NULL;
    p = skip_blanks(end);
    return *p == ',' || *p == '\0' ? p : NULL;
}

char *nx_conditions_check(const char *text)
{
    struct condition condition;
    const char *member;
    char *message = NULL;

    for (const char *p = text, *next; p; p = *next == ',' ? next + 1 : NULL) {
        next = read_condition(p, &condition);
        if (!next) {
            if (asprintf(&message, "%s is not a condition such as memory_bound_ideal_gap>0.4",
                         *p ? p : "(nothing)") < 0)
                message = NULL;
            return message;
        }
        if (bound_of(condition.name, &member) < 0 && !is_quantity(condition.name)) {
            if (asprintf(
                    &message,
                    "%s is no figure: a bound (memory_bound_ideal), its _gap or _speedup, or a quantity of "
                    "the report",
                    condition.name) < 0)
                message = NULL;
            return message;
        }
    }
    return NULL;
}

static double figure(const json_t *scope, const char *name)
{
    const char *member;
    int bound = bound_of(name, &member);

    if (bound < 0)
        return nx_number(json_object_get(scope, "quantities"), name);
    return nx_number(json_array_get(json_object_get(scope, "bounds"), (size_t)bound), member);
}

static bool holds(const struct condition *condition, double value)
{
    bool equal = condition->sign[1] == '=' && value == condition->limit;

    return equal || (condition->sign[0] == '>' ? value > condition->limit : value < condition->limit);
}

json_t *nx_conditions_held(const json_t *report, const char *text)
{
    const json_t *scope = json_array_get(json_object_get(report, "scopes"), 0);
    json_t *held = json_array();
    struct condition condition;

    for (const char *p = text, *next; p; p = *next == ',' ? next + 1 : NULL) {
        double value;

        next = read_condition(p, &condition);
        if (!next)
            break;
        value = figure(scope, condition.name);
        if (isnan(value))
            json_array_append_new(held, json_sprintf("%s is not known, so %s%s%g cannot be ruled out",
                                                     condition.name, condition.name, condition.sign,
                                                     condition.limit));
        else if (holds(&condition, value))
            json_array_append_new(held, json_sprintf("%s is %.6g: %s%g", condition.name, value,
                                                     condition.sign, condition.limit));
    }
    return held;
}
