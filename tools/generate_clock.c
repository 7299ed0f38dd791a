/*
 * Clocks and the window (SPEC 4).
 *
 * On trn2 a time stamp is in picoseconds.  On trn1 each source counts on its
 * own: engines and events in nominal picoseconds, a step of 714.28 (or 892.86)
 * at a time, DMA engines in ticks; all from a start value of their own.  What
 * a reader gets back is therefore a little less than what the model said.
 */
#include "generate_plan.h"

#define WINDOW_BEFORE 9170 /* v6: the window starts that much after the record of NOTIFY 2 */
#define WINDOW_AFTER 3330  /* and ends that much after the start of the last NOTIFY 3 */

/* Times below fit in 64 bits with the factors of a clock (below 2^21): a division in 128 bits is slow. */
#define WITHOUT_128_BITS ((uint64_t)1 << 43)

void gen_clocks(const struct gen_plan *plan, uint32_t core, struct gen_clock clocks[GEN_CLOCKS])
{
    for (unsigned i = 0; i < GEN_CLOCKS; i++) {
        uint64_t noise = gen_random(plan->options.seed, 5000 + 100 * core + i);

        if (!plan->trn1)
            clocks[i] = (struct gen_clock){0, 1, 1};
        else if (i >= GEN_CLOCK_DMA)
            clocks[i] = (struct gen_clock){364902774748000 + noise % 300000, 1024, 1204672};
        else if (i == NX_DVE)
            clocks[i] = (struct gen_clock){57658069220000000 + noise % 1000000, 914286, 914260};
        else
            clocks[i] = (struct gen_clock){57658006503000000 + noise % 1000000, 731428, 731408};
    }
}

uint64_t gen_clock_stamp(const struct gen_clock *clock, int64_t time)
{
    uint64_t ticks;

    if (clock->actual == clock->expected)
        return clock->init + (uint64_t)time;
    if ((uint64_t)time < WITHOUT_128_BITS)
        return clock->init + (uint64_t)time * 1024 / clock->expected * clock->actual / 1024;
    ticks = (uint64_t)((unsigned __int128)(uint64_t)time * 1024 / clock->expected);
    return clock->init + (uint64_t)((unsigned __int128)ticks * clock->actual / 1024);
}

uint64_t gen_clock_read(const struct gen_clock *clock, int64_t time)
{
    uint64_t counted;

    if (clock->actual == clock->expected)
        return (uint64_t)time;
    counted = gen_clock_stamp(clock, time) - clock->init;
    if (counted < WITHOUT_128_BITS)
        return counted * clock->expected / clock->actual;
    return (uint64_t)((unsigned __int128)counted * clock->expected / clock->actual);
}

/* The engine whose NOTIFY is meant: for its clock. */
static uint64_t notify_time(const struct gen_plan *plan, const struct gen_schedule *schedule, uint32_t c,
                            bool last)
{
    unsigned phase = last && plan->looped ? GEN_AFTER : GEN_BEFORE;
    const struct gen_rows *rows = &schedule->rows[phase][c];
    struct gen_clock clocks[GEN_CLOCKS];
    uint64_t best = 0;
    bool found = false;

    gen_clocks(plan, c, clocks);
    for (size_t i = 0; i < rows->exec_count; i++) {
        const struct gen_exec *e = &rows->execs[i];
        uint64_t time;

        if (gen_notification(&plan->cores[c], e) != (last ? 3 : 2))
            continue;
        time = gen_clock_read(&clocks[e->engine], schedule->start[phase] + e->start);
        if (!found || (last ? time > best : time < best))
            best = time;
        found = true;
    }
    return best;
}

struct gen_window gen_window_make(const struct gen_plan *plan, const struct gen_schedule *schedule)
{
    struct gen_window window = {0};

    for (uint32_t c = 0; c < plan->core_count; c++) {
        uint64_t first = notify_time(plan, schedule, c, false), last = notify_time(plan, schedule, c, true);

        if (plan->options.version == 6) {
            first += WINDOW_BEFORE;
            last += WINDOW_AFTER;
        }
        window.exec_ps[c] = last - first;
        if (c == 0) {
            window.start = first;
            window.end = last;
        }
    }
    return window;
}
