#include "tables/throughput.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "tables/table.h"

#define POINT_SPACING_PS 10000

/* A packet that takes part. */
struct share {
    int64_t start;
    uint64_t end, bytes;
    double rate;
};

static double rate_of(const struct nx_packet *packet, uint64_t bytes)
{
    return nx_bytes_per_second(bytes, packet->end > packet->start ? packet->end - packet->start : 1);
}

/* Merges the starts (they are in that order) with the ends. */
static void sweep(const struct share *shares, uint32_t count, uint8_t core, struct nx_rows *points)
{
    uint64_t *ends = nx_alloc(count * sizeof(*ends)), bytes = 0;
    uint32_t *by_end = nx_alloc(count * sizeof(*by_end)), started = 0, ended = 0;
    int64_t last = 0;
    double rate = 0;
    bool any = false;

    for (uint32_t i = 0; i < count; i++)
        ends[i] = shares[i].end;
    nx_sort_order(ends, by_end, count);
    while (ended < count) {
        int64_t now = (int64_t)ends[by_end[ended]];

        if (started < count && shares[started].start < now)
            now = shares[started].start;
        for (; started < count && shares[started].start == now; started++) {
            bytes += shares[started].bytes;
            rate += shares[started].rate;
        }
        for (; ended < started && (int64_t)ends[by_end[ended]] == now; ended++)
            rate -= shares[by_end[ended]].rate;
        if (started == ended)
            rate = 0; /* nothing in flight: no rounding is carried on */
        if (!any || now - last >= POINT_SPACING_PS) {
            *(struct nx_throughput *)nx_rows_add(points, sizeof(struct nx_throughput)) =
                (struct nx_throughput){now, bytes, (double)(float)rate, core};
            last = now;
            any = true;
        }
    }
    free(ends);
    free(by_end);
}

void nx_throughput_add(const struct nx_trace *trace, nx_throughput_weigh *weigh, const void *context,
                       struct nx_rows *points)
{
    struct share *shares = nx_alloc(trace->packet_count * sizeof(*shares));

    for (uint32_t c = 0; c < trace->core_count; c++) {
        uint32_t count = 0;

        for (uint32_t i = 0; i < trace->packet_count; i++) {
            const struct nx_packet *p = &trace->packets[i];
            uint64_t bytes;

            if (p->core == c && weigh(context, p, &bytes))
                shares[count++] = (struct share){p->start, (uint64_t)p->end, bytes, rate_of(p, bytes)};
        }
        sweep(shares, count, (uint8_t)c, points);
    }
    free(shares);
    nx_rows_sort(points, sizeof(struct nx_throughput), offsetof(struct nx_throughput, time));
}

bool nx_throughput_of_all(const void *context, const struct nx_packet *packet, uint64_t *bytes)
{
    (void)context;
    *bytes = packet->bytes;
    return true;
}
