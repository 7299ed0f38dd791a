/*
 * Debug information: one protobuf message a file, the same at every level
 * (docs/format-neff.md).  Large kernels have an entry for each of a million
 * instructions, so arrays are counted first and live in the arena.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/gaps.h"
#include "base/sort.h"
#include "neff/reader.h"

enum {
    FILE_DESCRIPTION = 1,
    FILE_PARENT,
    FILE_ENTRY,
    FILE_ENGINE,
    FILE_SOURCE,
    FILE_STACK,
    FILE_KERNEL,
};
enum {
    ENTRY_ID = 1,
    ENTRY_NAME,
    ENTRY_PARENTS,
    ENTRY_DEPS,
    ENTRY_SYNC_DEPS,
    ENTRY_KIND,
    ENTRY_ATTR,
    ENTRY_FRAME,
    ENTRY_DEP_TYPES,
    ENTRY_SYNC_DEP_TYPES,
};
enum { ATTR_KEY = 1, ATTR_VALUE };
#define ENGINE_NUMBERS 7 /* of FILE_ENGINE, 0 included */

struct debug_file {
    struct nx_neff_reader *r;
    const char *member;
    struct nx_bytes bytes;
};

enum nx_status nx_neff_malformed(struct nx_neff_reader *r, const char *member, struct nx_bytes bytes,
                                 const struct nx_pb *pb)
{
    size_t message = pb->message.data ? (size_t)(pb->message.data - bytes.data) : 0;

    return nx_neff_member_fail(r, member, "offset %zu: %s", message + pb->offset, pb->problem);
}

static enum nx_status malformed(const struct debug_file *file, const struct nx_pb *pb)
{
    return nx_neff_malformed(file->r, file->member, file->bytes, pb);
}

void nx_neff_unknown_field(struct nx_neff_reader *r, const char *member, const char *part,
                           const struct nx_pb_field *field)
{
    if (r->unknown_fields++)
        return;
    r->unknown_member = member;
    r->unknown_part = part;
    r->unknown_number = field->number;
}

static const char *text(const struct debug_file *file, struct nx_bytes bytes)
{
    return nx_arena_text(&file->r->neff->arena, bytes.data, bytes.size);
}

/* Walks all integers of one repeated field of a message, packed or not. */
struct numbers {
    struct nx_pb pb;
    struct nx_pb_field field;
    uint32_t number;
    bool inside; /* a field that has more of them */
    size_t at;
};

static bool next_number(struct numbers *n, uint64_t *value)
{
    for (;;) {
        if (n->inside && nx_pb_next_packed(&n->pb, &n->field, &n->at, value))
            return true;
        n->inside = false;
        do {
            if (!nx_pb_next(&n->pb, &n->field))
                return false;
        } while (n->field.number != n->number);
        n->inside = true;
        n->at = 0;
    }
}

static struct numbers open_numbers(struct nx_bytes message, uint32_t number)
{
    return (struct numbers){.pb = nx_pb_open(message), .number = number};
}

/* How many there are; also the check that they are well formed, so that a second walk cannot fail. */
static enum nx_status count_numbers(const struct debug_file *file, struct nx_bytes message, uint32_t number,
                                    size_t *count)
{
    struct numbers n = open_numbers(message, number);
    uint64_t value;

    *count = 0;
    while (next_number(&n, &value))
        ++*count;
    return n.pb.problem ? malformed(file, &n.pb) : NX_OK;
}

static enum nx_status read_parents(const struct debug_file *file, struct nx_bytes message,
                                   struct nx_dbg_entry *entry)
{
    struct numbers n = open_numbers(message, ENTRY_PARENTS);
    size_t count;
    uint64_t *list;
    enum nx_status status = count_numbers(file, message, ENTRY_PARENTS, &count);

    if (status == NX_OK)
        status = nx_neff_work(file->r, file->member, count * sizeof(*list));
    if (status != NX_OK || count == 0)
        return status;
    list = nx_arena_alloc(&file->r->neff->arena, count, sizeof(*list));
    for (uint64_t value; entry->parent_count < count && next_number(&n, &value);)
        list[entry->parent_count++] = value;
    entry->parents = list;
    return NX_OK;
}

/* `count` dependencies from one field, and their types from another one (which may be shorter, or absent). */
static enum nx_status fill_deps(const struct debug_file *file, struct nx_bytes message, uint32_t ids,
                                uint32_t types, struct nx_dbg_dep *deps, size_t count)
{
    struct numbers n = open_numbers(message, ids), t = open_numbers(message, types);
    uint64_t value;

    for (size_t i = 0; i < count && next_number(&n, &value); i++)
        deps[i].id = value;
    for (size_t i = 0; i < count && next_number(&t, &value); i++)
        deps[i].type = (uint32_t)value;
    return t.pb.problem ? malformed(file, &t.pb) : NX_OK;
}

static enum nx_status read_deps(const struct debug_file *file, struct nx_bytes message,
                                struct nx_dbg_entry *entry)
{
    size_t data, sync;
    struct nx_dbg_dep *list;
    enum nx_status status = count_numbers(file, message, ENTRY_DEPS, &data);

    if (status == NX_OK)
        status = count_numbers(file, message, ENTRY_SYNC_DEPS, &sync);
    if (status == NX_OK)
        status = nx_neff_work(file->r, file->member, (data + sync) * sizeof(*list));
    if (status != NX_OK)
        return status;
    list = nx_arena_alloc(&file->r->neff->arena, data + sync, sizeof(*list));
    status = fill_deps(file, message, ENTRY_DEPS, ENTRY_DEP_TYPES, list, data);
    if (status == NX_OK)
        status = fill_deps(file, message, ENTRY_SYNC_DEPS, ENTRY_SYNC_DEP_TYPES, list + data, sync);
    entry->deps = list;
    entry->dep_count = data + sync;
    return status;
}

static enum nx_status read_attr(const struct debug_file *file, struct nx_bytes message,
                                struct nx_dbg_attr *attr)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    struct nx_bytes key = {0}, value = {0};

    while (nx_pb_next(&pb, &f)) {
        if (f.number == ATTR_KEY)
            key = f.bytes;
        else if (f.number == ATTR_VALUE)
            value = f.bytes;
        else
            nx_neff_unknown_field(file->r, file->member, "an attribute", &f);
    }
    *attr = (struct nx_dbg_attr){text(file, key), text(file, value)};
    return pb.problem ? malformed(file, &pb) : NX_OK;
}

static enum nx_status read_attrs(const struct debug_file *file, struct nx_bytes message, size_t count,
                                 struct nx_dbg_entry *entry)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_dbg_attr *list;
    enum nx_status status = nx_neff_work(file->r, file->member, count * sizeof(*list));

    if (status != NX_OK)
        return status;
    list = nx_arena_alloc(&file->r->neff->arena, count, sizeof(*list));
    while (status == NX_OK && nx_pb_next(&pb, &f))
        if (f.number == ENTRY_ATTR)
            status = read_attr(file, f.bytes, &list[entry->attr_count++]);
    entry->attrs = list;
    return status;
}

static enum nx_status read_entry(const struct debug_file *file, struct nx_bytes message,
                                 struct nx_dbg_entry *entry)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_bytes name = {0};
    size_t attrs = 0;
    bool has_deps = false;
    enum nx_status status;

    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case ENTRY_ID:
            entry->id = f.value;
            break;
        case ENTRY_NAME:
            name = f.bytes;
            break;
        case ENTRY_KIND:
            entry->kind = (uint32_t)f.value;
            break;
        case ENTRY_ATTR:
            attrs++;
            break;
        case ENTRY_DEPS:
        case ENTRY_SYNC_DEPS:
            has_deps = true;
            break;
        case ENTRY_FRAME:
            entry->stack_frame_id = f.value;
            break;
        case ENTRY_PARENTS:
        case ENTRY_DEP_TYPES:
        case ENTRY_SYNC_DEP_TYPES:
            break;
        default:
            nx_neff_unknown_field(file->r, file->member, "an entry", &f);
        }
    if (pb.problem)
        return malformed(file, &pb);
    if (name.size)
        entry->name = text(file, name);
    status = read_parents(file, message, entry);
    if (status == NX_OK && has_deps)
        status = read_deps(file, message, entry);
    if (status == NX_OK && attrs)
        status = read_attrs(file, message, attrs, entry);
    return status;
}

/* What the files of one level hold together, before it is read. */
struct counts {
    size_t entries, sources, kernels;
};

static enum nx_status count_file(const struct debug_file *file, struct counts *counts)
{
    struct nx_pb pb = nx_pb_open(file->bytes);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f)) {
        counts->entries += f.number == FILE_ENTRY && f.wire == NX_PB_BYTES;
        counts->sources += f.number == FILE_SOURCE && f.wire == NX_PB_BYTES;
        counts->kernels += f.number == FILE_KERNEL && f.wire == NX_PB_BYTES;
    }
    return pb.problem ? malformed(file, &pb) : NX_OK;
}

/* A field of the message that is a text or a message of its own. */
static enum nx_status read_part(const struct debug_file *file, const struct nx_pb_field *f,
                                struct nx_dbg *dbg, const char **sources, const char **kernels)
{
    struct nx_dbg_file *out = &dbg->files[dbg->file_count - 1];
    struct nx_dbg_entry *entry;

    switch (f->number) {
    case FILE_ENTRY:
        entry = &dbg->entries[dbg->count++];
        entry->name = "";
        entry->file = (uint32_t)(dbg->file_count - 1);
        return read_entry(file, f->bytes, entry);
    case FILE_SOURCE:
        sources[dbg->source_file_count++] = text(file, f->bytes);
        out->source_count++;
        return NX_OK;
    case FILE_KERNEL:
        kernels[dbg->kernel_name_count++] = text(file, f->bytes);
        out->kernel_name_count++;
        return NX_OK;
    case FILE_DESCRIPTION:
        if (!out->description) /* there is one; a file with many shall not fill the memory */
            out->description = text(file, f->bytes);
        return NX_OK;
    case FILE_PARENT:
        if (!out->parent)
            out->parent = text(file, f->bytes);
        return NX_OK;
    case FILE_STACK:
        return NX_OK; /* by nx_neff_read_stack */
    default:
        nx_neff_unknown_field(file->r, file->member, "the message", f);
        return NX_OK;
    }
}

static enum nx_status read_file(const struct debug_file *file, struct nx_dbg *dbg, const char **sources,
                                const char **kernels)
{
    struct nx_pb pb = nx_pb_open(file->bytes);
    struct nx_pb_field f;
    struct nx_dbg_file *out = &dbg->files[dbg->file_count++];
    struct nx_frame_range frames = {0};
    enum nx_status status = NX_OK;

    *out = (struct nx_dbg_file){.member = file->member,
                                .first_source = (uint32_t)dbg->source_file_count,
                                .first_kernel_name = (uint32_t)dbg->kernel_name_count};
    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        if (f.wire == NX_PB_BYTES)
            status = read_part(file, &f, dbg, sources, kernels);
        else if (f.number == FILE_ENGINE)
            out->engine = (uint32_t)f.value;
        else
            nx_neff_unknown_field(file->r, file->member, "the message", &f);
    }
    if (status == NX_OK)
        status = nx_neff_read_stack(file->r, file->member, file->bytes, false, &frames);
    out->first_frame = frames.first;
    out->frame_count = frames.count;
    return status;
}

/* Of a level in several pieces, one may hold the lists for all: the first of the same engine that has one. */
static void share_lists(struct nx_dbg *dbg)
{
    const struct nx_dbg_file *sources[ENGINE_NUMBERS] = {NULL}, *kernels[ENGINE_NUMBERS] = {NULL};

    for (size_t i = dbg->file_count; i-- > 0;) {
        const struct nx_dbg_file *file = &dbg->files[i];

        if (file->engine < ENGINE_NUMBERS && file->source_count)
            sources[file->engine] = file;
        if (file->engine < ENGINE_NUMBERS && file->kernel_name_count)
            kernels[file->engine] = file;
    }
    for (size_t i = 0; i < dbg->file_count; i++) {
        struct nx_dbg_file *file = &dbg->files[i];

        if (file->engine < ENGINE_NUMBERS && !file->source_count && sources[file->engine]) {
            file->first_source = sources[file->engine]->first_source;
            file->source_count = sources[file->engine]->source_count;
        }
        if (file->engine < ENGINE_NUMBERS && !file->kernel_name_count && kernels[file->engine]) {
            file->first_kernel_name = kernels[file->engine]->first_kernel_name;
            file->kernel_name_count = kernels[file->engine]->kernel_name_count;
        }
    }
}

static void index_by_id(struct nx_neff_reader *r, struct nx_dbg *dbg)
{
    uint64_t *keys = nx_alloc(dbg->count * sizeof(*keys));

    for (size_t i = 0; i < dbg->count; i++)
        keys[i] = dbg->entries[i].id;
    dbg->by_id = nx_arena_alloc(&r->neff->arena, dbg->count, sizeof(*dbg->by_id));
    nx_sort_order(keys, dbg->by_id, dbg->count);
    free(keys);
}

/* Finds the members, and counts what they hold. */
static enum nx_status open_files(struct nx_neff_reader *r, const char *const *members, size_t count,
                                 struct debug_file *files, size_t *found, struct counts *counts)
{
    enum nx_status status = NX_OK;

    for (size_t i = 0; i < count && status == NX_OK; i++) {
        struct debug_file *file = &files[*found];
        bool there;

        *file = (struct debug_file){.r = r, .member = members[i]};
        status = nx_neff_member(r, members[i], &file->bytes, &there);
        if (status == NX_OK && there) {
            ++*found;
            status = count_file(file, counts);
        } else if (status == NX_OK) {
            /* one sentence for all: a NEFF without debug information lacks dozens */
            nx_warn(&r->neff->warnings, NX_WARN_MISSING, NX_SAY_NO_DEBUG_FILES);
        }
    }
    return status;
}

static enum nx_status read_files(struct nx_neff_reader *r, const struct debug_file *files, size_t count,
                                 struct counts counts, struct nx_dbg *dbg)
{
    struct nx_arena *arena = &r->neff->arena;
    const char **sources = nx_arena_alloc(arena, counts.sources, sizeof(*sources));
    const char **kernels = nx_arena_alloc(arena, counts.kernels, sizeof(*kernels));
    enum nx_status status = NX_OK;

    dbg->entries = nx_arena_alloc(arena, counts.entries, sizeof(*dbg->entries));
    dbg->files = nx_arena_alloc(arena, count, sizeof(*dbg->files));
    dbg->source_files = sources;
    dbg->kernel_names = kernels;
    for (size_t i = 0; i < count && status == NX_OK; i++)
        status = read_file(&files[i], dbg, sources, kernels);
    share_lists(dbg);
    index_by_id(r, dbg);
    return status;
}

enum nx_status nx_neff_read_debug(struct nx_neff_reader *r, const char *const *members, size_t count,
                                  struct nx_dbg *dbg)
{
    struct debug_file *files = nx_zalloc(count, sizeof(*files));
    struct counts counts = {0};
    size_t found = 0;
    enum nx_status status = open_files(r, members, count, files, &found, &counts);

    *dbg = (struct nx_dbg){0};
    if (status == NX_OK && counts.entries + counts.sources + counts.kernels > UINT32_MAX)
        status =
            nx_neff_member_fail(r, members[0], "%zu entries are more than can be numbered", counts.entries);
    if (status == NX_OK && found) /* a text takes a pointer and at least as much in the arena */
        status = nx_neff_work(r, members[0],
                              counts.entries * (sizeof(*dbg->entries) + sizeof(*dbg->by_id)) +
                                  (counts.sources + counts.kernels) * 3 * sizeof(char *) +
                                  found * (sizeof(*files) + sizeof(*dbg->files)));
    if (status == NX_OK)
        status = read_files(r, files, found, counts, dbg);
    free(files);
    return status;
}

const struct nx_dbg_entry *nx_dbg_find(const struct nx_dbg *dbg, uint64_t id)
{
    size_t low = 0, high = dbg->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct nx_dbg_entry *entry = &dbg->entries[dbg->by_id[middle]];

        if (entry->id == id)
            return entry;
        if (entry->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *nx_dbg_attr(const struct nx_dbg_entry *entry, const char *key)
{
    for (size_t i = 0; i < entry->attr_count; i++)
        if (strcmp(entry->attrs[i].key, key) == 0)
            return entry->attrs[i].value;
    return NULL;
}

/* The attribute as a number from 0 to `limit`, or -1. */
static int64_t attr_number(const struct nx_dbg_entry *entry, const char *key, int64_t limit)
{
    const char *value = nx_dbg_attr(entry, key);
    char *end;
    long long number;

    if (!value || value[0] < '0' || value[0] > '9')
        return -1;
    errno = 0;
    number = strtoll(value, &end, 10);
    return *end || errno || number > limit ? -1 : (int64_t)number;
}

bool nx_dbg_source(const struct nx_dbg *dbg, const struct nx_dbg_entry *entry, const char **file,
                   int64_t *line)
{
    const struct nx_dbg_file *in = &dbg->files[entry->file];
    int64_t number = attr_number(entry, "kernel_file", (int64_t)in->source_count - 1);

    *line = attr_number(entry, "kernel_line", INT64_MAX);
    if (number < 0 || *line < 1)
        return false;
    *file = dbg->source_files[in->first_source + (size_t)number];
    return true;
}

const char *nx_dbg_kernel_name(const struct nx_dbg *dbg, const struct nx_dbg_entry *entry)
{
    const struct nx_dbg_file *in = &dbg->files[entry->file];
    int64_t number = attr_number(entry, "kernel_name", (int64_t)in->kernel_name_count - 1);

    return number < 0 ? NULL : dbg->kernel_names[in->first_kernel_name + (size_t)number];
}
