#include <string.h>

#include "store/store.h"

/* Length of the UTF-8 sequence at p, 0 if it is not one. */
static size_t sequence(const unsigned char *p)
{
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) /* also the terminating NUL */
            return 0;
    return n;
}

enum nx_status nx_profile_name_check(const char *name, struct nx_error *error)
{
    size_t size = strlen(name);

    if (size == 0)
        return nx_fail(error, NX_USAGE, "a profile's name must not be empty");
    if (size > NX_PROFILE_NAME_MAX)
        return nx_fail(error, NX_USAGE, "a profile's name has %zu bytes: at most %d are allowed", size,
                       NX_PROFILE_NAME_MAX);
    if (name[0] == '.')
        return nx_fail(error, NX_USAGE, "a profile's name must not start with a dot");
    if (strstr(name, ".."))
        return nx_fail(error, NX_USAGE, "a profile's name must not hold \"..\"");
    for (const unsigned char *p = (const unsigned char *)name; *p;) {
        size_t n = sequence(p);

        if (n == 0)
            return nx_fail(error, NX_USAGE, "a profile's name must be UTF-8");
        if (*p == '/' || *p == '\\')
            return nx_fail(error, NX_USAGE, "a profile's name must not hold a path separator");
        if (*p < 0x20 || *p == 0x7f || (n == 2 && p[0] == 0xc2 && p[1] < 0xa0))
            return nx_fail(error, NX_USAGE, "a profile's name must not hold control characters");
        p += n;
    }
    return NX_OK;
}
