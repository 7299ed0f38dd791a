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
#include "base/text.h"
#include "store/store.h"
#include "store/tree.h"

#define ATTEMPTS 100

static bool same_folder(int fd, int parent, const char *name)
{
    struct stat open_one, named;

    return fstat(fd, &open_one) == 0 && fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/*
 * Locks the folder; -1 and errno if that cannot be: EWOULDBLOCK, somebody else has it; ENOENT, it is gone, or
 * the name stands for another folder by now.
 */
static int lock_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), why = 0;

    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        why = errno;
    else if (!same_folder(fd, parent, name))
        why = ENOENT;
    if (why == 0)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

void nx_store_sweep(struct nx_store *store)
{
    int copy =
        store->profiles_fd < 0 ? -1 : openat(store->profiles_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
            continue; /* its writer lives, or it is no folder of ours */
        nx_tree_remove(store->profiles_fd, entry->d_name);
        close(fd);
    }
    closedir(dir);
}

/* False: errno says why. */
static bool make_sibling(struct nx_ingest *ingest)
{
    int parent = ingest->store->profiles_fd;

    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t random;

        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return false;
        snprintf(ingest->temp, sizeof(ingest->temp), ".%s" NX_TEMP_MARK "%016" PRIx64, ingest->name, random);
        if (mkdirat(parent, ingest->temp, 0755) != 0) {
            if (errno != EEXIST)
                return false;
            continue;
        }
        ingest->dir_fd = lock_folder(parent, ingest->temp);
        if (ingest->dir_fd >= 0)
            return true;
        if (errno != EWOULDBLOCK && errno != ENOENT) {
            int why = errno;

            unlinkat(parent, ingest->temp, AT_REMOVEDIR);
            errno = why;
            return false;
        }
        /* a sweep came between mkdirat and flock, and removes the folder: again */
    }
    errno = EEXIST;
    return false;
}

static bool out_of_reach(int why)
{
    return why == ENOSPC || why == EDQUOT || why == EROFS || why == EACCES || why == EPERM || why == EIO;
}

/* The sibling could not be made or locked. */
static enum nx_status explain_begin(const struct nx_store *store, int why, struct nx_error *error)
{
    /* what network file systems answer to flock() of a folder */
    if (why == EBADF || why == ENOLCK || why == ENOSYS || why == EOPNOTSUPP || why == EINVAL)
        return nx_fail(error, NX_UNAVAILABLE,
                       "the file system of the data path %s cannot lock folders (flock: %s): use a local one",
                       store->path, strerror(why));
    return nx_fail(error, NX_UNAVAILABLE, "cannot write to the data path %s: %s", store->path, strerror(why));
}

/*
 * The sibling's absolute path.  The database gives a meaning of its own to paths that start with "~" or with
 * "name://", which a relative data path may.
 */
static char *absolute_path(const struct nx_ingest *ingest)
{
    struct nx_text given = {0}, path = {0};
    char *folder;

    nx_text_printf(&given, "%s/profiles/global", ingest->store->path);
    folder = realpath(nx_text_string(&given), NULL);
    nx_text_free(&given);
    if (!folder)
        return NULL;
    /* SQL is UTF-8, a path need not be */
    if (nx_text_is_utf8(folder, strlen(folder)))
        nx_text_printf(&path, "%s/%s", folder, ingest->temp);
    else
        nx_text_printf(&path, "/proc/self/fd/%d", ingest->dir_fd);
    free(folder);
    return path.data;
}

enum nx_status nx_ingest_begin(struct nx_store *store, const char *name, bool replace,
                               struct nx_ingest *ingest, struct nx_error *error)
{
    enum nx_status status = nx_profile_name_check(name, error);
    char final[NX_FOLDER_MAX];
    struct stat st;

    *ingest = (struct nx_ingest){.store = store, .dir_fd = -1};
    if (status != NX_OK)
        return status;
    nx_store_sweep(store);
    nx_profile_folder(name, final);
    if (!replace && fstatat(store->profiles_fd, final, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return nx_fail(error, NX_FAILED, "a profile named %s exists already: --force replaces it", name);
    ingest->name = nx_strdup(name);
    if (!make_sibling(ingest)) {
        explain_begin(store, errno, error);
        nx_ingest_abort(ingest);
        return error->status;
    }
    ingest->dir_path = absolute_path(ingest);
    if (!ingest->dir_path) {
        nx_fail(error, NX_UNAVAILABLE, "cannot find the data path %s: %s", store->path, strerror(errno));
        nx_ingest_abort(ingest);
        return error->status;
    }
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
 * then in the sibling's place.  Between the two looks another ingestion may publish or remove the name:
 * again.
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
    char final[NX_FOLDER_MAX];
    bool exchanged = false;
    int dir = ingest->store->profiles_fd;

    nx_profile_folder(ingest->name, final);
    if (!nx_tree_sync(ingest->dir_fd) || !publish(ingest, final, &exchanged)) {
        int why = errno;

        if (why == EINVAL || why == ENOSYS)
            nx_fail(error, NX_UNAVAILABLE,
                    "the file system of the data path %s cannot exchange folders atomically (renameat2: %s): "
                    "use a "
                    "local one",
                    ingest->store->path, strerror(why));
        else
            nx_fail(error, out_of_reach(why) ? NX_UNAVAILABLE : NX_FAILED,
                    "cannot put the profile %s in place in %s: %s", ingest->name, ingest->store->path,
                    strerror(why));
        nx_ingest_abort(ingest);
        return error->status;
    }
    /* The profile is in place, whole: that a power cut could still bring the old one back is no failure. */
    fsync(dir);
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
