#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/options.h"

#define WIDTH 30
#define EVERY_SECONDS 0.1

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
    return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

void nx_progress_start(struct nx_progress_bar *bar, bool quiet, const char *what, const char *unit)
{
    *bar = (struct nx_progress_bar){.shown = !quiet && nx_is_terminal(STDERR_FILENO),
                                    .colour = nx_wants_colour(STDERR_FILENO),
                                    .what = what,
                                    .unit = unit};
    clock_gettime(CLOCK_MONOTONIC, &bar->start);
    bar->last = bar->start;
}

void nx_progress_step(void *opaque, uint64_t done, uint64_t total)
{
    struct nx_progress_bar *bar = opaque;
    struct timespec now;
    double elapsed, rate;
    int filled;

    if (!bar->shown || !total)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (seconds_between(&bar->last, &now) < EVERY_SECONDS)
        return;
    bar->last = now;
    elapsed = seconds_between(&bar->start, &now);
    rate = elapsed > 0 ? (double)done / elapsed : 0;
    filled = (int)((double)done / (double)total * WIDTH);
    fprintf(stderr, "\r%s %s[", bar->what, bar->colour ? "\033[36m" : "");
    for (int i = 0; i < WIDTH; i++)
        fputc(i < filled ? '#' : '.', stderr);
    fprintf(stderr, "]%s %3.0f %%  %.1f M %s/s  %.0f s left \033[K", bar->colour ? "\033[0m" : "",
            (double)done / (double)total * 100, rate / 1e6, bar->unit,
            rate > 0 ? (double)(total - done) / rate : 0.0);
    fflush(stderr);
}

void nx_progress_end(struct nx_progress_bar *bar)
{
    if (bar->shown)
        fputs("\r\033[K", stderr);
    bar->shown = false;
}
