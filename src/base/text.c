#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"

static void reserve(struct nx_text *text, size_t more)
{
    size_t need = text->size + more + 1;

    if (need <= text->capacity)
        return;
    if (need < text->capacity * 2)
        need = text->capacity * 2;
    text->data = nx_resize(text->data, need, 1);
    text->capacity = need;
}

void nx_text_append(struct nx_text *text, const char *bytes, size_t size)
{
    reserve(text, size);
    if (size)
        memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void nx_text_puts(struct nx_text *text, const char *string)
{
    nx_text_append(text, string, strlen(string));
}

void nx_text_printf(struct nx_text *text, const char *format, ...)
{
    va_list args;
    int size;

    reserve(text, 64);
    va_start(args, format);
    size = vsnprintf(text->data + text->size, text->capacity - text->size, format, args);
    va_end(args);
    if (size < 0)
        return;
    if ((size_t)size >= text->capacity - text->size) {
        reserve(text, (size_t)size);
        va_start(args, format);
        vsnprintf(text->data + text->size, text->capacity - text->size, format, args);
        va_end(args);
    }
    text->size += (size_t)size;
}

/* Length of the valid UTF-8 sequence at p, or 0. Rejects overlong forms, surrogates and > U+10FFFF. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    static const unsigned char lowest[5] = {0, 0, 0, 0xa0, 0x90};
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 || p[0] == 0xf0) && p[1] < lowest[n])
        return 0;
    if ((p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* Length of the valid UTF-8 at the start of p. */
static size_t utf8_run(const unsigned char *p, size_t size)
{
    size_t i = 0, n;

    while (i < size && (n = utf8_length(p + i, size - i)) > 0)
        i += n;
    return i;
}

bool nx_text_is_utf8(const char *bytes, size_t size)
{
    return utf8_run((const unsigned char *)bytes, size) == size;
}

void nx_text_append_utf8(struct nx_text *text, const char *bytes, size_t size)
{
    while (size) {
        size_t run = utf8_run((const unsigned char *)bytes, size);

        nx_text_append(text, bytes, run);
        if (run == size)
            return;
        nx_text_puts(text, "\xef\xbf\xbd");
        bytes += run + 1;
        size -= run + 1;
    }
}

void nx_text_append_plain(struct nx_text *text, const char *string)
{
    for (const unsigned char *p = (const unsigned char *)string; *p; p++) {
        if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) { /* U+0080 to U+009F */
            p++;
            nx_text_append(text, "?", 1);
        } else {
            nx_text_append(text, *p < 0x20 || *p == 0x7f ? "?" : (const char *)p, 1);
        }
    }
}

size_t nx_utf8_cut(const char *bytes, size_t size, size_t max)
{
    if (size <= max)
        return size;
    while (max && ((unsigned char)bytes[max] & 0xc0) == 0x80)
        max--;
    return max;
}

size_t nx_text_width(const char *string)
{
    mbstate_t state = {0};
    size_t width = 0, left = strlen(string);

    while (left) {
        wchar_t wide;
        size_t used = mbrtowc(&wide, string, left, &state);
        int columns;

        if (used == 0 || used > left)
            used = 1, columns = 1, memset(&state, 0, sizeof(state));
        else
            columns = wcwidth(wide);
        width += columns < 0 ? 1 : (size_t)columns;
        string += used;
        left -= used;
    }
    return width;
}

void nx_text_json_string(struct nx_text *text, const char *bytes, size_t size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    size_t plain = 0; /* start of the run that needs no escape */

    nx_text_append(text, "\"", 1);
    for (size_t i = 0; i < size;) {
        size_t n = utf8_length(p + i, size - i);

        if (n > 0 && p[i] >= 0x20 && p[i] != '"' && p[i] != '\\') {
            i += n;
            continue;
        }
        nx_text_append(text, bytes + plain, i - plain);
        if (n == 0)
            nx_text_puts(text, "\xef\xbf\xbd");
        else if (p[i] == '"' || p[i] == '\\')
            nx_text_printf(text, "\\%c", p[i]);
        else if (p[i] == '\n')
            nx_text_puts(text, "\\n");
        else
            nx_text_printf(text, "\\u%04x", p[i]);
        plain = ++i;
    }
    nx_text_append(text, bytes + plain, size - plain);
    nx_text_append(text, "\"", 1);
}

void nx_hex(const uint8_t *bytes, size_t size, char *out)
{
    for (size_t i = 0; i < size; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    out[2 * size] = '\0';
}

void nx_text_clear(struct nx_text *text)
{
    text->size = 0;
    if (text->data)
        text->data[0] = '\0';
}

void nx_text_free(struct nx_text *text)
{
    free(text->data);
    *text = (struct nx_text){0};
}

const char *nx_text_string(const struct nx_text *text)
{
    return text->data ? text->data : "";
}

#define DICT_BLOCK ((size_t)64 * 1024)

struct nx_dict_block {
    struct nx_dict_block *next;
    size_t used, size;
    char bytes[];
};

static uint64_t hash_bytes(const char *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

/* The slot that holds these bytes, or the free one where they belong. */
static size_t find_slot(const struct nx_dict *dict, const char *bytes, size_t size)
{
    size_t mask = dict->slot_count - 1;
    size_t at = (size_t)hash_bytes(bytes, size) & mask;

    while (dict->slots[at]) {
        const struct nx_dict_entry *e = &dict->entries[dict->slots[at] - 1];

        if (e->size == size && memcmp(e->data, bytes, size) == 0)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

static const char *keep(struct nx_dict *dict, const char *bytes, size_t size)
{
    struct nx_dict_block *block = dict->blocks;
    char *copy;

    if (!block || block->size - block->used < size + 1) {
        size_t room = size + 1 > DICT_BLOCK ? size + 1 : DICT_BLOCK;

        block = nx_alloc(sizeof(*block) + room);
        *block = (struct nx_dict_block){.next = dict->blocks, .size = room};
        dict->blocks = block;
    }
    copy = block->bytes + block->used;
    if (size)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    block->used += size + 1;
    return copy;
}

uint32_t nx_dict_add(struct nx_dict *dict, const char *bytes, size_t size)
{
    size_t at;

    if ((size_t)dict->count * 2 >= dict->slot_count) {
        dict->slot_count = dict->slot_count ? dict->slot_count * 2 : 64;
        free(dict->slots);
        dict->slots = nx_zalloc(dict->slot_count, sizeof(*dict->slots));
        for (uint32_t i = 0; i < dict->count; i++)
            dict->slots[find_slot(dict, dict->entries[i].data, dict->entries[i].size)] = i + 1;
    }
    at = find_slot(dict, bytes, size);
    if (dict->slots[at])
        return dict->slots[at] - 1;
    dict->entries = nx_grow(dict->entries, dict->count, &dict->entry_capacity, sizeof(*dict->entries));
    dict->entries[dict->count] = (struct nx_dict_entry){keep(dict, bytes, size), (uint32_t)size};
    dict->slots[at] = ++dict->count;
    return dict->count - 1;
}

uint32_t nx_dict_add_string(struct nx_dict *dict, const char *string)
{
    return nx_dict_add(dict, string, strlen(string));
}

uint32_t nx_dict_find(const struct nx_dict *dict, const char *string)
{
    size_t at;

    if (!dict->slot_count)
        return NX_NO_TEXT;
    at = find_slot(dict, string, strlen(string));
    return dict->slots[at] ? dict->slots[at] - 1 : NX_NO_TEXT;
}

void nx_dict_free(struct nx_dict *dict)
{
    while (dict->blocks) {
        struct nx_dict_block *next = dict->blocks->next;

        free(dict->blocks);
        dict->blocks = next;
    }
    free(dict->entries);
    free(dict->slots);
    *dict = (struct nx_dict){0};
}
