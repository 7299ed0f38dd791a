#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

char *nx_store_default_path(void)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    char *path = NULL;

    /* the XDG specification: a path that is not absolute counts as unset */
    if (data && data[0] == '/') {
        if (asprintf(&path, "%s/neuron-profile", data) < 0)
            path = NULL;
    } else if (home && home[0]) {
        if (asprintf(&path, "%s/.local/share/neuron-profile", home) < 0)
            path = NULL;
    }
    return path;
}

/* mkdir -p; an existing folder is fine. */
static bool make_folders(const char *path)
{
    char *copy = nx_strdup(path);
    bool ok = true;

    for (char *p = copy + 1; ok && *p; p++)
        if (*p == '/') {
            *p = '\0';
            ok = mkdir(copy, 0755) == 0 || errno == EEXIST;
            *p = '/';
        }
    ok = ok && (mkdir(copy, 0755) == 0 || errno == EEXIST);
    free(copy);
    return ok;
}

enum nx_status nx_store_open(const char *path, bool create, struct nx_store *store, struct nx_error *error)
{
    char *profiles = NULL;

    *store = (struct nx_store){.profiles_fd = -1};
    if (!path[0])
        return nx_fail(error, NX_UNAVAILABLE, "the data path is empty");
    if (asprintf(&profiles, "%s/profiles/global", path) < 0)
        return nx_fail(error, NX_FAILED, "out of memory");
    if (create && !make_folders(profiles)) {
        nx_fail(error, NX_UNAVAILABLE, "cannot create the data path %s: %s", path, strerror(errno));
        free(profiles);
        return error->status;
    }
    store->profiles_fd = open(profiles, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(profiles);
    if (store->profiles_fd < 0 && (create || errno != ENOENT))
        return nx_fail(error, NX_UNAVAILABLE, "cannot use the data path %s: %s", path, strerror(errno));
    store->path = nx_strdup(path);
    return NX_OK;
}

void nx_store_close(struct nx_store *store)
{
    if (store->profiles_fd >= 0)
        close(store->profiles_fd);
    free(store->path);
    *store = (struct nx_store){.profiles_fd = -1};
}
