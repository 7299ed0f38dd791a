#include "base/warning.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void nx_warn(struct nx_warnings *warnings, const char *category, const char *format, ...)
{
    char message[1024];
    va_list args;

    if (warnings->count == NX_WARNINGS_MAX)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    for (size_t i = 0; i < warnings->count; i++)
        if (strcmp(warnings->list[i].message, message) == 0)
            return;
    if (warnings->count == NX_WARNINGS_MAX - 1)
        snprintf(message, sizeof(message), "further warnings were left out");
    warnings->list =
        nx_grow(warnings->list, warnings->count, &warnings->capacity, sizeof(*warnings->list));
    warnings->list[warnings->count++] = (struct nx_warning){category, nx_strdup(message)};
}

void nx_warnings_free(struct nx_warnings *warnings)
{
    for (size_t i = 0; i < warnings->count; i++)
        free(warnings->list[i].message);
    free(warnings->list);
    *warnings = (struct nx_warnings){0};
}
