/*
 * check.h - whether a stored profile can be trusted, and what to set at the
 * next capture or compilation.
 *
 * Reads the stored tables by SQL, as any user could; every gap stands in the
 * table Warning as well, by the sentences of base/gaps.h.  The answer is one
 * JSON document (docs/cli.md describes it); nx_check_text() makes the text for
 * people from that document, so both tell the same.
 *
 *     check.c        asks, and puts the document together
 *     check_gaps.c   the sentences of Warning: topic, how bad, what helps
 *     check_text.c   the document as text
 */
#ifndef NX_ANALYSIS_CHECK_H
#define NX_ANALYSIS_CHECK_H

#include "base/text.h"
#include "query/query.h"

/* In this order: the worst of its parts is the whole's. Also the exit status of `check`. */
enum nx_check_status { NX_CHECK_GOOD, NX_CHECK_GAPS, NX_CHECK_BAD };

struct nx_check {
    struct nx_answer answer; /* code OK: the body is the document; else why there is none */
    enum nx_check_status status;
};

/* timeout_ms: of each of its few queries; cancel_fd: as in nx_query. nx_answer_free(&check->answer) when done. */
void nx_check_profile(struct nx_pool *pool, const char *profile, unsigned timeout_ms, int cancel_fd,
                      struct nx_check *check);

#define NX_CHECK_TEXT_WIDTH 100 /* columns */
/* Appends the document as text of lines that fit; colour: with ANSI sequences. */
void nx_check_text(const char *document, size_t size, bool colour, struct nx_text *out);

#endif
