/*
 * The NEFF's archive, streamed once.
 *
 * zlib inflates and libarchive walks the tar.  zlib does it, because it
 * checks the CRC at the end of the gzip member; libarchive alone was seen to
 * deliver changed bytes without a word.  Nothing is ever written to disk, so
 * a member's name is only a key; names that would climb out are refused all
 * the same, since no compiler writes them.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "neff/reader.h"

#define CHUNK ((size_t)256 * 1024)
#define PIECE ((size_t)1 << 30)

struct stream {
    struct nx_bytes packed;
    size_t at;          /* next packed byte that zlib (or the plain tar's reader) has not been given */
    bool is_gzip, done; /* done: zlib saw the end of the member, and its CRC was right */
    z_stream zip;
    uint64_t unpacked, max_unpacked;
    const char *problem; /* static text */
    unsigned char buffer[CHUNK];
};

/* zlib counts in 32 bits: hands it the packed bytes in pieces. */
static void feed(struct stream *s)
{
    if (s->zip.avail_in)
        return;
    s->zip.next_in = (Bytef *)(uintptr_t)(s->packed.data + s->at);
    s->zip.avail_in = (uInt)(s->packed.size - s->at < PIECE ? s->packed.size - s->at : PIECE);
    s->at += s->zip.avail_in;
}

/* All packed bytes went in, and there was room for more unpacked ones: the rest is missing. */
static bool is_exhausted(const struct stream *s)
{
    return !s->zip.avail_in && s->at == s->packed.size && s->zip.avail_out;
}

static const char *why_damaged(const char *zlib_says)
{
    if (zlib_says && strcmp(zlib_says, "incorrect data check") == 0)
        return "the checksum of the gzip data is wrong: the file was changed or damaged";
    return zlib_says ? zlib_says : "the gzip data are damaged";
}

/* Inflates until the buffer is full, the gzip member ends, or `problem` is set. */
static void fill_buffer(struct stream *s)
{
    s->zip.next_out = s->buffer;
    s->zip.avail_out = CHUNK;
    while (s->zip.avail_out && !s->done && !s->problem) {
        int result;

        feed(s);
        result = inflate(&s->zip, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            s->done = true;
        else if (result == Z_BUF_ERROR || (result == Z_OK && is_exhausted(s)))
            s->problem = "the gzip data end too early: the file is cut short";
        else if (result != Z_OK)
            s->problem = why_damaged(s->zip.msg);
    }
    s->unpacked += CHUNK - s->zip.avail_out;
    if (s->unpacked > s->max_unpacked)
        s->problem = "it unpacks to more bytes than a NEFF may have";
}

/* Up to CHUNK more bytes of the tar; 0 at the end; -1 behind the last bytes that could be had, `problem` says
 * why. */
static la_ssize_t next_chunk(struct stream *s, const void **data)
{
    if (!s->is_gzip) {
        size_t size = s->packed.size - s->at < CHUNK ? s->packed.size - s->at : CHUNK;

        *data = s->packed.data + s->at;
        s->at += size;
        s->unpacked += size;
        return (la_ssize_t)size;
    }
    *data = s->buffer;
    if (!s->done && !s->problem) {
        fill_buffer(s);
        if (s->zip.avail_out < CHUNK)
            return (la_ssize_t)(CHUNK - s->zip.avail_out);
    }
    return s->problem ? -1 : 0;
}

static la_ssize_t read_callback(struct archive *archive, void *opaque, const void **data)
{
    struct stream *s = opaque;
    la_ssize_t size = next_chunk(s, data);

    if (size < 0)
        archive_set_error(archive, EILSEQ, "%s", s->problem);
    return size;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);

    return size >= tail && strcmp(text + size - tail, end) == 0;
}

/*
 * Which members to keep has to be told by their names: def.json says which files matter, but stands behind
 * them. Constants and activation tables are the bulk of a NEFF, and nothing here needs them.
 */
static bool is_needed(const char *name)
{
    static const char *const bulk[] = {"_bkt.bin", "_ctrl.bin", "_table.bin", "act_info.json"};

    for (size_t i = 0; i < sizeof(bulk) / sizeof(bulk[0]); i++)
        if (ends_with(name, bulk[i]))
            return false;
    return ends_with(name, ".json") || ends_with(name, ".bin") || strstr(name, ".dbg") != NULL;
}

/* A relative path without "..", control characters or an empty name. */
static bool is_safe_name(const char *name)
{
    if (name[0] == '\0' || name[0] == '/')
        return false;
    for (const char *p = name; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return false;
    for (const char *p = name; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            return false;
    return true;
}

static enum nx_status damaged(struct nx_neff_reader *r, const struct stream *s, const char *why)
{
    uint64_t at = s->is_gzip ? s->zip.total_in : s->at;

    return nx_fail_at(r->error, r->path, r->neff->header.header_size + at, "archive: %s", why);
}

static enum nx_status keep(struct nx_neff_reader *r, struct stream *s, struct archive *archive,
                           const char *name, uint64_t size, uint64_t *total)
{
    unsigned char *bytes;
    uint64_t filled = 0;

    if (size > NX_NEFF_MAX_KEPT - *total)
        return damaged(r, s, "its members are too large to hold (more than 2 GiB)");
    *total += size;
    bytes = nx_alloc(size);
    while (filled < size) {
        la_ssize_t got = archive_read_data(archive, bytes + filled, size - filled);

        if (got <= 0) {
            free(bytes);
            return got == 0 ? damaged(r, s, "a member is shorter than its header says")
                            : damaged(r, s, s->problem ? s->problem : archive_error_string(archive));
        }
        filled += (uint64_t)got;
    }
    r->kept = nx_grow(r->kept, r->kept_count, &r->kept_capacity, sizeof(*r->kept));
    r->kept[r->kept_count++] = (struct nx_kept_member){name, {bytes, size}};
    return NX_OK;
}

/* Whether the rest of the archive can hold a member of that size (a sparse one can claim any). */
static bool is_possible(const struct stream *s, uint64_t size)
{
    uint64_t left = s->packed.size - (s->is_gzip ? s->zip.total_in : s->at);

    /* what was read ahead: the last chunk, and what libarchive may have copied of the one before */
    return size <= (s->is_gzip ? left * NX_NEFF_MAX_RATIO : left) + 2 * CHUNK;
}

static const char *name_of(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);

    return name ? name : archive_entry_pathname_utf8(entry); /* not to be had in the locale's encoding */
}

static enum nx_status read_member(struct nx_neff_reader *r, struct stream *s, struct archive *archive,
                                  struct archive_entry *entry, size_t *capacity, uint64_t *total)
{
    struct nx_neff *neff = r->neff;
    const char *path = name_of(entry), *name;
    int64_t size = archive_entry_size(entry);

    if (!path)
        return damaged(r, s, "a member has no name");
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    if (archive_entry_hardlink(entry) || archive_entry_symlink(entry))
        return damaged(r, s, "it holds a link: no NEFF does");
    if (archive_entry_filetype(entry) == AE_IFDIR || path[0] == '\0')
        return NX_OK;
    if (archive_entry_filetype(entry) != AE_IFREG)
        return damaged(r, s, "it holds a member that is neither a file nor a folder");
    if (!is_safe_name(path))
        return damaged(r, s,
                       "a member's name is absolute, climbs out of the archive, or holds control characters");
    if (strlen(path) > NX_NEFF_MAX_NAME)
        return damaged(r, s, "a member's name is longer than 4,096 bytes");
    if (size < 0 || (uint64_t)size > NX_NEFF_MAX_MEMBER)
        return damaged(r, s, "a member is larger than 4 GiB");
    if (!is_possible(s, (uint64_t)size))
        return damaged(r, s, "a member claims to be larger than what is left of the archive can hold");

    name = nx_arena_text(&neff->arena, path, strlen(path));
    neff->members = nx_grow(neff->members, neff->member_count, capacity, sizeof(*neff->members));
    neff->members[neff->member_count++] =
        (struct nx_neff_member){name, (uint64_t)size, (uint64_t)archive_read_header_position(archive)};
    return is_needed(name) ? keep(r, s, archive, name, (uint64_t)size, total) : NX_OK;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct nx_kept_member *)left)->name, ((const struct nx_kept_member *)right)->name);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Of two members with one name, nobody can tell which is meant. */
static enum nx_status refuse_duplicates(struct nx_neff_reader *r)
{
    const struct nx_neff *neff = r->neff;
    const char **names = nx_zalloc(neff->member_count, sizeof(*names));
    enum nx_status status = NX_OK;

    for (size_t i = 0; i < neff->member_count; i++)
        names[i] = neff->members[i].name;
    qsort(names, neff->member_count, sizeof(*names), by_text);
    for (size_t i = 1; i < neff->member_count && status == NX_OK; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status = nx_fail_at(r->error, r->path, neff->header.header_size,
                                "archive: two members are named %s", names[i]);
    free(names);
    return status;
}

/* The next entry: NX_OK with *entry NULL at the end of the tar. */
static enum nx_status next_entry(struct nx_neff_reader *r, struct stream *s, struct archive *archive,
                                 struct archive_entry **entry)
{
    int result = archive_read_next_header(archive, entry);

    if (result == ARCHIVE_EOF) {
        *entry = NULL;
        return NX_OK;
    }
    if (result != ARCHIVE_OK && (result != ARCHIVE_WARN || !name_of(*entry)))
        return damaged(r, s, s->problem ? s->problem : archive_error_string(archive));
    if (result == ARCHIVE_WARN)
        nx_warn(&r->neff->warnings, NX_WARN_INCONSISTENT, "archive: %s", archive_error_string(archive));
    return NX_OK;
}

static enum nx_status walk(struct nx_neff_reader *r, struct stream *s, struct archive *archive)
{
    struct archive_entry *entry;
    size_t capacity = 0, entries = 0;
    uint64_t total = 0;
    const void *rest;
    la_ssize_t size;
    enum nx_status status;

    if (archive_read_open(archive, s, NULL, read_callback, NULL) != ARCHIVE_OK)
        return damaged(r, s, s->problem ? s->problem : archive_error_string(archive));
    while ((status = next_entry(r, s, archive, &entry)) == NX_OK && entry) {
        if (entries++ == NX_NEFF_MAX_MEMBERS) /* folders count: they are free to write */
            return damaged(r, s, "it has more than 100,000 members");
        status = read_member(r, s, archive, entry, &capacity, &total);
        if (status != NX_OK)
            return status;
    }
    if (status != NX_OK)
        return status;
    while ((size = next_chunk(s, &rest)) > 0)
        ; /* to the end: only there does zlib compare the CRC */
    if (size < 0)
        return damaged(r, s, s->problem);
    if (r->neff->member_count == 0)
        return damaged(r, s, "it has no members: not a NEFF");
    return refuse_duplicates(r);
}

enum nx_status nx_neff_read_archive(struct nx_neff_reader *r, struct nx_bytes file)
{
    struct stream *s = nx_zalloc(1, sizeof(*s));
    struct archive *archive = archive_read_new();
    enum nx_status status;

    /* a file that is cut short (nx_neff_open_partly) has less than its header says */
    if (!nx_bytes_slice(file, r->neff->header.header_size, r->neff->header.data_size, &s->packed))
        nx_bytes_slice(file, r->neff->header.header_size, file.size - r->neff->header.header_size,
                       &s->packed);
    s->is_gzip = s->packed.size >= 2 && s->packed.data[0] == 0x1f && s->packed.data[1] == 0x8b;
    if (!archive || inflateInit2(&s->zip, 15 + 16) != Z_OK) { /* 15 + 16: gzip, largest window */
        archive_read_free(archive);
        free(s);
        return nx_fail(r->error, NX_FAILED, "cannot start zlib or libarchive");
    }
    s->max_unpacked = r->max_unpacked;
    archive_read_support_format_tar(archive);
    status = walk(r, s, archive);
    if (r->kept_count)
        qsort(r->kept, r->kept_count, sizeof(*r->kept), by_name);
    archive_read_free(archive);
    inflateEnd(&s->zip);
    free(s);
    return status;
}

void nx_neff_drop_archive(struct nx_neff_reader *r)
{
    for (size_t i = 0; i < r->kept_count; i++)
        free((void *)(uintptr_t)r->kept[i].bytes.data);
    free(r->kept);
    free(r->levels);
    r->kept = NULL;
    r->levels = NULL;
    r->kept_count = r->kept_capacity = r->level_count = 0;
}

enum nx_status nx_neff_work(struct nx_neff_reader *r, const char *member, uint64_t bytes)
{
    if (bytes > r->max_work - r->work)
        return nx_neff_member_fail(r, member,
                                   "the NEFF's members ask for too much memory, or for each other too often");
    r->work += bytes;
    return NX_OK;
}

static const struct nx_kept_member *find_member(const struct nx_neff_reader *r, const char *name)
{
    struct nx_kept_member key = {.name = name};

    return r->kept_count ? bsearch(&key, r->kept, r->kept_count, sizeof(*r->kept), by_name) : NULL;
}

bool nx_neff_has_member(const struct nx_neff_reader *r, const char *name)
{
    return find_member(r, name) != NULL;
}

enum nx_status nx_neff_member(struct nx_neff_reader *r, const char *name, struct nx_bytes *bytes, bool *found)
{
    const struct nx_kept_member *member = find_member(r, name);

    *bytes = member ? member->bytes : (struct nx_bytes){0};
    *found = member != NULL;
    return member ? nx_neff_work(r, name, bytes->size) : NX_OK;
}

enum nx_status nx_neff_need_member(struct nx_neff_reader *r, const char *name, struct nx_bytes *bytes)
{
    bool found;
    enum nx_status status = nx_neff_member(r, name, bytes, &found);

    if (status != NX_OK || found)
        return status;
    return nx_neff_member_fail(r, name, "the archive does not have it");
}
