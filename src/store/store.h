/*
 * store.h - the data path: which profiles there are, and how one appears.
 *
 *     DATA/profiles/global/NAME@latest/TABLE.parquet
 *
 * A profile appears whole or not at all.  An ingestion writes into a hidden
 * sibling (".NAME@latest.tmp-XXXXXX"), syncs it, and puts it in place by one
 * rename (an exchange, when the name exists: the old one is then removed).
 * The sibling is locked (flock) while its writer lives, so a later run can
 * tell litter of a killed writer from work under way, and removes the litter.
 *
 * Readers hold directory or file descriptors, never paths (nx_profile_open):
 * a profile that is replaced stays readable for whoever has it open.
 */
#ifndef NX_STORE_STORE_H
#define NX_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define NX_PROFILE_NAME_MAX 128 /* bytes */

/*
 * A usable profile name: 1..128 bytes of UTF-8 without '/', '\\', control characters, a leading '.', or
 * ".."; NX_USAGE says which rule is broken.
 */
enum nx_status nx_profile_name_check(const char *name, struct nx_error *error);

/* $XDG_DATA_HOME/neuron-profile, else ~/.local/share/neuron-profile; caller frees. NULL: neither is set. */
char *nx_store_default_path(void);

struct nx_store {
    char *path;      /* DATA as given */
    int profiles_fd; /* DATA/profiles/global; -1 when it does not exist (and `create` was false) */
};

/* NX_UNAVAILABLE when it cannot be used. With `create`, makes the folders; without, a missing one is an empty
 * store. */
enum nx_status nx_store_open(const char *path, bool create, struct nx_store *store, struct nx_error *error);
void nx_store_close(struct nx_store *store);

/* -------------------------------------------------------------- writing */
struct nx_ingest {
    struct nx_store *store;
    char *name;
    char temp[NX_PROFILE_NAME_MAX + 64]; /* name of the sibling below profiles_fd */
    int dir_fd;                          /* of the sibling; tables are written here */
    char *dir_path;                      /* its absolute path, for the database's COPY */
};

/*
 * Removes litter, checks the name (and that it is free, unless `replace`: NX_FAILED), makes the locked
 * sibling. The name is not reserved: of two ingestions under way the one that commits last has it.
 */
enum nx_status nx_ingest_begin(struct nx_store *store, const char *name, bool replace,
                               struct nx_ingest *ingest, struct nx_error *error);
/* Syncs and publishes. On failure the sibling is removed and the old profile is as it was. */
enum nx_status nx_ingest_commit(struct nx_ingest *ingest, struct nx_error *error);
void nx_ingest_abort(struct nx_ingest *ingest); /* removes the sibling; safe after commit */
/* Removes siblings whose writer is gone; called by nx_ingest_begin and when a server starts. */
void nx_store_sweep(struct nx_store *store);

/* -------------------------------------------------------------- reading */
struct nx_profile_entry {
    char *name;
    int64_t modified; /* unix seconds */
    uint64_t tables, bytes;
};
/* Whatever has no valid name or is no folder is not listed. Sorted by name; caller frees with
 * nx_profile_list_free. */
enum nx_status nx_store_list(const struct nx_store *store, struct nx_profile_entry **list, size_t *count,
                             struct nx_error *error);
void nx_profile_list_free(struct nx_profile_entry *list, size_t count);

/* Which directory a name means now: differs after the profile was replaced. */
struct nx_generation {
    dev_t device;
    ino_t inode;
    int64_t changed_ns; /* ctime of the directory */
};

struct nx_stored_table {
    char *name; /* "Instruction" */
    char *file; /* "Instruction.parquet" (of several parts: the first) */
    int *fds;   /* its parts, open for reading, O_CLOEXEC */
    size_t part_count;
    uint64_t bytes;
};
struct nx_stored_profile {
    char *name;
    struct nx_generation generation;
    int dir_fd;
    struct nx_stored_table *tables; /* sorted by name */
    size_t table_count;
};
/*
 * Opens every file of one generation of the profile.  NX_FAILED with found = false when there is no such
 * profile; with found = true when there is and it cannot be opened (the error says why).
 */
enum nx_status nx_profile_open(const struct nx_store *store, const char *name,
                               struct nx_stored_profile *profile, bool *found, struct nx_error *error);
void nx_profile_close(struct nx_stored_profile *profile);
/* Generation only; false if there is no such profile. */
bool nx_profile_generation(const struct nx_store *store, const char *name, struct nx_generation *out);
bool nx_generation_equal(struct nx_generation a, struct nx_generation b);

#endif
