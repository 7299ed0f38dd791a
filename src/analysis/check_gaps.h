/*
 * check_gaps.h - what a sentence of the table Warning means for `check`.
 * Private to this folder.
 */
#ifndef NX_ANALYSIS_CHECK_GAPS_H
#define NX_ANALYSIS_CHECK_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/check.h"

/* Parts of a profile, in the order in which they are told. */
enum nx_topic { NX_TOPIC_PAIR, NX_TOPIC_TRACE, NX_TOPIC_DMA, NX_TOPIC_SOURCE, NX_TOPIC_FIGURES, NX_TOPIC_TABLES, NX_TOPIC_OTHER };
#define NX_TOPIC_COUNT 7

/* What helps next time; each is told once. */
enum nx_remedy {
    NX_REMEDY_DGE,        /* capture with DGE notifications */
    NX_REMEDY_BUFFERS,    /* capture with larger trace buffers */
    NX_REMEDY_AGAIN,      /* capture once more, one execution */
    NX_REMEDY_PAIR,       /* take the NEFF that ran */
    NX_REMEDY_DEBUG_INFO, /* compile with debug information */
    NX_REMEDY_COMPILER,   /* compile with a current compiler */
    NX_REMEDY_READER,     /* nothing to set: this reader does not know it */
    NX_REMEDY_NONE,
};
#define NX_REMEDY_COUNT 7

struct nx_gap {
    const char *format; /* of base/gaps.h */
    const char *id;     /* stable word of the JSON document */
    enum nx_topic topic;
    enum nx_check_status status;
    enum nx_remedy remedy;
};

extern const struct nx_gap nx_gaps[];
extern const size_t nx_gap_count;
/* Whether the gap's sentence has a number, which then is its count. */
bool nx_gap_counts(const struct nx_gap *gap);

/* The gap that the sentence tells of, or NULL: not one of base/gaps.h. *value: its first number, if it has one. */
const struct nx_gap *nx_gap_find(const char *sentence, bool *has_value, uint64_t *value);

struct nx_advice {
    const char *when;   /* "capture", "compile", "read" */
    const char *set[5]; /* environment variables with their values, NULL at the end */
    const char *text;
};
extern const struct nx_advice nx_advices[NX_REMEDY_COUNT];

#endif
