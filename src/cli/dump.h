/*
 * dump.h - what the two dumps share: they build one JSON document, which is
 * printed as it is (--json) or as indented text.
 */
#ifndef NX_CLI_DUMP_H
#define NX_CLI_DUMP_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/warning.h"

/* Text that a file holds, which need not be UTF-8. NULL becomes null. */
json_t *nx_dump_text(const char *text);
json_t *nx_dump_hex(const uint8_t *bytes, size_t size);
/* JSON's integers, as most readers take them, are signed: larger ones (of a damaged file) become text. */
json_t *nx_dump_number(uint64_t value);
json_t *nx_dump_warnings(const struct nx_warnings *warnings);

/* A list that may be too long to be held: its entries are made one at a time, and printed last. */
struct nx_dump_stream {
    const char *key;
    json_t *(*next)(void *context); /* NULL: that was all */
    void *context;
};

/*
 * Prints the document, and `error` if the file could not be read whole; takes the document over. `stream` may be
 * NULL. Returns the exit status.
 */
int nx_dump_print(json_t *document, const struct nx_dump_stream *stream, bool json, const struct nx_error *error);

#endif
