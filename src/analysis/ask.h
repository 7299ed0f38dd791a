/*
 * ask.h - the statements of src/analysis/sql, asked of one profile.  Private to
 * this folder.
 *
 * A statement is a file that runs as it stands in a DuckDB shell.  Here it is
 * changed in two ways, and what is run is kept for --show-sql:
 *   - the line `WITH win AS (...),` (first to last DMA packet) becomes the
 *     window that was asked for
 *   - a table that the profile does not have becomes one without rows, so that
 *     what the others tell is still told; its name is kept in `absent`
 */
#ifndef NX_ANALYSIS_ASK_H
#define NX_ANALYSIS_ASK_H

#include <jansson.h>
#include <stdbool.h>

#include "query/query.h"

struct nx_inquiry {
    struct nx_pool *pool;
    const char *profile;
    unsigned timeout_ms;
    int cancel_fd;
    bool has_window;
    int64_t t0, t1;
    bool is_part;   /* the window has an edge that was given in nanoseconds: it may be a part of the kernel */
    json_t *tables; /* set of the profile's tables: {"NAME": true} */
    json_t *answers;          /* {"statement": [row, ...]} */
    json_t *sql;              /* {"statement": "the SQL that was run"} */
    json_t *absent;           /* set of tables that a statement wanted and the profile does not have */
    json_t *failed;           /* {"statement": "why it has no answer"} */
    struct nx_answer failure; /* the first of them; code OK: none */
    struct nx_ahead *ahead;   /* private: the statement that nx_ask_ahead() started */
    bool stopped;             /* it was of a kind (client gone, no free worker) that ends the inquiry */
};

/* Asks for the list of tables. False: the failure is in the inquiry. */
bool nx_inquiry_start(struct nx_inquiry *inquiry);
void nx_inquiry_end(struct nx_inquiry *inquiry);

/*
 * The rows of sql/NAME.sql, an array of objects; each statement is run once, later calls get the same rows.
 * Never NULL: an empty array if it failed; the inquiry then says why.
 */
const json_t *nx_ask(struct nx_inquiry *inquiry, const char *name);
/*
 * Starts a statement that nx_ask() will want later, and returns: others can be asked meanwhile, on the other
 * core. One at a time; needs a pool with two workers to be of use.
 */
void nx_ask_ahead(struct nx_inquiry *inquiry, const char *name);
/*
 * The same of a statement about one engine ("Tensor", ...): its line `chosen AS (...),` becomes that engine.
 * The answer and the SQL are kept as "NAME:ENGINE", which nx_ask_key() makes (heap).  engine NULL: as
 * nx_ask().
 */
const json_t *nx_ask_about(struct nx_inquiry *inquiry, const char *name, const char *engine);
char *nx_ask_key(const char *name, const char *engine);
/* Whether the profile has the table with at least one row. */
bool nx_inquiry_has(const struct nx_inquiry *inquiry, const char *table);

/* A number of a row; NAN if it is NULL or not there. */
double nx_number(const json_t *row, const char *column);
/* As above, with 0 for NULL. */
double nx_number_or_0(const json_t *row, const char *column);
/* A text of a row; NULL if it is NULL or not there. */
const char *nx_string(const json_t *row, const char *column);

/* sql/NAME.sql, embedded at build time (cmake/EmbedSql.cmake). */
struct nx_statement {
    const char *name, *text;
};
extern const struct nx_statement nx_statements[];
extern const size_t nx_statement_count;

#endif
