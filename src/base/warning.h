/*
 * warning.h - what a profile does not say, or what was not understood.
 * Every stage adds to one list; it becomes the Warning table.  The same
 * message is kept once, and no more than NX_WARNINGS_MAX: a hostile file must
 * not make the list long or its search slow.
 */
#ifndef NX_BASE_WARNING_H
#define NX_BASE_WARNING_H

#include <stddef.h>

#define NX_WARN_MISSING "Missing Data"          /* the files do not hold it */
#define NX_WARN_UNKNOWN "Not Understood"        /* the files hold it, this reader does not know it */
#define NX_WARN_INCOMPLETE "Incomplete Trace"   /* records were lost or cut while capturing */
#define NX_WARN_INCONSISTENT "Inconsistent Data" /* two parts of the files disagree */

#define NX_WARNINGS_MAX 200

struct nx_warning {
    const char *category; /* one of the NX_WARN_ texts */
    char *message;
};

struct nx_warnings {
    struct nx_warning *list;
    size_t count, capacity;
};

void nx_warn(struct nx_warnings *warnings, const char *category, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void nx_warnings_free(struct nx_warnings *warnings);

#endif
