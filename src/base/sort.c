#include "base/sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/merge.h"

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)
#define MAX_RUNS 256 /* beyond, a merge takes longer than the digits */

static size_t digit(uint64_t key, unsigned shift)
{
    return (size_t)(key >> shift) & (DIGITS - 1);
}

static void radix_sort(const uint64_t *keys, uint32_t *order, size_t count)
{
    uint64_t differing = 0; /* bits in which any two keys differ */
    uint32_t *from = order, *to = nx_alloc(count * sizeof(*to));

    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        differing |= keys[i] ^ keys[0];
    }
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        size_t start[DIGITS], at = 0;
        uint32_t *swap;

        if (digit(differing, shift) == 0)
            continue; /* all keys agree in this digit */
        memset(start, 0, sizeof(start));
        for (size_t i = 0; i < count; i++)
            start[digit(keys[i], shift)]++;
        for (size_t i = 0; i < DIGITS; i++) {
            size_t size = start[i];

            start[i] = at;
            at += size;
        }
        for (size_t i = 0; i < count; i++)
            to[start[digit(keys[from[i]], shift)]++] = from[i];
        swap = from;
        from = to;
        to = swap;
    }
    if (from != order) {
        memcpy(order, from, count * sizeof(*order));
        to = from;
    }
    free(to);
}

/* Where the runs of rising keys begin, `count` behind the last; more than MAX_RUNS, or the last key of all: false. */
static bool find_runs(const uint64_t *keys, size_t count, size_t *begins, size_t *runs)
{
    begins[0] = 0;
    *runs = 1;
    for (size_t i = 1; i < count; i++) {
        if (keys[i - 1] <= keys[i])
            continue;
        if (*runs == MAX_RUNS || keys[i - 1] == NX_MERGE_END)
            return false;
        begins[(*runs)++] = i;
    }
    begins[*runs] = count;
    return keys[count - 1] != NX_MERGE_END;
}

static void merge_runs(const uint64_t *keys, uint32_t *order, size_t *begins, size_t runs)
{
    uint64_t first[MAX_RUNS];
    size_t ends[MAX_RUNS], at = 0;
    struct nx_merge merge;

    for (size_t r = 0; r < runs; r++) {
        first[r] = keys[begins[r]];
        ends[r] = begins[r + 1];
    }
    nx_merge_open(&merge, first, runs);
    while (nx_merge_key(&merge) != NX_MERGE_END) {
        uint32_t run = nx_merge_list(&merge);

        order[at++] = (uint32_t)begins[run]++;
        nx_merge_next(&merge, begins[run] < ends[run] ? keys[begins[run]] : NX_MERGE_END);
    }
    nx_merge_close(&merge);
}

void nx_sort_order(const uint64_t *keys, uint32_t *order, size_t count)
{
    size_t begins[MAX_RUNS + 1], runs;

    if (count == 0)
        return;
    if (!find_runs(keys, count, begins, &runs)) {
        radix_sort(keys, order, count);
    } else if (runs > 1) {
        merge_runs(keys, order, begins, runs);
    } else {
        for (size_t i = 0; i < count; i++)
            order[i] = (uint32_t)i;
    }
}

void *nx_sort_rows(void *rows, size_t count, size_t size, size_t key_offset)
{
    const char *from = rows;
    uint64_t *keys = nx_alloc(count * sizeof(*keys));
    uint32_t *order = nx_alloc(count * sizeof(*order));
    char *sorted = nx_alloc(count * size);

    for (size_t i = 0; i < count; i++)
        memcpy(&keys[i], from + i * size + key_offset, sizeof(keys[i]));
    nx_sort_order(keys, order, count);
    for (size_t i = 0; i < count; i++)
        memcpy(sorted + i * size, from + order[i] * size, size);
    free(rows);
    free(keys);
    free(order);
    return sorted;
}
