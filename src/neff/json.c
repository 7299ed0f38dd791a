#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "neff/reader.h"

enum nx_status nx_neff_json_fail(struct nx_neff_reader *r, const char *member, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return nx_fail(r->error, NX_BAD_INPUT, "%s: member %s: %s", r->path, member, text);
}

enum nx_status nx_neff_json(struct nx_neff_reader *r, const char *member, bool array, bool required, json_t **value)
{
    struct nx_bytes bytes;
    json_error_t why;

    *value = NULL;
    if (!nx_neff_member(r, member, &bytes))
        return required ? nx_neff_need_member(r, member, &bytes) : NX_OK;
    *value = json_loadb((const char *)bytes.data, bytes.size, JSON_REJECT_DUPLICATES, &why);
    if (!*value)
        return nx_neff_json_fail(r, member, "line %d, column %d (offset %d): %s", why.line, why.column, why.position,
                                 why.text);
    if (array ? json_is_array(*value) : json_is_object(*value))
        return NX_OK;
    json_decref(*value);
    *value = NULL;
    return nx_neff_json_fail(r, member, "expected %s at the top", array ? "an array" : "an object");
}

const char *nx_neff_json_text(struct nx_neff_reader *r, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_string(value))
        return NULL;
    return nx_arena_text(&r->neff->arena, json_string_value(value), json_string_length(value));
}

int64_t nx_neff_json_integer(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? (int64_t)json_integer_value(value) : otherwise;
}
