/* Which profiles there are, and their files, by descriptor. */
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

static char *copy_of(const char *text, size_t size)
{
    char *copy = nx_alloc(size + 1);

    memcpy(copy, text, size);
    copy[size] = '\0';
    return copy;
}

/* "NAME@latest" -> NAME (heap); NULL for anything else. What is before the last "@latest" is the name. */
static char *profile_of_folder(const char *folder)
{
    size_t size = strlen(folder), tail = strlen(NX_LATEST);
    struct nx_error ignored;
    char *name;

    if (size <= tail || strcmp(folder + size - tail, NX_LATEST) != 0)
        return NULL;
    name = copy_of(folder, size - tail);
    if (nx_profile_name_check(name, &ignored) == NX_OK)
        return name;
    free(name); /* nobody could open it, and a terminal might obey it */
    return NULL;
}

/* In ASCII, whatever the locale. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "TABLE.parquet" or "TABLE_3.parquet" -> TABLE (heap) and the part's number (-1: not split); else NULL. */
static char *table_of_file(const char *file, long *part)
{
    size_t size = strlen(file), tail = strlen(SUFFIX), stem = 0;

    *part = -1;
    if (size <= tail || strcmp(file + size - tail, SUFFIX) != 0 || !is_letter(file[0]))
        return NULL;
    while (is_letter(file[stem]) || is_digit(file[stem]))
        stem++;
    if (file[stem] == '_' && is_digit(file[stem + 1])) {
        char *end;

        errno = 0;
        *part = strtol(file + stem + 1, &end, 10);
        if (errno || end != file + size - tail)
            return NULL;
    } else if (stem != size - tail) {
        return NULL;
    }
    return copy_of(file, stem);
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

bool nx_profile_generation(const struct nx_store *store, const char *name, struct nx_generation *out)
{
    struct nx_error ignored;
    struct stat st;
    char folder[NX_FOLDER_MAX];

    if (store->profiles_fd < 0 || nx_profile_name_check(name, &ignored) != NX_OK)
        return false;
    nx_profile_folder(name, folder);
    if (fstatat(store->profiles_fd, folder, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
        return false;
    *out = generation_of(&st);
    return true;
}

/* ------------------------------------------------------------------ list */

static int entries_by_name(const void *left, const void *right)
{
    return strcmp(((const struct nx_profile_entry *)left)->name,
                  ((const struct nx_profile_entry *)right)->name);
}

/* False if it is no folder. One that cannot be read is listed without its size. */
static bool measure(int parent, const char *folder, struct nx_profile_entry *entry)
{
    struct dirent *file;
    struct stat st;
    DIR *dir;
    int fd;

    if (fstatat(parent, folder, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
        return false;
    entry->modified = st.st_mtim.tv_sec;
    fd = openat(parent, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    dir = fd < 0 ? NULL : open_folder(fd);
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
    return true;
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
        return nx_fail(error, NX_UNAVAILABLE, "cannot read the data path %s: %s", store->path,
                       strerror(errno));
    while ((file = readdir(dir))) {
        struct nx_profile_entry entry = {.name = profile_of_folder(file->d_name)};

        if (!entry.name || !measure(store->profiles_fd, file->d_name, &entry)) {
            free(entry.name);
            continue;
        }
        *list = nx_grow(*list, *count, &capacity, sizeof(**list));
        (*list)[(*count)++] = entry;
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

static void free_parts(struct part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(parts[i].table);
        free(parts[i].file);
    }
    free(parts);
}

/* False: errno says why. */
static bool list_parts(int dir_fd, struct part **parts, size_t *count)
{
    DIR *dir = open_folder(dir_fd);
    struct dirent *file;
    size_t capacity = 0;

    *parts = NULL;
    *count = 0;
    if (!dir)
        return false;
    while ((file = readdir(dir))) {
        long number;
        char *table = table_of_file(file->d_name, &number);

        if (!table)
            continue;
        *parts = nx_grow(*parts, *count, &capacity, sizeof(**parts));
        (*parts)[(*count)++] = (struct part){table, nx_strdup(file->d_name), number};
    }
    closedir(dir);
    if (*count)
        qsort(*parts, *count, sizeof(**parts), parts_in_order);
    return true;
}

static void keep_part(struct nx_stored_profile *profile, const struct part *part, int fd, uint64_t bytes)
{
    struct nx_stored_table *table = profile->table_count ? &profile->tables[profile->table_count - 1] : NULL;

    if (!table || strcmp(table->name, part->table) != 0) {
        table = &profile->tables[profile->table_count++];
        *table = (struct nx_stored_table){.name = nx_strdup(part->table), .file = nx_strdup(part->file)};
    }
    table->fds = nx_resize(table->fds, table->part_count + 1, sizeof(*table->fds));
    table->fds[table->part_count++] = fd;
    table->bytes += bytes;
}

/* What came of one try to open a profile. */
enum outcome {
    OPENED,
    CHANGED, /* something went away meanwhile: again */
    REFUSED, /* and the error says why */
};

static enum outcome open_part(struct nx_stored_profile *profile, const char *name, const struct part *part,
                              struct nx_error *error)
{
    /* O_NONBLOCK: opening a FIFO must not wait for its writer */
    int fd = openat(profile->dir_fd, part->file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0 && errno == ENOENT)
        return CHANGED;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        keep_part(profile, part, fd, (uint64_t)st.st_size);
        return OPENED;
    }
    if (fd >= 0 || errno == ELOOP)
        nx_fail(error, NX_FAILED, "%s of the profile %s is not a regular file", part->file, name);
    else
        nx_fail(error, NX_FAILED, "cannot open %s of the profile %s: %s", part->file, name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return REFUSED;
}

static enum outcome open_parts(struct nx_stored_profile *profile, const char *name, struct nx_error *error)
{
    enum outcome outcome = OPENED;
    struct part *parts;
    size_t count;

    if (!list_parts(profile->dir_fd, &parts, &count)) {
        if (errno == ENOENT)
            return CHANGED;
        nx_fail(error, NX_FAILED, "cannot read the folder of the profile %s: %s", name, strerror(errno));
        return REFUSED;
    }
    profile->tables = nx_zalloc(count, sizeof(*profile->tables));
    for (size_t i = 0; outcome == OPENED && i < count; i++)
        outcome = open_part(profile, name, &parts[i], error);
    free_parts(parts, count);
    return outcome;
}

/* One try. `*found` is false if the name stands for nothing. */
static enum outcome open_once(const struct nx_store *store, const char *name,
                              struct nx_stored_profile *profile, bool *found, struct nx_error *error)
{
    struct nx_generation now;
    enum outcome outcome;
    char folder[NX_FOLDER_MAX];
    struct stat st;

    nx_profile_folder(name, folder);
    profile->dir_fd = openat(store->profiles_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *found = profile->dir_fd >= 0 || errno != ENOENT;
    if (!*found) {
        nx_fail(error, NX_FAILED, "there is no profile named %s", name);
        return REFUSED;
    }
    if (profile->dir_fd < 0) {
        nx_fail(error, NX_FAILED, "cannot open the profile %s: %s", name,
                errno == ENOTDIR || errno == ELOOP ? "it is not a folder" : strerror(errno));
        return REFUSED;
    }
    if (fstat(profile->dir_fd, &st) != 0)
        return CHANGED;
    profile->generation = generation_of(&st);
    outcome = open_parts(profile, name, error);
    if (outcome != OPENED)
        return outcome;
    /*
     * A folder is emptied after it was replaced, so one that has its name still was whole all the time.  Its
     * time of change counts too: whoever adds a file by hand must not end up with half of what there is now.
     */
    return nx_profile_generation(store, name, &now) && nx_generation_equal(now, profile->generation)
               ? OPENED
               : CHANGED;
}

enum nx_status nx_profile_open(const struct nx_store *store, const char *name,
                               struct nx_stored_profile *profile, bool *found, struct nx_error *error)
{
    *profile = (struct nx_stored_profile){.dir_fd = -1};
    *found = false;
    if (nx_profile_name_check(name, error) != NX_OK)
        return NX_FAILED;
    if (store->profiles_fd < 0)
        return nx_fail(error, NX_FAILED, "there is no profile named %s", name);
    for (int i = 0; i < ATTEMPTS; i++) {
        enum outcome outcome = open_once(store, name, profile, found, error);

        if (outcome == OPENED) {
            profile->name = nx_strdup(name);
            return NX_OK;
        }
        nx_profile_close(profile);
        if (outcome == REFUSED)
            return NX_FAILED;
    }
    return nx_fail(error, NX_FAILED, "the profile %s changes faster than it can be opened", name);
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
