#include "query/suggest.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LONGEST 128 /* bytes compared of each name */
#define MOST 3

/* Edits (insert, delete, change; case does not count) that turn one name into the other. */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], size_a = strnlen(a, LONGEST), size_b = strnlen(b, LONGEST);

    for (size_t j = 0; j <= size_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= size_a; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t j = 1; j <= size_b; j++) {
            size_t above = row[j];
            size_t change = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
            size_t best = above < row[j - 1] ? above + 1 : row[j - 1] + 1;

            row[j] = change < best ? change : best;
            diagonal = above;
        }
    }
    return row[size_b];
}

char *nx_suggest(const char *name, const char *const *candidates, size_t count)
{
    size_t limit = strlen(name) / 3 + 1, found = 0;
    struct nx_text text = {0};

    for (size_t edits = 0; edits <= limit && found < MOST; edits++)
        for (size_t i = 0; i < count && found < MOST; i++) {
            if (distance(name, candidates[i]) != edits)
                continue;
            nx_text_printf(&text, "%s%s", found ? ", " : "Did you mean ", candidates[i]);
            found++;
        }
    /* a name that holds what was typed is near, too */
    for (size_t i = 0; i < count && !found; i++)
        if (strlen(name) >= 3 && strcasestr(candidates[i], name)) {
            nx_text_printf(&text, "Did you mean %s", candidates[i]);
            found++;
        }
    if (!found)
        return NULL;
    nx_text_puts(&text, "?");
    return text.data;
}
