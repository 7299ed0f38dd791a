#include "store/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A profile's folder is flat; deeper ones are somebody else's, and a limit keeps recursion bounded. */
#define MAX_DEPTH 16

static bool is_dot(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A stream over the folder that does not take `fd` with it when it is closed. */
static DIR *open_stream(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);

    if (!dir && copy >= 0)
        close(copy);
    return dir;
}

static bool remove_at(int parent, const char *name, int depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct dirent *entry;
    DIR *dir;
    bool ok = true;

    if (fd < 0)
        return errno == ENOTDIR || errno == ELOOP ? unlinkat(parent, name, 0) == 0 : errno == ENOENT;
    dir = depth < MAX_DEPTH ? open_stream(fd) : NULL;
    while (dir && (entry = readdir(dir)))
        if (!is_dot(entry->d_name) && unlinkat(fd, entry->d_name, 0) != 0)
            ok &= remove_at(fd, entry->d_name, depth + 1);
    if (dir)
        closedir(dir);
    close(fd);
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 && ok;
}

bool nx_tree_remove(int parent, const char *name)
{
    return remove_at(parent, name, 0);
}

/* errno of syncing one file, or 0 */
static int sync_file(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), why = 0;

    if (fd < 0)
        return errno;
    if (fsync(fd) != 0)
        why = errno;
    close(fd);
    return why;
}

bool nx_tree_sync(int fd)
{
    DIR *dir = open_stream(fd);
    struct dirent *entry;
    int why = 0;

    if (!dir)
        return false;
    while (!why) {
        errno = 0;
        entry = readdir(dir);
        if (!entry) {
            why = errno;
            break;
        }
        if (!is_dot(entry->d_name))
            why = sync_file(fd, entry->d_name);
    }
    closedir(dir);
    errno = why;
    return why == 0 && fsync(fd) == 0;
}
