/*
 * investigation.h - one question about one gap.  Private to this folder.
 *
 * To add one: a file with `const struct nx_investigation nx_investigate_NAME`,
 * a line in investigations.c, its statements in sql/, its section in
 * docs/analysis.md, and a kernel that exhibits it and one that does not in
 * tests/client/findings.py.
 *
 * run() asks its statements, says what it found by the functions below, and
 * leaves the outcome and the cost in the case.  It states what was measured,
 * and no cause that the data does not show.
 */
#ifndef NX_ANALYSIS_INVESTIGATION_H
#define NX_ANALYSIS_INVESTIGATION_H

#include "analysis/bounds.h"

enum nx_outcome {
    NX_NOTHING, /* looked, and nothing of note is there */
    NX_FOUND,
    NX_NO_DATA, /* the profile does not hold what it needs; `missing` says what and why */
};

struct nx_case {
    struct nx_inquiry *inquiry;
    const struct nx_bounds *bounds;
    const struct nx_scope *scope; /* all cores together */
    enum nx_outcome outcome;
    int unit;         /* enum nx_unit that would be faster without it; -1: none */
    double cost;      /* nanoseconds of that engine's time, or of total time for idleness; NAN: not known */
    json_t *headline; /* one sentence */
    json_t *figures, *tables, *notes, *missing, *statements;
};

struct nx_investigation {
    const char *id;    /* "1b", as in the public method */
    const char *name;  /* "dma_efficiency" */
    const char *title; /* "DMA efficiency" */
    bool is_idleness;  /* the cost is of total time, not of the engine's */
    void (*run)(struct nx_case *);
};
/* In the order of the public method; NULL at the end. */
extern const struct nx_investigation *const nx_investigations[];

struct nx_table_column {
    const char *key, *title, *unit; /* units: draw.h */
};

/* nx_ask(), and the statement is named as evidence. */
const json_t *nx_case_ask(struct nx_case *c, const char *statement);
const json_t *nx_case_ask_about(struct nx_case *c, const char *statement, const char *engine);
/* Names a statement that the bounds asked as evidence. */
void nx_case_statement(struct nx_case *c, const char *key);
void nx_case_headline(struct nx_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nx_case_note(struct nx_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nx_case_missing(struct nx_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nx_case_figure(struct nx_case *c, const char *name, double value, const char *unit);
/* A table of objects; rows beyond NX_TABLE_ROWS are counted in "more". `rows` is taken over. */
void nx_case_table(struct nx_case *c, const char *name, const char *title,
                   const struct nx_table_column *columns, size_t column_count, json_t *rows);
/* Says that the table is not there (or, with rows of another kind only, of no use). */
bool nx_case_needs(struct nx_case *c, const char *table, const char *why);

/* All investigations, the one with the most leverage first: docs/analysis.md, "Findings". */
json_t *nx_investigate(struct nx_inquiry *inquiry, const struct nx_bounds *bounds);

/* A figure as text in its unit, good until the next but seven calls: for headlines. */
const char *nx_shown(double value, const char *unit);

#endif
