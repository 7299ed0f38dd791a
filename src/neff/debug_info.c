/*
 * Debug information: one protobuf message a file, the same at every level
 * (docs/format-neff.md).  Large kernels have an entry for each of a million
 * instructions, so arrays are counted first and live in the arena.
 */
#include <stdlib.h>

#include "base/protobuf.h"
#include "base/sort.h"
#include "neff/reader.h"

enum { FILE_ENTRY = 3, FILE_SOURCE = 5 };
enum { ENTRY_ID = 1, ENTRY_NAME, ENTRY_PARENTS, ENTRY_DEPS, ENTRY_SYNC_DEPS, ENTRY_KIND, ENTRY_ATTR,
       ENTRY_DEP_TYPES = 9, ENTRY_SYNC_DEP_TYPES };

static enum nx_status malformed(struct nx_neff_reader *r, const char *member, const struct nx_pb *pb)
{
    return nx_neff_json_fail(r, member, "%s", pb->problem);
}

struct numbers {
    uint64_t *list;
    size_t count;
};

static const char *text(struct nx_neff_reader *r, struct nx_bytes bytes)
{
    return nx_arena_text(&r->neff->arena, bytes.data, bytes.size);
}

/* All integers of a repeated field of the entry, packed or not. */
static struct numbers read_numbers(struct nx_neff_reader *r, struct nx_bytes message, uint32_t number)
{
    struct numbers numbers = {0};

    for (int pass = 0; pass < 2; pass++) {
        struct nx_pb pb = nx_pb_open(message);
        struct nx_pb_field f;
        size_t count = 0;

        while (nx_pb_next(&pb, &f)) {
            size_t at = 0;
            uint64_t value;

            if (f.number != number)
                continue;
            while (nx_pb_next_packed(&pb, &f, &at, &value)) {
                if (pass)
                    numbers.list[count] = value;
                count++;
            }
        }
        if (!pass)
            numbers.list = count ? nx_arena_alloc(&r->neff->arena, count, sizeof(*numbers.list)) : NULL;
        numbers.count = count;
    }
    return numbers;
}

static void add_deps(struct nx_dbg_dep *deps, size_t *count, struct numbers ids, struct numbers types)
{
    for (size_t i = 0; i < ids.count; i++)
        deps[(*count)++] = (struct nx_dbg_dep){ids.list[i], i < types.count ? (uint32_t)types.list[i] : 0};
}

static void read_attr(struct nx_neff_reader *r, struct nx_bytes message, struct nx_dbg_attr *attr)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    *attr = (struct nx_dbg_attr){"", ""};
    while (nx_pb_next(&pb, &f)) {
        if (f.number == 1)
            attr->key = text(r, f.bytes);
        else if (f.number == 2)
            attr->value = text(r, f.bytes);
    }
}

static enum nx_status read_entry(struct nx_neff_reader *r, const char *member, struct nx_bytes message,
                                 struct nx_dbg_entry *entry)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    size_t attrs = 0;
    bool has_deps = false;

    entry->name = "";
    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case ENTRY_ID: entry->id = f.value; break;
        case ENTRY_NAME: entry->name = text(r, f.bytes); break;
        case ENTRY_KIND: entry->kind = (uint32_t)f.value; break;
        case ENTRY_ATTR: attrs++; break;
        case ENTRY_DEPS:
        case ENTRY_SYNC_DEPS: has_deps = true; break;
        default: break;
        }
    if (pb.problem)
        return malformed(r, member, &pb);
    {
        struct numbers parents = read_numbers(r, message, ENTRY_PARENTS);

        entry->parents = parents.list;
        entry->parent_count = parents.count;
    }
    if (has_deps) {
        struct numbers deps = read_numbers(r, message, ENTRY_DEPS);
        struct numbers sync = read_numbers(r, message, ENTRY_SYNC_DEPS);
        struct nx_dbg_dep *list = nx_arena_alloc(&r->neff->arena, deps.count + sync.count, sizeof(*list));

        add_deps(list, &entry->dep_count, deps, read_numbers(r, message, ENTRY_DEP_TYPES));
        add_deps(list, &entry->dep_count, sync, read_numbers(r, message, ENTRY_SYNC_DEP_TYPES));
        entry->deps = list;
    }
    if (attrs) {
        struct nx_dbg_attr *list = nx_arena_alloc(&r->neff->arena, attrs, sizeof(*list));

        pb = nx_pb_open(message);
        while (nx_pb_next(&pb, &f))
            if (f.number == ENTRY_ATTR)
                read_attr(r, f.bytes, &list[entry->attr_count++]);
        entry->attrs = list;
    }
    return NX_OK;
}

static enum nx_status count_file(struct nx_neff_reader *r, const char *member, struct nx_bytes bytes, size_t *entries,
                                 size_t *sources)
{
    struct nx_pb pb = nx_pb_open(bytes);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f)) {
        *entries += f.number == FILE_ENTRY && f.wire == NX_PB_BYTES;
        *sources += f.number == FILE_SOURCE && f.wire == NX_PB_BYTES;
    }
    return pb.problem ? malformed(r, member, &pb) : NX_OK;
}

static enum nx_status read_file(struct nx_neff_reader *r, const char *member, struct nx_bytes bytes,
                                struct nx_dbg *dbg, const char **sources)
{
    struct nx_pb pb = nx_pb_open(bytes);
    struct nx_pb_field f;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        if (f.wire != NX_PB_BYTES)
            continue;
        if (f.number == FILE_ENTRY)
            status = read_entry(r, member, f.bytes, &dbg->entries[dbg->count++]);
        else if (f.number == FILE_SOURCE)
            sources[dbg->source_file_count++] = text(r, f.bytes);
    }
    return status;
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

enum nx_status nx_neff_read_debug(struct nx_neff_reader *r, const char *const *members, size_t count,
                                  struct nx_dbg *dbg)
{
    size_t entries = 0, source_files = 0;
    const char **sources;
    struct nx_bytes bytes;

    *dbg = (struct nx_dbg){0};
    for (size_t i = 0; i < count; i++)
        if (nx_neff_member(r, members[i], &bytes)) {
            enum nx_status status = count_file(r, members[i], bytes, &entries, &source_files);

            if (status != NX_OK)
                return status;
        }
    dbg->entries = nx_arena_alloc(&r->neff->arena, entries, sizeof(*dbg->entries));
    sources = nx_arena_alloc(&r->neff->arena, source_files, sizeof(*sources));
    dbg->source_files = sources;
    for (size_t i = 0; i < count; i++)
        if (nx_neff_member(r, members[i], &bytes)) {
            enum nx_status status = read_file(r, members[i], bytes, dbg, sources);

            if (status != NX_OK)
                return status;
        }
    index_by_id(r, dbg);
    return NX_OK;
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
