/*
 * throughput.h - the rate of DMA over time: DmaUsage, its summary, and HbmUsage.
 *
 * The rate at a time is the sum, over the packets in flight, of bytes over
 * duration; the total is the bytes of the packets that have started.  A point
 * stands where packets start or end, on each core; as the closed tool does, it
 * is kept only if it is at least 10 ns after the last one that was kept.
 */
#ifndef NX_TABLES_THROUGHPUT_H
#define NX_TABLES_THROUGHPUT_H

#include "tables/rows.h"
#include "trace/trace.h"

struct nx_throughput {
    int64_t time;
    uint64_t bytes;
    double rate; /* in single precision, as shown */
    uint8_t core;
};

/* Whether a packet takes part, and with how many bytes. */
typedef bool nx_throughput_weigh(const void *context, const struct nx_packet *packet, uint64_t *bytes);

/* Appends the points (struct nx_throughput) of all cores, by time. */
void nx_throughput_add(const struct nx_trace *trace, nx_throughput_weigh *weigh, const void *context,
                       struct nx_rows *points);

/* Every packet, as it was recorded: for DmaUsage. */
nx_throughput_weigh nx_throughput_of_all;

#endif
