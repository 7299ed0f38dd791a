#include "analysis/draw.h"

#include <math.h>
#include <string.h>

static void put_scaled(struct nx_text *out, double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t at = 0;

    while (fabs(value) >= 999.5 && at + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
        value /= 1000;
        at++;
    }
    /* three digits are what a reader takes in */
    nx_text_printf(out, "%.*f %s%s",
                   at == 0 || fabs(value) >= 99.95 ? 0
                   : fabs(value) >= 9.995          ? 1
                                                   : 2,
                   value, prefixes[at], unit);
}

static void put_time(struct nx_text *out, double ns)
{
    double size = fabs(ns);

    if (size < 1000)
        nx_text_printf(out, "%.0f ns", ns);
    else if (size < 1e8)
        nx_text_printf(out, "%.*f us", size < 1e5 ? 2 : size < 1e6 ? 1 : 0, ns / 1e3);
    else
        nx_text_printf(out, "%.*f ms", size < 1e9 ? 1 : 0, ns / 1e6);
}

void nx_draw_number(struct nx_text *out, double value, const char *unit)
{
    if (isnan(value))
        nx_text_puts(out, "-");
    else if (strcmp(unit, "ns") == 0)
        put_time(out, value);
    else if (strcmp(unit, "bytes") == 0)
        put_scaled(out, value, "B");
    else if (strcmp(unit, "bytes/s") == 0)
        put_scaled(out, value, "B/s");
    else if (strcmp(unit, "flops") == 0)
        put_scaled(out, value, "FLOP");
    else if (strcmp(unit, "flops/s") == 0)
        put_scaled(out, value, "FLOP/s");
    else if (strcmp(unit, "share") == 0)
        nx_text_printf(out, "%.1f %%", value * 100);
    else if (strcmp(unit, "factor") == 0)
        nx_text_printf(out, "%.*fx", fabs(value) < 9.995 ? 2 : 1, value);
    else
        nx_text_printf(out, "%.*f", value == floor(value) ? 0 : 2, value);
}

void nx_draw_value(struct nx_text *out, const json_t *value, const char *unit)
{
    if (json_is_number(value)) {
        nx_draw_number(out, json_number_value(value), unit);
    } else if (json_is_string(value)) {
        for (const char *p = json_string_value(value); *p; p++) /* a name must not move the cursor */
            nx_text_append(out, (unsigned char)*p < 0x20 || *p == 0x7f ? " " : p, 1);
    } else if (json_is_boolean(value)) {
        nx_text_puts(out, json_is_true(value) ? "yes" : "no");
    } else {
        nx_text_puts(out, "-");
    }
}

void nx_draw_markdown(struct nx_text *out, const char *text)
{
    for (; *text; text++)
        nx_text_printf(out, *text == '|' ? "\\%c" : "%c", *text);
}

size_t nx_draw_width(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void nx_draw_tail(struct nx_text *out, const char *text, size_t width)
{
    size_t own = nx_draw_width(text);

    if (own > width && width > 3) {
        for (size_t skip = own - width + 3; skip; skip--) {
            text++;
            while (((unsigned char)*text & 0xc0) == 0x80)
                text++;
        }
        nx_text_puts(out, "...");
    }
    nx_text_puts(out, text);
}

/* The first `size` bytes of a text as columns. */
static size_t width_of(const char *text, size_t size)
{
    struct nx_text word = {0};
    size_t width;

    nx_text_append(&word, text, size);
    width = nx_text_width(nx_text_string(&word));
    nx_text_free(&word);
    return width;
}

/* How much of a word that is longer than a line fits into `columns`: at least one character. */
static size_t piece_of(const char *word, size_t size, size_t columns)
{
    size_t cut = nx_utf8_cut(word, size, columns);

    return cut ? cut : size;
}

static void break_line(struct nx_text *out, size_t indent, size_t *column)
{
    nx_text_printf(out, "\n%*s", (int)indent, "");
    *column = indent;
}

void nx_draw_wrapped(struct nx_text *out, const char *text, size_t indent, size_t width)
{
    size_t column = indent;

    text += strspn(text, " ");
    if (*text)
        nx_text_printf(out, "%*s", (int)indent, "");
    while (*text) {
        size_t gap = strspn(text, " "), size = strcspn(text + gap, " "), own = width_of(text + gap, size);

        if (!size) /* blanks at the end */
            return;
        if (column > indent && column + gap + own > width) {
            break_line(out, indent, &column);
        } else {
            nx_text_append(out, text, gap);
            column += gap;
        }
        text += gap;
        if (column + own > width && indent < width) {
            size = piece_of(text, size, width - column);
            own = width_of(text, size);
        }
        nx_text_append(out, text, size);
        column += own;
        text += size;
        if (*text && *text != ' ') /* the rest of a long word */
            break_line(out, indent, &column);
    }
}
