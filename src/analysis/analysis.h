/*
 * analysis.h - why a kernel is slow: bounds, gaps and what was found in them.
 *
 * A report is one JSON document (docs/analysis.md describes it); text and
 * markdown are drawn from it, the comparison of versions reads it, the API
 * sends it.  Every figure in it comes from a statement in sql/, asked through
 * the pool like any user's SQL, and options.show_sql adds those statements.
 *
 * A new investigation is one file and one line in investigations.c
 * (investigation.h says how).
 */
#ifndef NX_ANALYSIS_ANALYSIS_H
#define NX_ANALYSIS_ANALYSIS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "query/query.h"

/* An end of the window: nanoseconds, or a place in the profile. */
enum nx_edge_kind { NX_EDGE_FIRST_DMA, NX_EDGE_LAST_DMA, NX_EDGE_START, NX_EDGE_END, NX_EDGE_NS };
struct nx_edge {
    enum nx_edge_kind kind;
    int64_t ns; /* NX_EDGE_NS */
};
struct nx_window {
    struct nx_edge from, to;
};
#define NX_DEFAULT_WINDOW       \
    {                           \
        {NX_EDGE_FIRST_DMA, 0}, \
        {                       \
            NX_EDGE_LAST_DMA, 0 \
        }                       \
    }
/* "FROM:TO"; each is nanoseconds, first-dma, last-dma, start or end. False: it is not one. */
bool nx_window_parse(const char *text, struct nx_window *window);

struct nx_analysis_options {
    struct nx_window window;
    unsigned timeout_ms; /* of one statement */
    int cancel_fd;       /* as in nx_query */
    bool show_sql;       /* the report holds the statements */
};
#define NX_ANALYSIS_TIMEOUT_MS 120000
/* What a pool for analyses should allow: DuckDB may use half of it (tens of millions of rows are sorted). */
#define NX_ANALYSIS_MEMORY ((uint64_t)7 << 30)

/*
 * The report about one profile.  NULL: *failure says why (as of a query; nx_answer_free() it).  What a
 * profile lacks is no failure: the report says what could not be computed.
 */
json_t *nx_analyze(struct nx_pool *pool, const char *profile, const struct nx_analysis_options *options,
                   struct nx_answer *failure);

/*
 * Versions of a kernel side by side, the first being what the others are compared with.  At least two names.
 * NULL as above.
 */
json_t *nx_compare(struct nx_pool *pool, const char *const *profiles, size_t count,
                   const struct nx_analysis_options *options, struct nx_answer *failure);

/*
 * Conditions on a report, for CI: "memory_bound_ideal_gap>0.4,excess_ratio>2".  docs/analysis.md lists the
 * names. NULL: `text` is right.  Otherwise what is wrong with it (heap).
 */
char *nx_conditions_check(const char *text);
/* What of them holds, one sentence each (a condition whose figure is not known counts as holding). */
json_t *nx_conditions_held(const json_t *report, const char *text);

/* The report for people, at most 100 columns wide unless a name is longer. */
void nx_report_text(const json_t *report, struct nx_text *out);
void nx_report_markdown(const json_t *report, struct nx_text *out);
void nx_comparison_text(const json_t *comparison, struct nx_text *out);
void nx_comparison_markdown(const json_t *comparison, struct nx_text *out);

#endif
