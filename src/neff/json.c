#include <inttypes.h>
#include <string.h>

#include "neff/reader.h"

/*
 * Told from the marks alone: "[[],[]..." takes forty times its size.  Marks inside of strings are counted
 * too, which only errs to the safe side.
 */
uint64_t nx_neff_json_memory(struct nx_bytes text)
{
    uint64_t objects = 0, arrays = 0, values = 0, keys = 0;

    for (size_t i = 0; i < text.size; i++) {
        objects += text.data[i] == '{';
        arrays += text.data[i] == '[';
        values += text.data[i] == ',';
        keys += text.data[i] == ':';
    }
    return text.size + objects * 300 + arrays * 130 + values * 50 + keys * 100;
}

enum nx_status nx_neff_json(struct nx_neff_reader *r, const char *member, bool array, bool required,
                            json_t **value)
{
    struct nx_bytes bytes;
    json_error_t why;
    bool found;
    enum nx_status status = nx_neff_member(r, member, &bytes, &found);

    *value = NULL;
    if (status == NX_OK && !found)
        return required ? nx_neff_need_member(r, member, &bytes) : NX_OK;
    if (status == NX_OK)
        status = nx_neff_work(r, member, nx_neff_json_memory(bytes));
    if (status != NX_OK)
        return status;
    *value = json_loadb((const char *)bytes.data, bytes.size, JSON_REJECT_DUPLICATES, &why);
    if (!*value)
        return nx_neff_member_fail(r, member, "line %d, column %d (offset %d): %s", why.line, why.column,
                                   why.position, why.text);
    if (array ? json_is_array(*value) : json_is_object(*value))
        return NX_OK;
    json_decref(*value);
    *value = NULL;
    return nx_neff_member_fail(r, member, "expected %s at the top", array ? "an array" : "an object");
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

uint64_t nx_neff_json_count(struct nx_neff_reader *r, const char *member, const json_t *object,
                            const char *key, uint64_t limit)
{
    const json_t *value = json_object_get(object, key);

    if (!value)
        return 0;
    if (json_is_integer(value) && json_integer_value(value) >= 0 &&
        (uint64_t)json_integer_value(value) <= limit)
        return (uint64_t)json_integer_value(value);
    nx_warn(&r->neff->warnings, NX_WARN_INCONSISTENT, "%s: \"%s\" is not an integer from 0 to %" PRIu64,
            member, key, limit);
    return 0;
}

enum nx_status nx_neff_json_part(struct nx_neff_reader *r, const char *member, const json_t *object,
                                 const char *key, json_type type, bool required, json_t **value)
{
    *value = json_object_get(object, key);
    if (!*value && !required)
        return NX_OK;
    if (*value && json_typeof(*value) == type)
        return NX_OK;
    return nx_neff_member_fail(r, member, "\"%s\" %s: expected %s", key,
                               *value ? "is of another type" : "is missing",
                               type == JSON_ARRAY    ? "an array"
                               : type == JSON_OBJECT ? "an object"
                                                     : "text");
}
