/* The clocks of a core, and times by them. */
#include <inttypes.h>

#include "ntff/metadata.h"

static enum nx_status read_clock(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_clock *clock)
{
    static const struct nx_ntff_message kind = {.name = "clock",
                                                .numbers = NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(3)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    *clock = (struct nx_clock){0};
    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            clock->init = f.value;
            break;
        case 2:
            clock->actual = f.value;
            break;
        default:
            clock->expected = f.value;
            break;
        }
    if (clock->actual == 0 || clock->expected == 0) {
        nx_warn(&r->ntff->warnings, NX_WARN_INCONSISTENT,
                "a clock of the trace has no rate (%" PRIu64 " counts for %" PRIu64
                " ps): its times are taken as picoseconds",
                clock->actual, clock->expected);
        clock->actual = clock->expected = 1;
    }
    return nx_ntff_walked(r, &pb);
}

/* Fields 1..5 are engines, but DVE comes before POOL here, unlike everywhere else. */
enum nx_status nx_ntff_read_clocks(struct nx_ntff_reader *r, struct nx_bytes message,
                                   struct nx_ntff_core *core)
{
    static const struct nx_ntff_message kind = {.name = "clocks",
                                                .bytes = NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(3) |
                                                         NX_FIELD(4) | NX_FIELD(5) | NX_FIELD(6) |
                                                         NX_FIELD(8),
                                                .ignored = NX_FIELD(7) | NX_FIELD(9)};
    static const enum nx_engine order[] = {NX_PE, NX_ACT, NX_DVE, NX_POOL, NX_SP};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    size_t dma = 0;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_ntff_next(r, &pb, &f, &kind)) {
        struct nx_clock spare, *clock = &spare;

        if (f.number <= NX_ENGINE_COUNT)
            clock = &core->engine_clock[order[f.number - 1]];
        else if (f.number == 6)
            clock = &core->event_clock;
        else if (dma++ < NX_DMA_ENGINES)
            clock = &core->dma_clock[dma - 1];
        status = read_clock(r, f.bytes, clock);
    }
    if (dma > NX_DMA_ENGINES)
        nx_warn(&r->ntff->warnings, NX_WARN_UNKNOWN, "%s has clocks of %zu DMA engines: %d are known",
                core->name, dma, NX_DMA_ENGINES);
    return status == NX_OK ? nx_ntff_walked(r, &pb) : status;
}

/* A clock that the metadata does not give is taken to count picoseconds, as all clocks of trn2 do. */
void nx_ntff_complete_clocks(struct nx_ntff_reader *r, struct nx_ntff_core *core, bool warn)
{
    struct nx_clock *all[NX_ENGINE_COUNT + 1 + NX_DMA_ENGINES];
    size_t count = 0, missing = 0;

    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        all[count++] = &core->engine_clock[e];
    all[count++] = &core->event_clock;
    for (int e = 0; e < NX_DMA_ENGINES; e++)
        all[count++] = &core->dma_clock[e];
    for (size_t i = 0; i < count; i++)
        if (!all[i]->actual) {
            *all[i] = (struct nx_clock){0, 1, 1};
            missing++;
        }
    if (missing && warn)
        nx_warn(&r->ntff->warnings, NX_WARN_MISSING,
                "the trace does not give %zu of the %zu clocks of %s: their times are taken as picoseconds",
                missing, count, core->name);
}

uint64_t nx_ntff_scaled(const struct nx_clock *clock, uint64_t counts)
{
    unsigned __int128 product = (unsigned __int128)counts * clock->expected, ps;

    if (!clock->actual)
        return counts;
    if (product <= UINT64_MAX) /* a division of 128 bits takes far longer */
        return (uint64_t)product / clock->actual;
    ps = product / clock->actual;
    return ps > UINT64_MAX ? UINT64_MAX : (uint64_t)ps;
}
