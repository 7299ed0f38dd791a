/*
 * render.h - rows of a result as text, in the formats of query.h.
 *
 * Numbers are written with all their digits: integers of any width and
 * decimals exactly, doubles in the shortest form that reads back the same;
 * NaN and infinity are null.  Lists, structs and maps are JSON.
 */
#ifndef NX_QUERY_RENDER_H
#define NX_QUERY_RENDER_H

#include <duckdb.h>

#include "base/text.h"
#include "query/query.h"

struct nx_rendering {
    enum nx_format format;
    uint64_t max_rows, max_bytes;
    unsigned width; /* NX_FORMAT_TABLE: columns of the terminal; 0: do not cut */
};

struct nx_rendered {
    struct nx_text body;
    uint64_t rows;
    bool truncated;
    char *problem; /* heap: a column of a type that cannot be written; then nothing else is of use */
};

/* Reads the user's locale, for the widths of an aligned table: before files are out of reach. */
void nx_render_init(void);

/*
 * Fetches the result's chunks until its end or a limit.  An error of the engine while fetching is left in the
 * result (duckdb_result_error).  elapsed_ms: called at the end, for the JSON answer's elapsedMs.
 */
void nx_render(duckdb_result *result, const struct nx_rendering *how, double (*elapsed_ms)(void *), void *context,
               struct nx_rendered *out);

#endif
