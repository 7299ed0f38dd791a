#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"

/* Reads one edge up to `stop`; NULL: it is none. */
static const char *read_edge(const char *text, char stop, struct nx_edge *edge)
{
    static const struct {
        const char *word;
        enum nx_edge_kind kind;
    } words[] = {{"first-dma", NX_EDGE_FIRST_DMA},
                 {"last-dma", NX_EDGE_LAST_DMA},
                 {"start", NX_EDGE_START},
                 {"end", NX_EDGE_END}};
    char *end;

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t size = strlen(words[i].word);

        if (strncmp(text, words[i].word, size) == 0 && text[size] == stop) {
            *edge = (struct nx_edge){words[i].kind, 0};
            return text + size;
        }
    }
    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    *edge = (struct nx_edge){NX_EDGE_NS, strtoll(text, &end, 10)};
    return !errno && *end == stop ? end : NULL;
}

bool nx_window_parse(const char *text, struct nx_window *window)
{
    text = read_edge(text, ':', &window->from);
    return text && read_edge(text + 1, '\0', &window->to);
}
