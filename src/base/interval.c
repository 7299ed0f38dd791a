#include "base/interval.h"

#include <stdlib.h>

static int by_start(const void *left, const void *right)
{
    const struct nx_interval *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

size_t nx_interval_merge(struct nx_interval *list, size_t count)
{
    size_t kept = 0, i;

    /* Traces come nearly sorted: look first, a sort of millions is the dear part. */
    for (i = 1; i < count && list[i - 1].start <= list[i].start; i++)
        ;
    if (i < count)
        qsort(list, count, sizeof(*list), by_start);
    for (i = 0; i < count; i++) {
        if (kept && list[i].start <= list[kept - 1].end) {
            if (list[i].end > list[kept - 1].end)
                list[kept - 1].end = list[i].end;
        } else {
            list[kept++] = list[i];
        }
    }
    return kept;
}

int64_t nx_interval_length(const struct nx_interval *merged, size_t count)
{
    int64_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += merged[i].end - merged[i].start;
    return total;
}
