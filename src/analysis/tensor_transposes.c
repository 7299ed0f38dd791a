/* 2c: how much of the Tensor engine's work only turns data, and where? */
#include <math.h>

#include "analysis/investigation.h"
#include "analysis/thresholds.h"

static void put_lines(struct nx_case *c)
{
    static const struct nx_table_column columns[] = {{"line", "line", "text"},
                                                     {"transposes", "transposes", "count"},
                                                     {"flops", "FLOPs", "flops"},
                                                     {"at_peak", "time at peak", "ns"},
                                                     {"share", "of transposes", "share"}};
    const json_t *rows = nx_case_ask(c, "tensor_transposes"), *row;
    json_t *list = json_array();
    double with_line = 0;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_t *shown = json_deep_copy(row);
        double flops = nx_number_or_0(row, "flops");

        with_line += nx_string(row, "line") ? flops : 0;
        json_object_set_new(shown, "at_peak",
                            nx_json_number(round(nx_ratio(flops, c->scope->tensor_peak) * 1e9)));
        json_object_set_new(shown, "share", nx_json_number(nx_ratio(flops, c->scope->transpose_flops)));
        json_array_append_new(list, shown);
    }
    if (with_line < NX_FULL_COVERAGE * c->scope->transpose_flops)
        nx_case_missing(
            c,
            "source lines are known for %s of the transposes' FLOPs (the NEFF holds them if compiled with "
            "NEURON_FRAMEWORK_DEBUG=1)",
            nx_shown(nx_ratio(with_line, c->scope->transpose_flops), "share"));
    nx_case_table(c, "lines", "Transposes by source line", columns, 5, list);
}

static void run(struct nx_case *c)
{
    const struct nx_scope *s = c->scope;
    double share = nx_ratio(s->transpose_flops, s->flops);

    c->unit = NX_TENSOR;
    if (isnan(s->flops)) {
        c->outcome = NX_NO_DATA;
        nx_case_needs(c, "Instruction", "FLOPs are not known");
        nx_case_headline(c, "not known");
        return;
    }
    nx_case_statement(c, "tensor_flops");
    nx_case_figure(c, "flops", s->flops, "flops");
    nx_case_figure(c, "transpose_flops", s->transpose_flops, "flops");
    nx_case_figure(c, "transpose_share", share, "share");
    nx_case_figure(c, "transposes_at_peak", nx_bound_gap(s, NX_COMPUTE_USEFUL), "ns");
    if (!(s->transpose_flops > 0)) {
        nx_case_headline(c, "no transposes on the Tensor engine");
        return;
    }
    nx_case_headline(c, "%s of %s are transposes (%s), %s at peak", nx_shown(s->transpose_flops, "flops"),
                     nx_shown(s->flops, "flops"), nx_shown(share, "share"),
                     nx_shown(nx_bound_gap(s, NX_COMPUTE_USEFUL), "ns"));
    if (share >= NX_SMALL_TRANSPOSES) {
        c->outcome = NX_FOUND;
        c->cost = share * s->active[NX_TENSOR];
        nx_case_note(c, "the cost is the transposes' proportion of Tensor active time");
    }
    put_lines(c);
}

const struct nx_investigation nx_investigate_tensor_transposes = {"2c", "tensor_transposes", "Transposes",
                                                                  false, run};
