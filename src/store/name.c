#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "store/store.h"
#include "store/tree.h"

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
    if (!nx_text_is_utf8(name, size))
        return nx_fail(error, NX_USAGE, "a profile's name must be UTF-8");
    for (const unsigned char *p = (const unsigned char *)name; *p; p++) {
        if (*p == '/' || *p == '\\')
            return nx_fail(error, NX_USAGE, "a profile's name must not hold a path separator");
        /* C0, DEL, and C1 (U+0080 to U+009F, which terminals may obey too) */
        if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
            return nx_fail(error, NX_USAGE, "a profile's name must not hold control characters");
    }
    return NX_OK;
}

void nx_profile_folder(const char *name, char folder[NX_FOLDER_MAX])
{
    snprintf(folder, NX_FOLDER_MAX, "%s" NX_LATEST, name);
}
