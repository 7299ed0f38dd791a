/*
 * A long list in a JSON member, one element at a time.
 *
 * jansson makes a tree of a whole document, at ten times its size; the static DMA of a large kernel is a list
 * of hundreds of thousands of objects.  Here the document's outermost object and the list are walked by hand,
 * only to find where values start and end; jansson then reads (and checks) each value alone.
 */
#include <string.h>

#include "neff/reader.h"

/* What of an element stays in memory takes at most this many times its text. */
#define KEPT_FACTOR 4

struct walk {
    struct nx_neff_reader *r;
    const char *member;
    struct nx_bytes text;
    size_t at;
};

/* Line and column of an offset, as jansson counts them in its messages. */
static void locate(const struct walk *w, size_t offset, int *line, int *column)
{
    *line = 1;
    *column = 0;
    for (size_t i = 0; i < offset; i++) {
        ++*column;
        if (w->text.data[i] == '\n') {
            ++*line;
            *column = 0;
        }
    }
}

static enum nx_status unexpected(const struct walk *w, const char *expected)
{
    int line, column;

    locate(w, w->at, &line, &column);
    return nx_neff_member_fail(w->r, w->member, "line %d, column %d (offset %zu): expected %s", line, column,
                               w->at, expected);
}

/* The next character that is not white space, or 0 at the end. */
static char peek(struct walk *w)
{
    while (w->at < w->text.size && strchr(" \t\r\n", w->text.data[w->at]) && w->text.data[w->at])
        w->at++;
    return w->at < w->text.size ? (char)w->text.data[w->at] : '\0';
}

static bool take(struct walk *w, char wanted)
{
    if (peek(w) != wanted)
        return false;
    w->at++;
    return true;
}

static size_t string_end(struct nx_bytes text, size_t at)
{
    for (at++; at < text.size && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.size ? at + 1 : text.size;
}

/* Where the value that starts at `at` ends, if it is well formed. */
static size_t value_end(struct nx_bytes text, size_t at)
{
    size_t depth = 0;

    while (at < text.size) {
        uint8_t c = text.data[at];

        if (c == '"') {
            at = string_end(text, at);
        } else if (c == '[' || c == '{') {
            depth++;
            at++;
        } else if (c == ']' || c == '}') {
            if (depth == 0) /* of the list around it */
                return at;
            depth--;
            at++;
        } else if (depth == 0 && c == ',') {
            return at;
        } else {
            at++;
            continue;
        }
        if (depth == 0)
            return at;
    }
    return text.size;
}

/* Reads the value at the current place, which ends at `end`. */
static enum nx_status read_value(struct walk *w, size_t end, json_t **value)
{
    struct nx_bytes slice = {w->text.data + w->at, end - w->at};
    json_error_t why;
    int line, column;

    *value = NULL;
    if (nx_neff_json_memory(slice) > w->r->max_work - w->r->work)
        return nx_neff_member_fail(w->r, w->member, "one of its values asks for too much memory");
    *value = json_loadb((const char *)slice.data, slice.size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (*value) {
        w->at = end;
        return NX_OK;
    }
    locate(w, w->at, &line, &column);
    return nx_neff_member_fail(w->r, w->member, "line %d, column %d (offset %zu): %s", line + why.line - 1,
                               why.line > 1 ? why.column : column + why.column, w->at + (size_t)why.position,
                               why.text);
}

static enum nx_status walk_list(struct walk *w, nx_json_element *each, void *context)
{
    enum nx_status status = NX_OK;
    bool first = true;

    w->at++; /* '[' */
    while (status == NX_OK && !take(w, ']')) {
        json_t *element;
        size_t end;

        if (!first && !take(w, ','))
            return unexpected(w, "',' or ']'");
        first = false;
        peek(w);
        end = value_end(w->text, w->at);
        status = nx_neff_work(w->r, w->member, (end - w->at) * KEPT_FACTOR);
        if (status == NX_OK)
            status = read_value(w, end, &element);
        if (status != NX_OK)
            return status;
        status = each(context, element);
        json_decref(element);
    }
    return status;
}

/* A value that nobody asked for, which has to be well formed all the same. */
static enum nx_status skip_value(struct walk *w)
{
    json_t *value;
    enum nx_status status = read_value(w, value_end(w->text, w->at), &value);

    json_decref(value);
    return status;
}

/* The list of that key, if it is one of those that are asked for. */
static struct nx_json_list *list_of(struct nx_json_list *lists, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(lists[i].key, key) == 0)
            return &lists[i];
    return NULL;
}

static enum nx_status walk_member(struct walk *w, struct nx_json_list *lists, size_t count, void *context)
{
    struct nx_json_list *list;
    json_t *name;
    enum nx_status status;

    if (peek(w) != '"')
        return unexpected(w, "a key");
    status = read_value(w, string_end(w->text, w->at), &name);
    if (status != NX_OK)
        return status;
    list = list_of(lists, count, json_string_value(name));
    json_decref(name);
    if (!take(w, ':'))
        return unexpected(w, "':'");
    if (list && list->found)
        return nx_neff_member_fail(w->r, w->member, "\"%s\" stands there twice", list->key);
    if (list && peek(w) != '[')
        return nx_neff_member_fail(w->r, w->member, "\"%s\" is of another type: expected an array", list->key);
    peek(w);
    if (!list)
        return skip_value(w);
    list->found = true;
    return walk_list(w, list->each, context);
}

enum nx_status nx_neff_json_lists(struct nx_neff_reader *r, const char *member, struct nx_json_list *lists,
                                  size_t count, void *context)
{
    struct walk w = {.r = r, .member = member};
    bool first = true;
    enum nx_status status = nx_neff_need_member(r, member, &w.text);

    if (status != NX_OK)
        return status;
    if (!take(&w, '{'))
        return unexpected(&w, "an object at the top");
    while (status == NX_OK && !take(&w, '}')) {
        if (!first && !take(&w, ','))
            return unexpected(&w, "',' or '}'");
        first = false;
        status = walk_member(&w, lists, count, context);
    }
    if (status == NX_OK && (peek(&w) || w.at < w.text.size))
        return unexpected(&w, "the end");
    return status;
}

enum nx_status nx_neff_json_elements(struct nx_neff_reader *r, const char *member, const char *key,
                                     nx_json_element *each, void *context)
{
    return nx_neff_json_lists(r, member, &(struct nx_json_list){.key = key, .each = each}, 1, context);
}
