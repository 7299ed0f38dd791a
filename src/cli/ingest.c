#include "cli/ingest.h"

#include "base/jobs.h"
#include "store/parquet.h"

static void collect(struct nx_warnings *all, const struct nx_warnings *some)
{
    for (size_t i = 0; i < some->count; i++)
        nx_warn(all, some->list[i].category, "%s", some->list[i].message);
}

enum nx_status nx_load(const char *neff_path, const char *ntff_path, const char *name, nx_progress *progress,
                       void *context, struct nx_loaded *loaded, struct nx_error *error)
{
    enum nx_status status;

    *loaded = (struct nx_loaded){0};
    status = nx_neff_open(neff_path, &loaded->neff, error);
    if (status == NX_OK)
        status = nx_ntff_open(ntff_path, &loaded->ntff, error);
    if (status == NX_OK)
        status = nx_trace_build(&loaded->neff, &loaded->ntff, progress, context, &loaded->trace, error);
    if (status != NX_OK) {
        nx_loaded_free(loaded);
        return status;
    }
    collect(&loaded->warnings, &loaded->neff.warnings);
    collect(&loaded->warnings, &loaded->ntff.warnings);
    collect(&loaded->warnings, &loaded->trace.warnings);
    loaded->profile = (struct nx_profile){.name = name,
                                          .explorer_version = NX_VERSION,
                                          .neff = &loaded->neff,
                                          .ntff = &loaded->ntff,
                                          .trace = &loaded->trace,
                                          .warnings = &loaded->warnings};
    return NX_OK;
}

void nx_loaded_free(struct nx_loaded *loaded)
{
    nx_warnings_free(&loaded->warnings);
    nx_trace_free(&loaded->trace);
    nx_ntff_close(&loaded->ntff);
    nx_neff_close(&loaded->neff);
    *loaded = (struct nx_loaded){0};
}

enum nx_status nx_store_profile(struct nx_store *store, const struct nx_loaded *loaded, bool replace,
                                nx_progress *progress, void *context, struct nx_error *error)
{
    struct nx_ingest ingest;
    enum nx_status status = nx_ingest_begin(store, loaded->profile.name, replace, &ingest, error);

    if (status != NX_OK)
        return status;
    status = nx_parquet_write(ingest.dir_path, nx_tables, &loaded->profile, nx_jobs_threads(), progress, context,
                              error);
    if (status != NX_OK) {
        nx_ingest_abort(&ingest);
        return status;
    }
    return nx_ingest_commit(&ingest, error);
}
