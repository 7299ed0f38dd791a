/* 2b: how near its peak is the Tensor engine while it is active, and which lines give it small tiles? */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/investigation.h"
#include "analysis/thresholds.h"

static void put_lines(struct nx_case *c, const json_t *rows)
{
    static const struct nx_table_column columns[] = {
        {"line", "line", "text"},       {"kind", "kind", "text"},       {"tiles", "tiles", "count"},
        {"share", "of FLOPs", "share"}, {"k", "K/128", "count"},        {"m", "M/128", "count"},
        {"n", "N/512", "count"},        {"small", "below full", "text"}};
    json_t *list = json_array();
    const json_t *row;
    double linear = 0, moving = 0, unknown = 0, tiles = 0;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_t *shown = json_deep_copy(row);
        double k = nx_number(row, "k"), m = nx_number(row, "m"), n = nx_number(row, "n");
        double count = nx_number_or_0(row, "tiles");
        char small[8];

        snprintf(small, sizeof(small), "%s%s%s", k < NX_TILE_K ? "K" : "", m < NX_TILE_M ? "M" : "",
                 n < NX_TILE_N ? "N" : "");
        tiles += count;
        unknown += isnan(k) || isnan(m) || isnan(n) ? count : 0;
        linear += k < NX_TILE_K || m < NX_TILE_M ? count : 0;
        moving += n < NX_TILE_N ? count : 0;
        json_object_set_new(shown, "share",
                            nx_json_number(nx_ratio(nx_number_or_0(row, "flops"), c->scope->flops)));
        json_object_set_new(shown, "small",
                            isnan(k + m + n) ? json_null() : json_string(small[0] ? small : "none"));
        json_array_append_new(list, shown);
    }
    nx_case_figure(c, "tiles_below_K_or_M", nx_ratio(linear, tiles), "share");
    nx_case_figure(c, "tiles_below_N", nx_ratio(moving, tiles), "share");
    if (unknown > 0)
        nx_case_missing(c, "of %.0f MATMULs the operands do not tell the tile's size", unknown);
    if (c->outcome == NX_FOUND && linear > 0)
        nx_case_note(c, "K and M below 128 cost rate in proportion; N below 512 costs little. Tiles that "
                        "share the array on "
                        "purpose look small here");
    nx_case_table(c, "lines", "MATMULs by source line and tile", columns, 8, list);
}

static void put_throttling(struct nx_case *c)
{
    const json_t *rows, *row;
    double ns = 0, taken = 0;
    size_t i;

    if (!nx_case_needs(c, "Throttle", "whether the hardware held the clock back is not known"))
        return;
    rows = nx_case_ask(c, "throttle");
    json_array_foreach(rows, i, row)
    {
        ns += nx_number_or_0(row, "ns");
        taken += nx_number_or_0(row, "taken_ns");
    }
    nx_case_figure(c, "throttled", nx_ratio(ns, c->scope->total * c->bounds->cores), "share");
    nx_case_figure(c, "taken_by_throttling", nx_ratio(taken, c->scope->total * c->bounds->cores), "share");
    if (ns > 0)
        nx_case_note(
            c, "the hardware limited the rate for %s, which took %s of the cores' cycles in the window",
            nx_shown(ns, "ns"), nx_shown(nx_ratio(taken, c->scope->total * c->bounds->cores), "share"));
}

static void run(struct nx_case *c)
{
    const struct nx_scope *s = c->scope;
    double gap = nx_bound_gap(s, NX_COMPUTE_IDEAL), achieved = nx_ratio(s->flops, s->active[NX_TENSOR]) * 1e9;

    c->unit = NX_TENSOR;
    if (isnan(gap)) {
        c->outcome = NX_NO_DATA;
        nx_case_needs(c, "Instruction", "FLOPs are not known");
        nx_case_needs(c, "ActiveTime", "the Tensor engine's active time is not known");
        nx_case_headline(c, "not known");
        return;
    }
    nx_case_statement(c, "tensor_flops");
    nx_case_statement(c, "engine_active");
    if (!(s->flops > 0)) {
        nx_case_headline(c, "no MATMUL whose FLOPs are known runs in this window");
        return;
    }
    nx_case_figure(c, "underuse_gap", gap, "ns");
    nx_case_figure(c, "achieved", achieved, "flops/s");
    nx_case_figure(c, "peak", s->tensor_peak, "flops/s");
    nx_case_figure(c, "used", nx_ratio(achieved, s->tensor_peak), "share");
    if (gap < NX_SMALL_GAP * s->active[NX_TENSOR]) {
        nx_case_headline(c, "the Tensor engine runs at %s of its peak while active: nothing to find",
                         nx_shown(nx_ratio(achieved, s->tensor_peak), "share"));
    } else {
        c->outcome = NX_FOUND;
        c->cost = gap;
        nx_case_headline(c, "the Tensor engine runs at %s of its peak while active (%s of %s)",
                         nx_shown(nx_ratio(achieved, s->tensor_peak), "share"), nx_shown(achieved, "flops/s"),
                         nx_shown(s->tensor_peak, "flops/s"));
    }
    put_lines(c, nx_case_ask(c, "tensor_tiles"));
    put_throttling(c);
}

const struct nx_investigation nx_investigate_tensor_efficiency = {"2b", "tensor_efficiency",
                                                                  "Tensor efficiency", false, run};
