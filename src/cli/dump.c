#include "cli/dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/options.h"

json_t *nx_dump_text(const char *text)
{
    struct nx_text quoted = {0};
    json_t *value;

    if (!text)
        return json_null();
    nx_text_json_string(&quoted, text, strlen(text)); /* makes it UTF-8 */
    value = json_loads(nx_text_string(&quoted), JSON_DECODE_ANY, NULL);
    nx_text_free(&quoted);
    return value ? value : json_null();
}

json_t *nx_dump_hex(const uint8_t *bytes, size_t size)
{
    char text[2 * 64 + 1];

    nx_hex(bytes, size < 64 ? size : 64, text);
    return json_string(text);
}

json_t *nx_dump_number(uint64_t value)
{
    char text[24];

    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return json_string(text);
}

json_t *nx_dump_warnings(const struct nx_warnings *warnings)
{
    json_t *list = json_array();

    for (size_t i = 0; i < warnings->count; i++)
        json_array_append_new(list, nx_dump_text(warnings->list[i].message));
    return list;
}

/* Texts come from files that nobody vouches for. */
static void print_text(const char *text)
{
    struct nx_text plain = {0};

    nx_text_append_plain(&plain, text);
    fputs(nx_text_string(&plain), stdout);
    nx_text_free(&plain);
}

static void print_scalar(const json_t *value)
{
    if (json_is_string(value)) {
        print_text(json_string_value(value));
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY);

        fputs(text ? text : "", stdout);
        free(text);
    }
}

static bool is_flat(const json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;

    if (json_is_object(value))
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
            if (json_is_object(member) || json_is_array(member))
                return false;
    if (json_is_array(value))
        json_array_foreach((json_t *)(uintptr_t)value, i, member)
            if (json_is_object(member) || json_is_array(member))
                return false;
    return true;
}

/* An entry of a list on one line: "name sg00  size 12". */
static void print_entry(const json_t *value)
{
    const char *key;
    json_t *member;
    bool first = true;

    if (!json_is_object(value)) {
        print_scalar(value);
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)value, key, member) {
        if (json_is_null(member))
            continue;
        printf("%s%s ", first ? "" : "  ", key);
        print_scalar(member);
        first = false;
    }
}

static void print_value(const json_t *value, int indent);

static void print_member(const char *key, const json_t *member, int indent)
{
    printf("%*s%s", indent, "", key);
    if (json_is_object(member) || (json_is_array(member) && json_array_size(member))) {
        putchar('\n');
        print_value(member, indent + 2);
    } else if (json_is_array(member)) {
        puts("  none");
    } else {
        fputs("  ", stdout);
        print_scalar(member);
        putchar('\n');
    }
}

static void print_value(const json_t *value, int indent)
{
    const char *key;
    json_t *member;
    size_t i;

    if (json_is_object(value))
        json_object_foreach((json_t *)(uintptr_t)value, key, member)
            print_member(key, member, indent);
    else
        json_array_foreach((json_t *)(uintptr_t)value, i, member) {
            if (!is_flat(member)) {
                printf("%*s%zu\n", indent, "", i);
                print_value(member, indent + 2);
                continue;
            }
            printf("%*s", indent, "");
            print_entry(member);
            putchar('\n');
        }
}

/* Its entries stand as those of any other list of the document: one a line. */
static void print_stream_text(const struct nx_dump_stream *stream)
{
    json_t *entry = stream->next(stream->context);

    if (entry)
        puts(stream->key);
    else
        printf("%s  none\n", stream->key);
    for (; entry; entry = stream->next(stream->context)) {
        fputs("  ", stdout);
        print_entry(entry);
        putchar('\n');
        json_decref(entry);
    }
}

/* In the place of the document's last brace. */
static void print_stream_json(const struct nx_dump_stream *stream)
{
    const char *before = "";
    json_t *entry;

    printf(",\n \"%s\": [", stream->key);
    for (; (entry = stream->next(stream->context)); before = ",") {
        printf("%s\n  ", before);
        json_dumpf(entry, stdout, JSON_PRESERVE_ORDER);
        json_decref(entry);
    }
    fputs("\n ]\n}\n", stdout);
}

static void print_json(const json_t *document, const struct nx_dump_stream *stream)
{
    char *text = json_dumps(document, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    size_t size = text ? strlen(text) : 0;

    if (stream && size > 2) { /* it ends in "\n}" */
        fwrite(text, 1, size - 2, stdout);
        print_stream_json(stream);
    } else {
        puts(text ? text : "null");
    }
    free(text);
}

int nx_dump_print(json_t *document, const struct nx_dump_stream *stream, bool json, const struct nx_error *error)
{
    if (error)
        json_object_set_new(document, "error", nx_dump_text(error->text));
    if (json) {
        print_json(document, stream);
    } else {
        print_value(document, 0);
        if (stream)
            print_stream_text(stream);
    }
    json_decref(document);
    if (fflush(stdout) != 0)
        return nx_complain(NX_FAILED, "cannot write to standard output");
    return error ? nx_complain_about(error) : NX_OK;
}
