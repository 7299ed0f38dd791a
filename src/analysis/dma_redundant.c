/* 1c: how much more moves than must, and is it inputs that are loaded again, or spills? */
#include <math.h>
#include <string.h>

#include "analysis/investigation.h"
#include "analysis/thresholds.h"

struct excess {
    double reloads, reloaded, saved, covered;
};

static void put_tensors(struct nx_case *c, const json_t *rows, struct excess *sum)
{
    static const struct nx_table_column columns[] = {
        {"variable", "tensor", "text"},      {"type", "type", "text"},    {"size", "size", "bytes"},
        {"transfers", "transfers", "count"}, {"bytes", "moved", "bytes"}, {"repeat", "times", "factor"},
        {"again", "loaded again", "text"}};
    json_t *list = json_array();
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_t *shown = json_deep_copy(row);
        const char *type = nx_string(row, "type");
        double repeat = nx_number_or_0(row, "repeat"), bytes = nx_number_or_0(row, "bytes");
        bool is_input = type && strcmp(type, "IN") == 0;

        sum->covered += bytes;
        sum->reloaded += nx_number_or_0(row, "spill_reloaded");
        sum->saved += nx_number_or_0(row, "spill_saved");
        if (is_input && repeat > 1)
            sum->reloads += bytes - nx_number_or_0(row, "size");
        json_object_set_new(shown, "again", json_boolean(is_input && repeat > NX_REPEATED));
        json_array_append_new(list, shown);
    }
    nx_case_table(c, "tensors", "Tensors, and how often each was moved", columns, 7, list);
}

/* Rows of dma_lines whose source is `from`. */
static json_t *lines_from(const json_t *rows, const char *from, double factor, double whole)
{
    json_t *list = json_array();
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *source = nx_string(row, "source");
        json_t *shown;

        if (!source || !strstr(source, from))
            continue;
        shown = json_deep_copy(row);
        json_object_set_new(shown, "cost", nx_json_number(factor * nx_number_or_0(row, "bytes")));
        json_object_set_new(shown, "share", nx_json_number(nx_ratio(nx_number_or_0(row, "bytes"), whole)));
        json_array_append_new(list, shown);
    }
    return list;
}

static void localise(struct nx_case *c, const struct excess *sum)
{
    static const struct nx_table_column loads[] = {{"line", "line", "text"},
                                                   {"variable", "tensor", "text"},
                                                   {"transfers", "transfers", "count"},
                                                   {"bytes", "bytes", "bytes"},
                                                   {"share", "of all bytes", "share"}};
    static const struct nx_table_column spills[] = {{"line", "line", "text"},
                                                    {"variable", "temporary", "text"},
                                                    {"transfers", "reloads", "count"},
                                                    {"bytes", "reloaded", "bytes"},
                                                    {"cost", "cost (saved and reloaded)", "bytes"},
                                                    {"share", "of reloads", "share"}};
    const json_t *rows = nx_case_ask(c, "dma_lines");

    if (sum->reloads > 0)
        nx_case_table(c, "loads", "Loads of inputs by source line", loads, 5,
                      lines_from(rows, "INPUT", 1, c->scope->dma_bytes));
    if (sum->reloaded + sum->saved > 0)
        nx_case_table(c, "spills", "Spills by the source line whose result was spilled", spills, 6,
                      lines_from(rows, "VIRTUAL", 2, sum->reloaded));
}

static void run(struct nx_case *c)
{
    const struct nx_scope *s = c->scope;
    double excess = s->dma_bytes - s->necessary_bytes;
    struct excess sum = {0};

    c->unit = NX_DMA;
    if (isnan(excess)) {
        c->outcome = NX_NO_DATA;
        nx_case_needs(c, "DmaPacket", "nothing is known of DMA");
        if (isnan(s->necessary_bytes))
            nx_case_missing(c,
                            "TensorInfo names no input or output with a size: necessary bytes are not known");
        nx_case_headline(c, "not known");
        return;
    }
    nx_case_figure(c, "transferred", s->dma_bytes, "bytes");
    nx_case_figure(c, "necessary", s->necessary_bytes, "bytes");
    nx_case_figure(c, "excess", excess, "bytes");
    nx_case_figure(c, "excess_ratio", nx_ratio(s->dma_bytes, s->necessary_bytes), "factor");
    nx_case_statement(c, "dma_traffic");
    nx_case_statement(c, "tensors");
    if (c->inquiry->is_part)
        nx_case_note(
            c, "necessary bytes are those of the whole kernel, the transferred ones those of the window");
    if (excess < NX_SMALL_GAP * s->dma_bytes) {
        nx_case_headline(c, "%s moved, %s necessary: no excess traffic", nx_shown(s->dma_bytes, "bytes"),
                         nx_shown(s->necessary_bytes, "bytes"));
        return;
    }
    c->outcome = NX_FOUND;
    c->cost = nx_ratio(excess, s->dma_bytes) * s->active[NX_DMA];
    nx_case_headline(c, "%s moved, %s necessary: %s", nx_shown(s->dma_bytes, "bytes"),
                     nx_shown(s->necessary_bytes, "bytes"),
                     nx_shown(nx_ratio(s->dma_bytes, s->necessary_bytes), "factor"));
    nx_case_note(c, "the cost is the excess' proportion of DMA active time; a kernel that does not need all "
                    "of its inputs and "
                    "outputs needs fewer bytes than counted as necessary");
    if (!nx_case_needs(c, "DmaPacketAggregated",
                       "reloads and spills cannot be told apart (dynamic DMA needs a capture with "
                       "NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1)"))
        return;
    put_tensors(c, nx_case_ask(c, "dma_tensors"), &sum);
    if (c->bounds->cores > 1 && sum.reloads > 0)
        nx_case_note(c, "a tensor that each of several cores loads once counts as loaded again");
    nx_case_figure(c, "input_reloads", sum.reloads, "bytes");
    nx_case_figure(c, "spill_reloads", sum.reloaded, "bytes");
    nx_case_figure(c, "spill_saves", sum.saved, "bytes");
    nx_case_figure(c, "spill_cost", 2 * sum.reloaded, "bytes");
    if (sum.covered < NX_FULL_COVERAGE * s->dma_bytes)
        nx_case_missing(c,
                        "DmaPacketAggregated covers %s of the transferred bytes: reloads and spills may be "
                        "more than shown",
                        nx_shown(nx_ratio(sum.covered, s->dma_bytes), "share"));
    nx_case_headline(c, "%s moved, %s necessary: %s; inputs loaded again %s, spills %s",
                     nx_shown(s->dma_bytes, "bytes"), nx_shown(s->necessary_bytes, "bytes"),
                     nx_shown(nx_ratio(s->dma_bytes, s->necessary_bytes), "factor"),
                     nx_shown(sum.reloads, "bytes"), nx_shown(sum.reloaded + sum.saved, "bytes"));
    localise(c, &sum);
}

const struct nx_investigation nx_investigate_dma_redundant = {"1c", "dma_redundant", "Redundant DMA", false,
                                                              run};
