/*
 * generate_package.h - the NEFF's archive while it is written. Private to the generator.
 *
 *   generate_neff.c   header, definitions, code, DMA blocks
 *   generate_debug.c  debug information
 */
#ifndef NX_TOOLS_GENERATE_PACKAGE_H
#define NX_TOOLS_GENERATE_PACKAGE_H

#include <archive.h>

#include "generate_plan.h"

struct gen_package {
    const struct gen_plan *plan;
    struct archive *archive;
    struct nx_text payload; /* compressed */
    bool failed;
};

/* Name of an engine in member names. */
extern const char *const gen_member_of[];

/* Adds a member with that content, and empties the text. */
void gen_member(struct gen_package *package, struct nx_text *content, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "bfloat16" */
const char *gen_dtype_word(const struct gen_plan *plan);

/* Files of a core: assembly and backend. */
void gen_debug_core(struct gen_package *package, const struct gen_core *core);
/* Files of the levels above, and the kernel's own. */
void gen_debug_levels(struct gen_package *package);

#endif
