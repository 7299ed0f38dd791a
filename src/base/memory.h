/*
 * memory.h - allocation.
 *
 * Sizes that come from a file are checked against the size of that file
 * before anything is allocated, so an allocation can only fail when the
 * machine itself is out of memory.  Then the program says so and ends with
 * status 1: nothing half-written is visible (see store/store.h), and no
 * caller needs a path that no test could reach.
 *
 * An arena holds everything whose life ends with one file or one profile:
 * nothing in it is freed alone.
 */
#ifndef NX_BASE_MEMORY_H
#define NX_BASE_MEMORY_H

#include <stddef.h>

/* Like malloc, calloc, realloc (of count * size, checked for overflow), but never NULL. */
void *nx_alloc(size_t size);
void *nx_zalloc(size_t count, size_t size);
void *nx_resize(void *block, size_t count, size_t size);
char *nx_strdup(const char *text);

/*
 * Makes room for one more element in a growing array: returns the block, at
 * least `used + 1` elements of `size` bytes large, and keeps *capacity.
 *     list = nx_grow(list, count, &capacity, sizeof(*list));
 */
void *nx_grow(void *block, size_t used, size_t *capacity, size_t size);

struct nx_arena_block;
struct nx_arena {
    struct nx_arena_block *blocks; /* newest first */
    size_t used;                   /* bytes used of the newest block */
};

/* Zeroed memory, aligned for any type; lives until nx_arena_free(). A zeroed struct is an empty arena. */
void *nx_arena_alloc(struct nx_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of `size` bytes (which may hold NUL bytes themselves). */
char *nx_arena_text(struct nx_arena *arena, const void *bytes, size_t size);
char *nx_arena_printf(struct nx_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void nx_arena_free(struct nx_arena *arena);

#endif
