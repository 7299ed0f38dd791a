/*
 * ingest.h - from two files to a stored profile: the whole line, once.
 */
#ifndef NX_CLI_INGEST_H
#define NX_CLI_INGEST_H

#include "base/error.h"
#include "store/store.h"
#include "tables/table.h"

/* A NEFF and its trace, read and correlated; owns all of it. */
struct nx_loaded {
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace;
    struct nx_warnings warnings; /* of all stages together */
    struct nx_profile profile;   /* points into the above */
};

/* progress: called while records are read; may be NULL. */
enum nx_status nx_load(const char *neff_path, const char *ntff_path, const char *name, nx_progress *progress,
                       void *context, struct nx_loaded *loaded, struct nx_error *error);
void nx_loaded_free(struct nx_loaded *loaded); /* safe on a zeroed struct */

/* Writes all tables of a loaded profile and publishes it. */
enum nx_status nx_store_profile(struct nx_store *store, const struct nx_loaded *loaded, bool replace,
                                nx_progress *progress, void *context, struct nx_error *error);

#endif
