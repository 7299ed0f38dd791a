/* draw.h - figures as people read them. Private to this folder. */
#ifndef NX_ANALYSIS_DRAW_H
#define NX_ANALYSIS_DRAW_H

#include <jansson.h>
#include <stddef.h>

#include "base/text.h"

#define NX_TEXT_WIDTH 100 /* columns of a report on a terminal */

/*
 * Units of figures, as they stand in a report: "ns", "bytes", "bytes/s", "flops", "flops/s", "share" (a
 * fraction of 1, shown in percent), "factor" (shown as 1.50x), "count", "text".
 */
/* Appends a value in its unit: 12.35 us, 1.21 GB, 63.5 TFLOP/s, 38.4 %, 12.0x; "-" for null. */
void nx_draw_value(struct nx_text *out, const json_t *value, const char *unit);
/* As above, of a number. */
void nx_draw_number(struct nx_text *out, double value, const char *unit);
/*
 * Appends `text` broken at blanks into lines of `width`, each after `indent` blanks; no newline at the end.
 * Blanks inside a line stay as they are; a word that is longer than a line is broken as well.
 */
void nx_draw_wrapped(struct nx_text *out, const char *text, size_t indent, size_t width);
/* The last `width` columns of a text, "..." in front if something was cut off: names differ at their ends. */
void nx_draw_tail(struct nx_text *out, const char *text, size_t width);
/* A text as a cell of a markdown table. */
void nx_draw_markdown(struct nx_text *out, const char *text);
/* Columns of a terminal that a UTF-8 text takes, one a character. */
size_t nx_draw_width(const char *text);
/* render_findings.c: the report's "findings". */
void nx_draw_findings(struct nx_text *out, const json_t *findings);

#endif
