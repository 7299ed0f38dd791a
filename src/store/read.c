/* Which profiles there are, and their files, by descriptor. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/store.h"
#include "store/tree.h"

#define SUFFIX ".parquet"
#define ATTEMPTS 100

/* "NAME@latest" -> NAME (heap); NULL for anything else. */
static char *profile_of_folder(const char *folder)
{
    size_t size = strlen(folder), tail = strlen(NX_LATEST);

    if (folder[0] == '.' || size <= tail || strcmp(folder + size - tail, NX_LATEST) != 0)
        return NULL;
    return strndup(folder, size - tail);
}

/* "TABLE.parquet" or "TABLE_3.parquet" -> TABLE (heap) and the part's number (-1: not split); else NULL. */
static char *table_of_file(const char *file, long *part)
{
    size_t size = strlen(file), tail = strlen(SUFFIX), stem;
    const char *mark;

    *part = -1;
    if (size <= tail || strcmp(file + size - tail, SUFFIX) != 0 || !isalpha((unsigned char)file[0]))
        return NULL;
    stem = size - tail;
    mark = memchr(file, '_', stem);
    if (mark) {
        char *end;

        if (!isdigit((unsigned char)mark[1]))
            return NULL;
        errno = 0;
        *part = strtol(mark + 1, &end, 10);
        if (errno || end != file + stem)
            return NULL;
        stem = (size_t)(mark - file);
    }
    for (size_t i = 0; i < stem; i++)
        if (!isalnum((unsigned char)file[i]))
            return NULL;
    return strndup(file, stem);
}

static DIR *open_folder(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);

    if (!dir && copy >= 0)
        close(copy);
    return dir;
}

static struct nx_generation generation_of(const struct stat *st)
{
    return (struct nx_generation){st->st_dev, st->st_ino,
                                  (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec};
}

bool nx_generation_equal(struct nx_generation a, struct nx_generation b)
{
    return a.device == b.device && a.inode == b.inode && a.changed_ns == b.changed_ns;
}

static char *folder_of(const char *name)
{
    char *folder;

    return asprintf(&folder, "%s" NX_LATEST, name) < 0 ? NULL : folder;
}

bool nx_profile_generation(const struct nx_store *store, const char *name, struct nx_generation *out)
{
    struct nx_error ignored;
    struct stat st;
    char *folder;
    bool ok;

    if (store->profiles_fd < 0 || nx_profile_name_check(name, &ignored) != NX_OK || !(folder = folder_of(name)))
        return false;
    ok = fstatat(store->profiles_fd, folder, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
    free(folder);
    if (ok)
        *out = generation_of(&st);
    return ok;
}

/* ------------------------------------------------------------------ list */

static int entries_by_name(const void *left, const void *right)
{
    return strcmp(((const struct nx_profile_entry *)left)->name, ((const struct nx_profile_entry *)right)->name);
}

static void measure(int parent, const char *folder, struct nx_profile_entry *entry)
{
    int fd = openat(parent, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : open_folder(fd);
    struct dirent *file;
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0)
        entry->modified = st.st_mtim.tv_sec;
    while (dir && (file = readdir(dir))) {
        long part;
        char *table = table_of_file(file->d_name, &part);

        if (table && fstatat(fd, file->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            entry->tables += part <= 0; /* a split table counts by its part 0 */
            entry->bytes += (uint64_t)st.st_size;
        }
        free(table);
    }
    if (dir)
        closedir(dir);
    if (fd >= 0)
        close(fd);
}

enum nx_status nx_store_list(const struct nx_store *store, struct nx_profile_entry **list, size_t *count,
                             struct nx_error *error)
{
    DIR *dir = store->profiles_fd < 0 ? NULL : open_folder(store->profiles_fd);
    struct dirent *file;
    size_t capacity = 0;

    *list = NULL;
    *count = 0;
    if (store->profiles_fd < 0)
        return NX_OK; /* nothing was ever stored here */
    if (!dir)
        return nx_fail(error, NX_UNAVAILABLE, "cannot read the data path %s: %s", store->path, strerror(errno));
    while ((file = readdir(dir))) {
        char *name = profile_of_folder(file->d_name);

        if (!name)
            continue;
        *list = nx_grow(*list, *count, &capacity, sizeof(**list));
        (*list)[*count] = (struct nx_profile_entry){.name = name};
        measure(store->profiles_fd, file->d_name, &(*list)[(*count)++]);
    }
    closedir(dir);
    if (*count)
        qsort(*list, *count, sizeof(**list), entries_by_name);
    return NX_OK;
}

void nx_profile_list_free(struct nx_profile_entry *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i].name);
    free(list);
}

/* ------------------------------------------------------------------ open */

struct part {
    char *table;
    char *file;
    long number;
};

static int parts_in_order(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = strcmp(a->table, b->table);

    return order ? order : (a->number > b->number) - (a->number < b->number);
}

static struct part *list_parts(int dir_fd, size_t *count)
{
    DIR *dir = open_folder(dir_fd);
    struct dirent *file;
    struct part *parts = NULL;
    size_t capacity = 0;

    *count = 0;
    while (dir && (file = readdir(dir))) {
        long number;
        char *table = table_of_file(file->d_name, &number);

        if (!table)
            continue;
        parts = nx_grow(parts, *count, &capacity, sizeof(*parts));
        parts[(*count)++] = (struct part){table, nx_strdup(file->d_name), number};
    }
    if (dir)
        closedir(dir);
    if (*count)
        qsort(parts, *count, sizeof(*parts), parts_in_order);
    return parts;
}

/* Opens one part into the profile; false if the file is gone or is not a regular one. */
static bool open_part(struct nx_stored_profile *profile, const struct part *part)
{
    struct nx_stored_table *table = profile->table_count ? &profile->tables[profile->table_count - 1] : NULL;
    int fd = openat(profile->dir_fd, part->file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (!table || strcmp(table->name, part->table) != 0) {
        table = &profile->tables[profile->table_count++];
        *table = (struct nx_stored_table){.name = nx_strdup(part->table), .file = nx_strdup(part->file)};
    }
    table->fds = nx_resize(table->fds, table->part_count + 1, sizeof(*table->fds));
    table->fds[table->part_count++] = fd;
    table->bytes += (uint64_t)st.st_size;
    return true;
}

/* One try: true if all files that the folder lists could be opened. */
static bool open_all(struct nx_stored_profile *profile)
{
    size_t count;
    struct part *parts = list_parts(profile->dir_fd, &count);
    bool ok = true;

    profile->tables = nx_zalloc(count, sizeof(*profile->tables));
    for (size_t i = 0; i < count; i++) {
        ok = ok && open_part(profile, &parts[i]);
        free(parts[i].table);
        free(parts[i].file);
    }
    free(parts);
    return ok;
}

enum nx_status nx_profile_open(const struct nx_store *store, const char *name, struct nx_stored_profile *profile,
                               bool *found, struct nx_error *error)
{
    char *folder;

    *profile = (struct nx_stored_profile){.dir_fd = -1};
    *found = false;
    if (nx_profile_name_check(name, error) != NX_OK)
        return NX_FAILED;
    folder = folder_of(name);
    /* Replaced while its files are being opened: the old ones are going away, so look again. */
    for (int i = 0; folder && i < ATTEMPTS; i++) {
        struct stat st;

        profile->dir_fd = store->profiles_fd < 0
                              ? -1
                              : openat(store->profiles_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (profile->dir_fd < 0)
            break;
        if (fstat(profile->dir_fd, &st) == 0 && open_all(profile)) {
            struct nx_generation now;

            profile->generation = generation_of(&st);
            if (nx_profile_generation(store, name, &now) && now.inode == profile->generation.inode) {
                profile->generation = now;
                profile->name = nx_strdup(name);
                *found = true;
                free(folder);
                return NX_OK;
            }
        }
        nx_profile_close(profile);
    }
    free(folder);
    nx_profile_close(profile);
    return nx_fail(error, NX_FAILED, "there is no profile named %s", name);
}

void nx_profile_close(struct nx_stored_profile *profile)
{
    for (size_t t = 0; t < profile->table_count; t++) {
        for (size_t p = 0; p < profile->tables[t].part_count; p++)
            close(profile->tables[t].fds[p]);
        free(profile->tables[t].fds);
        free(profile->tables[t].name);
        free(profile->tables[t].file);
    }
    free(profile->tables);
    free(profile->name);
    if (profile->dir_fd >= 0)
        close(profile->dir_fd);
    *profile = (struct nx_stored_profile){.dir_fd = -1};
}
