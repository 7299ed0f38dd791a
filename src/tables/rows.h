/*
 * rows.h - a table whose rows are worked out when it is opened, as a plain list.
 *
 * Its state begins with the list, so that count and close need no code of the
 * table's own:
 *
 *     struct state { struct nx_rows rows; ... };   // of struct row
 *     *(struct row *)nx_rows_add(&state->rows, sizeof(struct row)) = ...;
 *     const struct row *row = nx_rows_at(state, first + i, sizeof(*row));
 */
#ifndef NX_TABLES_ROWS_H
#define NX_TABLES_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct nx_rows {
    void *list; /* heap */
    size_t count, capacity;
};

/* A new row, not yet written to; valid until the next one is added. */
void *nx_rows_add(struct nx_rows *rows, size_t size);
/* Puts them into the order of the 64-bit key that each holds at `key_offset`, as nx_sort_rows() does. */
void nx_rows_sort(struct nx_rows *rows, size_t size, size_t key_offset);

/* For nx_table.count and .close, and rows of it for .fill: `state` begins with an nx_rows. */
uint64_t nx_rows_count(const void *state);
void nx_rows_close(void *state); /* frees the list and the state; what else the state owns is freed before */
static inline const void *nx_rows_at(const void *state, uint64_t number, size_t size)
{
    return (const char *)((const struct nx_rows *)state)->list + number * size;
}

#endif
