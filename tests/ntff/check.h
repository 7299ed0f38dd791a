/* check.h - cmocka, and a copy of a file's bytes in a block of exactly their size (so that sanitizers see).
 */
#ifndef NX_TESTS_NTFF_CHECK_H
#define NX_TESTS_NTFF_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/memory.h"
#include "ntff_builder.h"

struct opened {
    uint8_t *bytes;
    struct nx_ntff ntff;
    struct nx_error error;
    enum nx_status status;
};

static inline void open_bytes(struct opened *o, const void *bytes, size_t size)
{
    *o = (struct opened){.bytes = nx_alloc(size)};
    if (size)
        memcpy(o->bytes, bytes, size);
    o->status = nx_ntff_parse("test.ntff", (struct nx_bytes){o->bytes, size}, &o->ntff, &o->error);
}

static inline void close_bytes(struct opened *o)
{
    nx_ntff_close(&o->ntff);
    free(o->bytes);
}

/* Opens it, or fails the test with what the reader said. */
static inline void must_open(struct opened *o, const struct nx_text *file)
{
    open_bytes(o, file->data, file->size);
    if (o->status != NX_OK)
        fail_msg("%s", o->error.text);
}

static inline const char *warning_with(const struct nx_ntff *ntff, const char *part)
{
    for (size_t i = 0; i < ntff->warnings.count; i++)
        if (strstr(ntff->warnings.list[i].message, part))
            return ntff->warnings.list[i].category;
    return NULL;
}

#endif
