/* fuzz_member.h - one member of an otherwise sound package: the first byte says which. */
#ifndef NX_TESTS_FUZZ_MEMBER_H
#define NX_TESTS_FUZZ_MEMBER_H

#include "neff/package.h"

#include "fuzz/fuzz.h"

static inline void fuzz_member(const uint8_t *data, size_t size, const char *const *names, size_t count)
{
    struct nx_text content = {0}, file = {0};
    struct nx_neff neff;
    struct nx_error error;
    struct part part;

    if (size < 1)
        return;
    nx_text_append(&content, (const char *)data + 1, size - 1);
    part = (struct part){names[data[0] % count], nx_text_string(&content), content.size};
    neff_with(&part, 1, &file);
    if (parse_text(&file, &neff, &error) == NX_OK)
        nx_neff_close(&neff);
    nx_text_free(&content);
    nx_text_free(&file);
}

#endif
