#include <jansson.h>
#include <string.h>

#include "analysis/check.h"
#include "analysis/draw.h"

struct page {
    struct nx_text *out;
    bool colour;
};

static const char *colour_of(const char *status)
{
    return strcmp(status, "good") == 0 ? "\033[32m" : strcmp(status, "bad") == 0 ? "\033[31m" : "\033[33m";
}

static void put_coloured(struct page *page, const char *status, const char *text)
{
    if (page->colour)
        nx_text_puts(page->out, colour_of(status));
    nx_text_puts(page->out, text);
    if (page->colour)
        nx_text_puts(page->out, "\033[0m");
}

/* A sentence after `indent` blanks; `first`, which is shorter, stands in them on its first line. */
static void put_wrapped(struct page *page, const char *first, size_t indent, const char *sentence)
{
    struct nx_text plain = {0};
    size_t start = page->out->size;

    nx_text_append_plain(&plain, sentence);
    nx_draw_wrapped(page->out, nx_text_string(&plain), indent, NX_CHECK_TEXT_WIDTH);
    if (page->out->size > start)
        memcpy(page->out->data + start, first, strlen(first));
    nx_text_puts(page->out, "\n");
    nx_text_free(&plain);
}

static const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static void put_topic(struct page *page, const json_t *topic)
{
    const char *status = string_of(topic, "status");
    const json_t *lines = json_object_get(topic, "lines"), *findings = json_object_get(topic, "findings"), *entry;
    size_t i;

    if (!json_array_size(lines) && !json_array_size(findings))
        return;
    nx_text_puts(page->out, "\n");
    put_coloured(page, status, strcmp(status, "gaps") == 0 ? "gap " : strcmp(status, "bad") == 0 ? "bad " : "good");
    nx_text_printf(page->out, "  %s\n", string_of(topic, "title"));
    json_array_foreach(lines, i, entry)
        put_wrapped(page, "", 6, json_string_value(entry));
    json_array_foreach(findings, i, entry)
        put_wrapped(page, strcmp(string_of(entry, "status"), "good") == 0 ? "    -" : "    !", 6, string_of(entry, "text"));
}

static void put_next(struct page *page, const json_t *next)
{
    const json_t *entry, *setting;
    size_t i, v;

    if (!json_array_size(next))
        return;
    nx_text_puts(page->out, "\nNext time\n");
    json_array_foreach(next, i, entry) {
        struct nx_text first = {0}, settings = {0};

        nx_text_printf(&first, "  %s", string_of(entry, "when"));
        json_array_foreach(json_object_get(entry, "set"), v, setting)
            nx_text_printf(&settings, "%s%s", v ? " " : "", json_string_value(setting));
        if (settings.size)
            put_wrapped(page, nx_text_string(&first), 12, nx_text_string(&settings));
        put_wrapped(page, settings.size ? "" : nx_text_string(&first), 12, string_of(entry, "text"));
        nx_text_free(&first);
        nx_text_free(&settings);
    }
}

void nx_check_text(const char *document, size_t size, bool colour, struct nx_text *out)
{
    json_t *check = json_loadb(document, size, 0, NULL);
    const char *status = string_of(check, "status");
    struct page page = {.out = out, .colour = colour};
    const char *key;
    json_t *topic;

    nx_text_append_plain(out, string_of(check, "profile"));
    nx_text_puts(out, ": ");
    put_coloured(&page, status,
                 strcmp(status, "good") == 0   ? "good"
                 : strcmp(status, "bad") == 0 ? "not usable"
                                              : "usable with gaps");
    nx_text_puts(out, "\n");
    json_object_foreach(json_object_get(check, "topics"), key, topic)
        put_topic(&page, topic);
    put_next(&page, json_object_get(check, "next"));
    json_decref(check);
}
