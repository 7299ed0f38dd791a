#include "tables/rows.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

void *nx_rows_add(struct nx_rows *rows, size_t size)
{
    rows->list = nx_grow(rows->list, rows->count, &rows->capacity, size);
    return (char *)rows->list + rows->count++ * size;
}

void nx_rows_sort(struct nx_rows *rows, size_t size, size_t key_offset)
{
    rows->list = nx_sort_rows(rows->list, rows->count, size, key_offset);
    rows->capacity = rows->count;
}

uint64_t nx_rows_count(const void *state)
{
    return ((const struct nx_rows *)state)->count;
}

void nx_rows_close(void *state)
{
    free(((struct nx_rows *)state)->list);
    free(state);
}
