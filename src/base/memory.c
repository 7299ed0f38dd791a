#include "base/memory.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Large enough that a profile of a few megabytes needs a handful of blocks. */
#define ARENA_BLOCK ((size_t)256 * 1024)
#define LARGE_PAGE ((size_t)2 << 20)

struct nx_arena_block {
    struct nx_arena_block *next;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

static _Noreturn void out_of_memory(size_t size)
{
    fprintf(stderr, "neuron-explorer: out of memory (%zu bytes wanted)\n", size);
    exit(1);
}

static size_t product(size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        out_of_memory(SIZE_MAX);
    return total;
}

/*
 * Rows of a large trace are hundreds of megabytes, written once from front to back: in pages of 4 KiB the system spends
 * a quarter of the time on their first touch.  A hint, which it may ignore.  Not for nx_zalloc: sparse tables use that.
 */
static void *in_large_pages(void *block, size_t size)
{
    uintptr_t start = ((uintptr_t)block + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)block + size) & ~(uintptr_t)(LARGE_PAGE - 1);

    if (size >= 4 * LARGE_PAGE && start < end)
        madvise((void *)start, end - start, MADV_HUGEPAGE); /* NOLINT(performance-no-int-to-ptr) */
    return block;
}

void *nx_alloc(size_t size)
{
    void *block = malloc(size ? size : 1);

    if (!block)
        out_of_memory(size);
    return in_large_pages(block, size);
}

void *nx_zalloc(size_t count, size_t size)
{
    size_t total = product(count, size);
    void *block = calloc(1, total ? total : 1);

    if (!block)
        out_of_memory(total);
    return block;
}

void *nx_resize(void *block, size_t count, size_t size)
{
    size_t total = product(count, size);
    void *moved = realloc(block, total ? total : 1);

    if (!moved)
        out_of_memory(total);
    return in_large_pages(moved, total);
}

char *nx_strdup(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(nx_alloc(size), text, size);
}

void *nx_grow(void *block, size_t used, size_t *capacity, size_t size)
{
    if (used < *capacity)
        return block;
    *capacity = *capacity ? product(*capacity, 2) : 16;
    return nx_resize(block, *capacity, size);
}

void *nx_arena_alloc(struct nx_arena *arena, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    size_t total = product(count, size);
    struct nx_arena_block *block = arena->blocks;
    void *memory;

    if (total > SIZE_MAX - align - sizeof(*block))
        out_of_memory(total);
    total = (total + align - 1) & ~(align - 1);
    if (!block || block->size - arena->used < total) {
        size_t room = total > ARENA_BLOCK ? total : ARENA_BLOCK;

        block = nx_zalloc(1, sizeof(*block) + room);
        block->size = room;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = 0;
    }
    memory = block->bytes + arena->used;
    arena->used += total;
    return memory;
}

char *nx_arena_text(struct nx_arena *arena, const void *bytes, size_t size)
{
    char *text = nx_arena_alloc(arena, size + 1, 1);

    if (size)
        memcpy(text, bytes, size);
    return text;
}

char *nx_arena_printf(struct nx_arena *arena, const char *format, ...)
{
    va_list args;
    int size;
    char *text;

    va_start(args, format);
    size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size < 0)
        return nx_arena_text(arena, "", 0);
    text = nx_arena_alloc(arena, (size_t)size + 1, 1);
    va_start(args, format);
    vsnprintf(text, (size_t)size + 1, format, args);
    va_end(args);
    return text;
}

void nx_arena_free(struct nx_arena *arena)
{
    while (arena->blocks) {
        struct nx_arena_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
    arena->used = 0;
}
