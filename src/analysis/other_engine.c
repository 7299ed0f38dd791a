/* 3: Vector, Scalar or GpSimd is the bottleneck: what does it do, at what rate, and what ends its pauses? */
#include <math.h>
#include <string.h>

#include "analysis/engine_idle.h"
#include "analysis/thresholds.h"

static void put_work(struct nx_case *c)
{
    static const struct nx_table_column columns[] = {{"line", "line", "text"},
                                                     {"opcode", "opcode", "text"},
                                                     {"dtype", "result", "text"},
                                                     {"runs", "runs", "count"},
                                                     {"ns", "time", "ns"},
                                                     {"share", "of its time", "share"},
                                                     {"elements_per_cycle", "elements/cycle", "count"}};
    const json_t *rows = nx_case_ask_about(c, "engine_work", nx_unit_name((enum nx_unit)c->unit)), *row;
    json_t *list = json_array();
    double all = 0, measured = 0, elements = 0, with_line = 0, ghz;
    char clock[16];
    size_t i;

    json_array_foreach(rows, i, row)
    {
        double ns = nx_number_or_0(row, "ns"), count = nx_number_or_0(row, "elements");

        all += ns;
        with_line += nx_string(row, "line") ? ns : 0;
        measured += count > 0 ? ns : 0;
        elements += count;
    }
    json_array_foreach(rows, i, row)
    {
        json_t *shown = json_deep_copy(row);

        json_object_set_new(shown, "share", nx_json_number(nx_ratio(nx_number_or_0(row, "ns"), all)));
        json_array_append_new(list, shown);
    }
    snprintf(clock, sizeof(clock), "%s",
             c->unit == NX_VECTOR   ? "vector_ghz"
             : c->unit == NX_SCALAR ? "scalar_ghz"
                                    : "gpsimd_ghz");
    ghz = nx_number(c->bounds->device, clock);
    nx_case_figure(c, "elements_per_cycle", nx_ratio(elements, measured * ghz), "count");
    nx_case_figure(c, "time_with_known_elements", nx_ratio(measured, all), "share");
    if (with_line < NX_FULL_COVERAGE * all)
        nx_case_missing(c,
                        "source lines are known for %s of its time (the NEFF holds them if compiled with "
                        "NEURON_FRAMEWORK_DEBUG=1)",
                        nx_shown(nx_ratio(with_line, all), "share"));
    nx_case_table(c, "work", "What it works on (elements per partition and cycle; its base rate is 1)",
                  columns, 7, list);
}

static void run(struct nx_case *c)
{
    const struct nx_scope *s = c->scope;
    const char *who, *name;
    double idle, share;

    if (s->bottleneck < 0) {
        c->outcome = NX_NO_DATA;
        nx_case_headline(c, "no engine's active time is known");
        return;
    }
    name = nx_unit_name((enum nx_unit)s->bottleneck);
    if (s->bottleneck == NX_DMA || s->bottleneck == NX_TENSOR) {
        nx_case_headline(c, "%s is the bottleneck: see there", name);
        return;
    }
    c->unit = s->bottleneck;
    c->outcome = NX_FOUND;
    idle = c->cost = nx_bound_gap(s, NX_PERFECT_PIPELINE);
    nx_case_figure(c, "active", s->active[c->unit], "ns");
    nx_case_figure(c, "idle", idle, "ns");
    put_work(c);
    share = nx_put_pauses(c, (enum nx_unit)c->unit, &who);
    nx_case_headline(c, "%s is the slowest engine: active for %s of the time, idle for %s", name,
                     nx_shown(nx_ratio(s->active[c->unit], s->total), "share"), nx_shown(idle, "ns"));
    if (who && idle >= NX_SMALL_IDLE * s->total)
        nx_case_headline(c,
                         "%s is the slowest engine: active for %s of the time, idle for %s; %s of its pauses "
                         "end when %s has "
                         "finished",
                         name, nx_shown(nx_ratio(s->active[c->unit], s->total), "share"),
                         nx_shown(idle, "ns"), nx_shown(share, "share"), who);
}

const struct nx_investigation nx_investigate_other_engine = {"3", "other_engine", "Slowest other engine",
                                                             true, run};
