#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum nx_status nx_fail(struct nx_error *error, enum nx_status status, const char *format, ...)
{
    va_list args;

    error->status = status;
    va_start(args, format);
    vsnprintf(error->text, sizeof(error->text), format, args);
    va_end(args);
    return status;
}

enum nx_status nx_fail_at(struct nx_error *error, const char *file, uint64_t offset, const char *format,
                          ...)
{
    va_list args;
    int used = snprintf(error->text, sizeof(error->text), "%s: offset %" PRIu64 ": ", file, offset);

    error->status = NX_BAD_INPUT;
    if (used < 0 || (size_t)used >= sizeof(error->text))
        return NX_BAD_INPUT;
    va_start(args, format);
    vsnprintf(error->text + used, sizeof(error->text) - (size_t)used, format, args);
    va_end(args);
    return NX_BAD_INPUT;
}
