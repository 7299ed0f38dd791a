/* 1b: is the DMA's rate near its peak while it is active, and if not, which lines move how small pieces? */
#include <math.h>
#include <string.h>

#include "analysis/investigation.h"
#include "analysis/thresholds.h"

/* Sums up rows of dma_traffic by one column. */
static json_t *traffic_by(const json_t *rows, const char *column, double all_bytes)
{
    json_t *sums = json_object(), *list = json_array(), *sum;
    const json_t *row;
    const char *key;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const json_t *value = json_object_get(row, column);
        char name[64];

        snprintf(name, sizeof(name), "%s%lld", json_is_string(value) ? json_string_value(value) : "",
                 json_is_string(value) ? 0LL : (long long)json_integer_value(value));
        sum = json_object_get(sums, name);
        if (!sum) {
            sum =
                json_pack("{s:O,s:f,s:f,s:f}", column, value, "packets", 0.0, "bytes", 0.0, "packet_ns", 0.0);
            json_object_set_new(sums, name, sum);
        }
        json_object_set_new(sum, "packets",
                            json_real(nx_number(sum, "packets") + nx_number_or_0(row, "packets")));
        json_object_set_new(sum, "bytes", json_real(nx_number(sum, "bytes") + nx_number_or_0(row, "bytes")));
        json_object_set_new(sum, "packet_ns",
                            json_real(nx_number(sum, "packet_ns") + nx_number_or_0(row, "packet_ns")));
    }
    json_object_foreach(sums, key, sum)
    {
        double packets = nx_number(sum, "packets"), bytes = nx_number(sum, "bytes");

        json_object_set_new(sum, "share", nx_json_number(nx_ratio(bytes, all_bytes)));
        json_object_set_new(sum, "mean_bytes", nx_json_number(round(nx_ratio(bytes, packets))));
        json_object_set_new(sum, "mean_ns",
                            nx_json_number(round(nx_ratio(nx_number(sum, "packet_ns"), packets))));
        json_array_append(list, sum);
    }
    json_decref(sums);
    return list;
}

static void put_histogram(struct nx_case *c, const json_t *rows)
{
    static const struct nx_table_column columns[] = {{"size", "packet size", "text"},
                                                     {"packets", "packets", "count"},
                                                     {"bytes", "bytes", "bytes"},
                                                     {"share", "of bytes", "share"},
                                                     {"mean_ns", "mean time", "ns"}};
    json_t *list = traffic_by(rows, "size_class", c->scope->dma_bytes), *ordered = json_array(), *row;

    for (int size = 0; size < 64; size++) {
        size_t i;

        json_array_foreach(list, i, row) if (json_integer_value(json_object_get(row, "size_class")) == size)
        {
            json_object_set_new(row, "size",
                                json_sprintf("%s to %s", nx_shown(exp2(size), "count"),
                                             nx_shown(exp2(size + 1) - 1, "count")));
            json_array_append(ordered, row);
        }
    }
    json_decref(list);
    nx_case_table(c, "packet_sizes", "Packets by size", columns, 5, ordered);
}

static void put_kinds(struct nx_case *c, const json_t *rows)
{
    static const struct nx_table_column columns[] = {
        {"queue_type", "made by", "text"},    {"packets", "packets", "count"},
        {"bytes", "bytes", "bytes"},          {"share", "of bytes", "share"},
        {"mean_bytes", "mean size", "bytes"}, {"mean_ns", "mean time", "ns"}};

    nx_case_table(c, "queue_types", "Packets by who made them (static queues; software and hardware DGE)",
                  columns, 6, traffic_by(rows, "queue_type", c->scope->dma_bytes));
}

/* Rows of dma_lines with the share of the kernel's bytes; sums of what is known of them. */
struct covered {
    double bytes, with_line, small;
};

static json_t *lines(struct nx_case *c, const json_t *rows, struct covered *sum)
{
    json_t *list = json_array();
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        json_t *line = json_deep_copy(row);
        double bytes = nx_number_or_0(row, "bytes"), partitions = nx_number_or_0(row, "partitions");

        sum->bytes += bytes;
        if (json_is_true(json_object_get(row, "transposes"))) { /* its pieces are those of another mode */
            json_decref(line);
            continue;
        }
        sum->with_line += nx_string(row, "line") ? bytes : 0;
        sum->small += nx_number_or_0(row, "descriptor_bytes") < NX_GOOD_DESCRIPTOR ? bytes : 0;
        json_object_set_new(line, "share", nx_json_number(nx_ratio(bytes, c->scope->dma_bytes)));
        json_object_set_new(line, "shape",
                            json_sprintf("%.0fx%.0fB", partitions < 1 ? 1 : partitions,
                                         nx_number_or_0(row, "descriptor_bytes")));
        json_array_append_new(list, line);
    }
    return list;
}

static void localise(struct nx_case *c)
{
    static const struct nx_table_column columns[] = {{"line", "line", "text"},
                                                     {"variable", "tensor", "text"},
                                                     {"op", "direction", "text"},
                                                     {"transfers", "transfers", "count"},
                                                     {"bytes", "bytes", "bytes"},
                                                     {"share", "of bytes", "share"},
                                                     {"shape", "shape", "text"},
                                                     {"descriptor_bytes", "descriptor", "bytes"}};
    struct covered sum = {0};
    json_t *list;

    if (!nx_case_needs(c, "DmaPacketAggregated",
                       "descriptor sizes are not known (dynamic DMA needs a capture with "
                       "NEURON_RT_ENABLE_DGE_NOTIFICATIONS=1)"))
        return;
    list = lines(c, nx_case_ask(c, "dma_lines"), &sum);
    nx_case_figure(c, "coverage", nx_ratio(sum.bytes, c->scope->dma_bytes), "share");
    nx_case_figure(c, "below_4_KiB", nx_ratio(sum.small, c->scope->dma_bytes), "share");
    if (sum.bytes < NX_FULL_COVERAGE * c->scope->dma_bytes)
        nx_case_missing(
            c,
            "DmaPacketAggregated covers %s of the transferred bytes: of the rest neither lines nor "
            "descriptors are known",
            nx_shown(nx_ratio(sum.bytes, c->scope->dma_bytes), "share"));
    if (sum.with_line < NX_FULL_COVERAGE * sum.bytes)
        nx_case_missing(
            c,
            "source lines are known for %s of the bytes of transfers (the NEFF holds them if compiled with "
            "NEURON_FRAMEWORK_DEBUG=1)",
            nx_shown(nx_ratio(sum.with_line, sum.bytes), "share"));
    if (c->outcome == NX_FOUND && sum.small > 0)
        nx_case_headline(
            c, "DMA moves %s of %s at peak while active; %s of the bytes go in descriptors below 4 KiB",
            nx_shown(nx_ratio(c->scope->dma_bytes, c->scope->active[NX_DMA]) * 1e9, "bytes/s"),
            nx_shown(c->scope->dma_peak, "bytes/s"),
            nx_shown(nx_ratio(sum.small, c->scope->dma_bytes), "share"));
    nx_case_table(c, "lines", "Transfers by source line (shape: SBUF partitions x bytes of a descriptor)", columns, 8, list);
}

static void run(struct nx_case *c)
{
    const struct nx_scope *s = c->scope;
    double gap = nx_bound_gap(s, NX_MEMORY_IDEAL), achieved = nx_ratio(s->dma_bytes, s->active[NX_DMA]) * 1e9;
    const json_t *traffic;

    c->unit = NX_DMA;
    if (!nx_case_needs(c, "DmaPacket", "nothing is known of DMA") || isnan(gap)) {
        c->outcome = NX_NO_DATA;
        nx_case_headline(c, "not known");
        return;
    }
    traffic = nx_case_ask(c, "dma_traffic");
    nx_case_statement(c, "dma_active");
    nx_case_figure(c, "efficiency_gap", gap, "ns");
    nx_case_figure(c, "achieved", achieved, "bytes/s");
    nx_case_figure(c, "peak", s->dma_peak, "bytes/s");
    nx_case_figure(c, "used", nx_ratio(achieved, s->dma_peak), "share");
    if (!(s->dma_bytes > 0)) {
        nx_case_headline(c, "the kernel moves nothing by DMA in this window");
        return;
    }
    if (gap < NX_SMALL_GAP * s->active[NX_DMA]) {
        nx_case_headline(c, "DMA moves %s of %s at peak while active: nothing to find",
                         nx_shown(achieved, "bytes/s"), nx_shown(s->dma_peak, "bytes/s"));
    } else {
        c->outcome = NX_FOUND;
        c->cost = gap;
        nx_case_headline(c, "DMA moves %s of %s at peak while active", nx_shown(achieved, "bytes/s"),
                         nx_shown(s->dma_peak, "bytes/s"));
        nx_case_note(c, "peak is never reached: each transfer and packet costs time of its own, so not all "
                        "of the gap can "
                        "be won");
        if (s->dma_bytes > 1.5 * s->necessary_bytes)
            nx_case_note(c, "much of the traffic is excess (1c): with less of it this gap shrinks as well");
    }
    localise(c);
    put_kinds(c, traffic);
    put_histogram(c, traffic);
}

const struct nx_investigation nx_investigate_dma_efficiency = {"1b", "dma_efficiency", "DMA efficiency",
                                                               false, run};
