/* 1a: when no DMA packet is in flight, what ends the pause? */
#include <math.h>
#include <string.h>

#include "analysis/investigation.h"
#include "analysis/thresholds.h"

/* Time in which a core's first DMA packet has yet to come, or its last has gone: no pause. */
static double outside_pauses(const struct nx_case *c, double pauses)
{
    size_t first = c->bounds->count > 1; /* the cores, not all together */
    double outside = -pauses;

    for (size_t i = first; i < c->bounds->count; i++)
        outside += c->bounds->scopes[i].total - c->bounds->scopes[i].active[NX_DMA];
    return outside;
}

static void put_pauses(struct nx_case *c)
{
    static const struct nx_table_column columns[] = {{"starter", "started by", "text"},
                                                     {"who", "which waited for", "text"},
                                                     {"line", "line", "text"},
                                                     {"periods", "pauses", "count"},
                                                     {"ns", "time", "ns"},
                                                     {"share", "of pauses", "share"},
                                                     {"longest_ns", "longest", "ns"}};
    const json_t *rows = nx_case_ask(c, "dma_active"), *row;
    json_t *list = json_array();
    double all = 0, known = 0;
    size_t i;

    json_array_foreach(rows, i, row) if (strcmp(nx_string(row, "row_kind"), "pause") == 0)
    {
        all += nx_number_or_0(row, "ns");
        known += nx_string(row, "starter") ? nx_number_or_0(row, "ns") : 0;
    }
    json_array_foreach(rows, i, row)
    {
        json_t *shown;

        if (strcmp(nx_string(row, "row_kind"), "pause") != 0)
            continue;
        shown = json_deep_copy(row);
        json_object_set_new(shown, "share", nx_json_number(nx_ratio(nx_number_or_0(row, "ns"), all)));
        json_array_append_new(list, shown);
    }
    nx_case_figure(c, "pauses", all, "ns");
    nx_case_figure(c, "before_first_or_after_last", outside_pauses(c, all), "ns");
    if (outside_pauses(c, all) > NX_SMALL_IDLE * c->scope->total)
        nx_case_note(c,
                     "%s of the cores' idle time is before the first or after the last DMA packet of a core: "
                     "it is in no "
                     "pause",
                     nx_shown(outside_pauses(c, all), "ns"));
    nx_case_figure(c, "pauses_explained", nx_ratio(known, all), "share");
    if (known < NX_FULL_COVERAGE * all)
        nx_case_missing(
            c,
            "of %s of the pauses it is not known which instruction started the transfer that ended them (a "
            "transfer under way, DMA without DmaPacketAggregated, or no edge in Flow)",
            nx_shown(nx_ratio(all - known, all), "share"));
    nx_case_table(c, "pauses", "Pauses of DMA on each core, by what ended them", columns, 7, list);
}

static void run(struct nx_case *c)
{
    double idle = nx_bound_gap(c->scope, NX_MEMORY_BOUND);

    c->unit = NX_DMA;
    if (!nx_case_needs(c, "DmaPacket", "nothing is known of DMA") || isnan(idle)) {
        c->outcome = NX_NO_DATA;
        nx_case_headline(c, "not known");
        return;
    }
    nx_case_figure(c, "idle", idle, "ns");
    nx_case_figure(c, "idle_share", nx_ratio(idle, c->scope->total), "share");
    if (idle < NX_SMALL_IDLE * c->scope->total) {
        nx_case_headline(c, "DMA is idle for %s of the time: nothing to find",
                         nx_shown(nx_ratio(idle, c->scope->total), "share"));
        return;
    }
    c->outcome = NX_FOUND;
    c->cost = idle;
    nx_case_headline(c, "no DMA packet is in flight for %s (%s of the time)", nx_shown(idle, "ns"),
                     nx_shown(nx_ratio(idle, c->scope->total), "share"));
    put_pauses(c);
}

const struct nx_investigation nx_investigate_dma_idle = {"1a", "dma_idle", "DMA idle", true, run};
