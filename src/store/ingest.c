/*
 * How a profile appears (docs/store.md).
 *
 * The sibling is made, locked, filled, synced and exchanged with what has the
 * name now.  A lock on a folder that a killed writer left is free: sweeping
 * takes it and removes the folder.  A writer that has made its folder and not
 * locked it yet could lose it to a sweep; it notices, and makes another.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/store.h"
#include "store/tree.h"

#define ATTEMPTS 100

static bool same_folder(int fd, int parent, const char *name)
{
    struct stat open_one, named;

    return fstat(fd, &open_one) == 0 && fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* Locks the folder; -1 if somebody else has it, or it is not a folder. */
static int lock_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 || !same_folder(fd, parent, name))) {
        close(fd);
        return -1;
    }
    return fd;
}

void nx_store_sweep(struct nx_store *store)
{
    int copy = store->profiles_fd < 0 ? -1 : openat(store->profiles_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;

    if (!dir) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while ((entry = readdir(dir))) {
        int fd;

        if (entry->d_name[0] != '.' || !strstr(entry->d_name, NX_TEMP_MARK))
            continue;
        fd = lock_folder(store->profiles_fd, entry->d_name);
        if (fd < 0)
            continue; /* its writer lives */
        nx_tree_remove(store->profiles_fd, entry->d_name);
        close(fd);
    }
    closedir(dir);
}

static bool make_sibling(struct nx_ingest *ingest)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t random;

        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return false;
        snprintf(ingest->temp, sizeof(ingest->temp), ".%s" NX_TEMP_MARK "%016" PRIx64, ingest->name, random);
        if (mkdirat(ingest->store->profiles_fd, ingest->temp, 0755) != 0) {
            if (errno != EEXIST)
                return false;
            continue;
        }
        ingest->dir_fd = lock_folder(ingest->store->profiles_fd, ingest->temp);
        if (ingest->dir_fd >= 0)
            return true; /* else a sweep came between: again */
    }
    errno = EEXIST;
    return false;
}

static char *final_name(const char *name)
{
    char *final;

    return asprintf(&final, "%s" NX_LATEST, name) < 0 ? NULL : final;
}

enum nx_status nx_ingest_begin(struct nx_store *store, const char *name, bool replace, struct nx_ingest *ingest,
                               struct nx_error *error)
{
    enum nx_status status = nx_profile_name_check(name, error);
    char *final;
    struct stat st;
    bool exists;

    *ingest = (struct nx_ingest){.store = store, .dir_fd = -1};
    if (status != NX_OK)
        return status;
    nx_store_sweep(store);
    final = final_name(name);
    exists = final && fstatat(store->profiles_fd, final, &st, AT_SYMLINK_NOFOLLOW) == 0;
    free(final);
    if (exists && !replace)
        return nx_fail(error, NX_FAILED, "a profile named %s exists already: --force replaces it", name);
    ingest->name = nx_strdup(name);
    if (!make_sibling(ingest)) {
        nx_fail(error, NX_UNAVAILABLE, "cannot write to the data path %s: %s", store->path, strerror(errno));
        nx_ingest_abort(ingest);
        return error->status;
    }
    if (asprintf(&ingest->dir_path, "%s/profiles/global/%s", store->path, ingest->temp) < 0)
        ingest->dir_path = nx_strdup("");
    return NX_OK;
}

static void release(struct nx_ingest *ingest)
{
    if (ingest->dir_fd >= 0)
        close(ingest->dir_fd);
    free(ingest->name);
    free(ingest->dir_path);
    *ingest = (struct nx_ingest){.dir_fd = -1};
}

/*
 * Puts the sibling in place.  A name that is free is taken; one that exists is exchanged, and what it was is
 * then in the sibling's place.  Between the two looks another ingestion may publish or remove the name: again.
 */
static bool publish(struct nx_ingest *ingest, const char *final, bool *exchanged)
{
    int dir = ingest->store->profiles_fd;

    for (int i = 0; i < ATTEMPTS; i++) {
        *exchanged = false;
        if (renameat2(dir, ingest->temp, dir, final, RENAME_NOREPLACE) == 0)
            return true;
        if (errno != EEXIST)
            return false;
        *exchanged = true;
        if (renameat2(dir, ingest->temp, dir, final, RENAME_EXCHANGE) == 0)
            return true;
        if (errno != ENOENT)
            return false;
    }
    return false;
}

enum nx_status nx_ingest_commit(struct nx_ingest *ingest, struct nx_error *error)
{
    char *final = final_name(ingest->name);
    bool exchanged = false;
    int dir = ingest->store->profiles_fd;

    if (!final || !nx_tree_sync(ingest->dir_fd) || !publish(ingest, final, &exchanged)) {
        int why = errno;

        if (why == EINVAL || why == ENOSYS)
            nx_fail(error, NX_UNAVAILABLE,
                    "the file system of the data path %s cannot exchange folders atomically (renameat2: %s): use a "
                    "local one",
                    ingest->store->path, strerror(why));
        else
            nx_fail(error, why == ENOSPC || why == EROFS || why == EACCES ? NX_UNAVAILABLE : NX_FAILED,
                    "cannot put the profile %s in place: %s", ingest->name, strerror(why));
        free(final);
        nx_ingest_abort(ingest);
        return error->status;
    }
    fsync(dir);
    free(final);
    if (exchanged)
        nx_tree_remove(dir, ingest->temp); /* what is left of it, a later sweep takes */
    release(ingest);
    return NX_OK;
}

void nx_ingest_abort(struct nx_ingest *ingest)
{
    if (ingest->dir_fd >= 0)
        nx_tree_remove(ingest->store->profiles_fd, ingest->temp);
    release(ingest);
}
