/*
 * text.h - growing text, and interned text.
 *
 * A dictionary gives each distinct string a small number, once: opcodes,
 * queue names and the operands of one program counter repeat over millions of
 * rows, and rows then carry the number.
 */
#ifndef NX_BASE_TEXT_H
#define NX_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed struct = empty text. `data` is NUL-terminated after the first append, NULL before. */
struct nx_text {
    char *data;
    size_t size; /* without the NUL */
    size_t capacity;
};

void nx_text_append(struct nx_text *text, const char *bytes, size_t size);
void nx_text_puts(struct nx_text *text, const char *string);
void nx_text_printf(struct nx_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* `size` bytes as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void nx_text_json_string(struct nx_text *text, const char *bytes, size_t size);
/* `size` bytes as lower-case hexadecimal; `out` has room for 2 * size + 1. */
void nx_hex(const uint8_t *bytes, size_t size, char *out);
/* Text from a file need not be UTF-8; who hands it on (to a database, in a message) may have to see to it. */
bool nx_text_is_utf8(const char *bytes, size_t size);
/* Appends `size` bytes; each that is not part of valid UTF-8 becomes U+FFFD. */
void nx_text_append_utf8(struct nx_text *text, const char *bytes, size_t size);
/* Of `size` bytes of UTF-8: how many of the first `max` hold whole characters only. */
size_t nx_utf8_cut(const char *bytes, size_t size, size_t max);
/* Columns of a terminal that a string takes, as the locale (LC_CTYPE) has it; a control or a byte that is no text: one. */
size_t nx_text_width(const char *string);
/* Appends a string for a terminal or a line: what would steer the one or break the other (controls) is shown as '?'. */
void nx_text_append_plain(struct nx_text *text, const char *string);
void nx_text_clear(struct nx_text *text); /* keeps the memory */
void nx_text_free(struct nx_text *text);
/* The text so far as a string; "" when nothing was appended. Valid until the next call. */
const char *nx_text_string(const struct nx_text *text);

/* The number that stands for "no text" (NULL in a table). */
#define NX_NO_TEXT UINT32_MAX

struct nx_dict_entry {
    const char *data; /* NUL-terminated, owned by the dictionary */
    uint32_t size;
};

/* Zeroed struct = empty dictionary. Numbers run from 0 in order of first appearance. */
struct nx_dict {
    struct nx_dict_entry *entries;
    uint32_t count;
    /* private */
    uint32_t *slots; /* open addressing: number + 1, or 0 */
    size_t slot_count;
    size_t entry_capacity;
    struct nx_dict_block *blocks;
};

uint32_t nx_dict_add(struct nx_dict *dict, const char *bytes, size_t size);
/* Its number, or NX_NO_TEXT when it is not in. */
uint32_t nx_dict_find(const struct nx_dict *dict, const char *string);
uint32_t nx_dict_add_string(struct nx_dict *dict, const char *string);
void nx_dict_free(struct nx_dict *dict);

#endif
