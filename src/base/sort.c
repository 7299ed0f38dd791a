#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)

static size_t digit(uint64_t key, unsigned shift)
{
    return (size_t)(key >> shift) & (DIGITS - 1);
}

void nx_sort_order(const uint64_t *keys, uint32_t *order, size_t count)
{
    uint64_t differing = 0; /* bits in which any two keys differ */
    uint32_t *from = order, *to;
    size_t i;

    for (i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (i = 1; i < count && keys[i - 1] <= keys[i]; i++)
        ;
    if (i >= count)
        return;
    for (i = 1; i < count; i++)
        differing |= keys[i] ^ keys[0];

    to = nx_alloc(count * sizeof(*to));
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        size_t start[DIGITS], at = 0;
        uint32_t *swap;

        if (digit(differing, shift) == 0)
            continue; /* all keys agree in this digit */
        memset(start, 0, sizeof(start));
        for (i = 0; i < count; i++)
            start[digit(keys[i], shift)]++;
        for (i = 0; i < DIGITS; i++) {
            size_t size = start[i];

            start[i] = at;
            at += size;
        }
        for (i = 0; i < count; i++)
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
