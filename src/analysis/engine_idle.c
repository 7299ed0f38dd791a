/* 2a: when the Tensor engine rests, what had finished last when it went on? */
#include "analysis/engine_idle.h"

#include <math.h>
#include <string.h>

#include "analysis/thresholds.h"

static const char not_linked[] = "nothing linked", after_last[] = "(after its last instruction)";

/* Who ended the pauses of a row. */
static const char *ender(const json_t *row)
{
    const char *who = nx_string(row, "who");

    return json_is_true(json_object_get(row, "is_last")) ? after_last : who ? who : not_linked;
}

static json_t *by_ender(const json_t *rows, double *all, double *last)
{
    json_t *sums = json_array(), *sum;
    const json_t *row;
    size_t i, j;

    json_array_foreach(rows, i, row)
    {
        json_t *found = NULL;

        *all += nx_number_or_0(row, "ns");
        *last += json_is_true(json_object_get(row, "is_last")) ? nx_number_or_0(row, "ns") : 0;
        json_array_foreach(sums, j, sum) if (strcmp(nx_string(sum, "who"), ender(row)) == 0) found = sum;
        if (!found) {
            found = json_pack("{s:s,s:f,s:f,s:f}", "who", ender(row), "pauses", 0.0, "ns", 0.0, "longest_ns",
                              0.0);
            json_array_append_new(sums, found);
        }
        json_object_set_new(found, "pauses",
                            json_real(nx_number(found, "pauses") + nx_number_or_0(row, "pauses")));
        json_object_set_new(found, "ns", json_real(nx_number(found, "ns") + nx_number_or_0(row, "ns")));
        json_object_set_new(
            found, "longest_ns",
            json_real(fmax(nx_number(found, "longest_ns"), nx_number_or_0(row, "longest_ns"))));
    }
    return sums;
}

static json_t *by_line(const json_t *rows, double between)
{
    json_t *list = json_array();
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_t *shown;

        if (json_is_true(json_object_get(row, "is_last")) || !nx_string(row, "line"))
            continue;
        shown = json_deep_copy(row);
        json_object_set_new(shown, "who", json_string(ender(row)));
        json_object_set_new(shown, "share", nx_json_number(nx_ratio(nx_number_or_0(row, "ns"), between)));
        json_array_append_new(list, shown);
    }
    return list;
}

double nx_put_pauses(struct nx_case *c, enum nx_unit unit, const char **who)
{
    static const struct nx_table_column causes[] = {{"who", "ended by", "text"},
                                                    {"pauses", "pauses", "count"},
                                                    {"ns", "time", "ns"},
                                                    {"share", "of pauses", "share"},
                                                    {"longest_ns", "longest", "ns"}};
    static const struct nx_table_column lines[] = {{"line", "line that waited", "text"},
                                                   {"who", "ended by", "text"},
                                                   {"pauses", "pauses", "count"},
                                                   {"ns", "time", "ns"},
                                                   {"share", "of pauses", "share"}};
    const json_t *rows = nx_case_ask_about(c, "engine_idle", nx_unit_name(unit));
    double all = 0, last = 0, linked = 0, most = 0;
    json_t *sums = by_ender(rows, &all, &last), *sum, *list;
    size_t i;

    *who = NULL;
    json_array_foreach(sums, i, sum)
    {
        const char *name = nx_string(sum, "who");
        double ns = nx_number(sum, "ns");
        bool is_cause = strcmp(name, not_linked) != 0 && strcmp(name, after_last) != 0;

        if (strcmp(name, after_last) != 0)
            json_object_set_new(sum, "share", nx_json_number(nx_ratio(ns, all - last)));
        linked += is_cause ? ns : 0;
        if (is_cause && ns > most) {
            most = ns;
            for (int u = 0; u < NX_UNITS; u++)
                if (strcmp(name, nx_unit_name((enum nx_unit)u)) == 0)
                    *who = nx_unit_name((enum nx_unit)u);
            if (strcmp(name, "Sync") == 0)
                *who = "Sync";
        }
    }
    nx_case_figure(c, "pauses", all - last, "ns");
    nx_case_figure(c, "after_last_instruction", last, "ns");
    nx_case_figure(c, "pauses_linked", nx_ratio(linked, all - last), "share");
    nx_case_table(c, "ended_by", "Pauses on each core, by what had finished last when they ended", causes, 5,
                  sums);
    if (!nx_inquiry_has(c->inquiry, "Flow"))
        nx_case_missing(c, "no table Flow: what ended the pauses is not known");
    else if (linked < NX_FULL_COVERAGE * (all - last))
        nx_case_missing(c, "for %s of the pauses Flow links nothing that finished inside them",
                        nx_shown(nx_ratio(all - last - linked, all - last), "share"));
    list = by_line(rows, all - last);
    if (json_array_size(list) == 0)
        nx_case_missing(
            c, "no source lines of the instructions that waited (the NEFF holds them if compiled with "
               "NEURON_FRAMEWORK_DEBUG=1)");
    nx_case_table(c, "lines", "Pauses by the line that waited", lines, 5, list);
    return nx_ratio(most, all - last);
}

static void run(struct nx_case *c)
{
    double idle = nx_bound_gap(c->scope, NX_COMPUTE_BOUND), share;
    const char *who;

    c->unit = NX_TENSOR;
    if (!nx_case_needs(c, "ActiveTime", "the Tensor engine's active time is not known") || isnan(idle)) {
        c->outcome = NX_NO_DATA;
        nx_case_headline(c, "not known");
        return;
    }
    nx_case_figure(c, "idle", idle, "ns");
    nx_case_figure(c, "idle_share", nx_ratio(idle, c->scope->total), "share");
    nx_case_statement(c, "engine_active");
    if (!(c->scope->flops > 0)) {
        nx_case_headline(
            c,
            "no MATMUL whose FLOPs are known runs in this window: the kernel leaves the Tensor engine idle");
        return;
    }
    if (idle < NX_SMALL_IDLE * c->scope->total) {
        nx_case_headline(c, "the Tensor engine is idle for %s of the time: nothing to find",
                         nx_shown(nx_ratio(idle, c->scope->total), "share"));
        return;
    }
    c->outcome = NX_FOUND;
    c->cost = idle;
    share = nx_put_pauses(c, NX_TENSOR, &who);
    nx_case_headline(c, "the Tensor engine is idle for %s (%s of the time)", nx_shown(idle, "ns"),
                     nx_shown(nx_ratio(idle, c->scope->total), "share"));
    if (who)
        nx_case_headline(
            c, "the Tensor engine is idle for %s (%s of the time); %s of its pauses end when %s has finished",
            nx_shown(idle, "ns"), nx_shown(nx_ratio(idle, c->scope->total), "share"),
            nx_shown(share, "share"), who);
}

const struct nx_investigation nx_investigate_tensor_idle = {"2a", "tensor_idle", "Tensor idle", true, run};
