#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum nx_status nx_file_open(const char *path, struct nx_file *file, struct nx_error *error)
{
    /* O_NONBLOCK: opening a named pipe must not wait for its writer */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    void *map = NULL;

    *file = (struct nx_file){0};
    if (fd < 0)
        return nx_fail(error, NX_BAD_INPUT, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return nx_fail(error, NX_BAD_INPUT, "%s: not a regular file", path);
    }
    if (st.st_size > 0) {
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED) {
            int why = errno;

            close(fd);
            return nx_fail(error, NX_BAD_INPUT, "%s: cannot map %lld bytes: %s", path,
                           (long long)st.st_size, strerror(why));
        }
    }
    close(fd);
    file->path = nx_strdup(path);
    file->bytes = (struct nx_bytes){map, (size_t)st.st_size};
    return NX_OK;
}

void nx_file_close(struct nx_file *file)
{
    if (file->bytes.data)
        munmap((void *)(uintptr_t)file->bytes.data, file->bytes.size);
    free(file->path);
    *file = (struct nx_file){0};
}
