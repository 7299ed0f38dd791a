/* suggest.h - names that a mistyped one may have meant. */
#ifndef NX_QUERY_SUGGEST_H
#define NX_QUERY_SUGGEST_H

#include <stddef.h>

/* "Did you mean A, B?" of the nearest candidates (at most three), or NULL if none is near. Heap. */
char *nx_suggest(const char *name, const char *const *candidates, size_t count);

#endif
