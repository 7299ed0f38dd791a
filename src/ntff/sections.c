/*
 * Where the raw records lie, and whose they are: v4 and v5 list the sections
 * of a core in that core's message, v6 lists all of them at the top, each
 * with the index of its core.
 */
#include <inttypes.h>
#include <string.h>

#include "ntff/metadata.h"

#define MAX_SECTIONS ((size_t)1 << 16) /* far above anything real: 5 a core, 22 in all of version 6 */

struct nx_bytes nx_ntff_place(struct nx_ntff_reader *r, const char *what, struct nx_bytes message,
                              uint64_t offset, uint64_t size)
{
    uint64_t room = r->raw_base < r->file.size ? r->file.size - r->raw_base : 0;
    struct nx_bytes piece = {0};

    if (offset <= room && size <= room - offset) {
        nx_bytes_slice(r->file, r->raw_base + offset, size, &piece);
        return piece;
    }
    if (r->misplaced.status == NX_OK)
        nx_fail_at(&r->misplaced, r->path, nx_ntff_offset(r, message),
                   "%s of %" PRIu64 " bytes expected at offset %" PRIu64
                   " of the raw area, which has %" PRIu64 " bytes: the file is cut short",
                   what, size, offset, room);
    if (offset < room)
        nx_bytes_slice(r->file, r->raw_base + offset, room - offset, &piece);
    return piece;
}

/* *core_index is field 7 (v6). */
static enum nx_status read_section(struct nx_ntff_reader *r, struct nx_bytes message,
                                   struct nx_ntff_section *section, uint64_t *core_index)
{
    static const struct nx_ntff_message kind = {.name = "section",
                                                .numbers = NX_FIELD(1) | NX_FIELD(3) | NX_FIELD(4) |
                                                           NX_FIELD(5) | NX_FIELD(6) | NX_FIELD(7)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    uint64_t offset = 0, size = 0;

    *core_index = 0;
    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            section->type = nx_ntff_u32(&f);
            break;
        case 3:
            section->block = nx_ntff_u32(&f);
            break;
        case 4:
            section->block_index = nx_ntff_u32(&f);
            break;
        case 5:
            offset = f.value;
            break;
        case 6:
            size = f.value;
            break;
        default:
            *core_index = f.value;
            break;
        }
    if (pb.problem)
        return nx_ntff_walked(r, &pb);
    section->records = nx_ntff_place(r, "section", message, offset, size);
    section->file_offset = offset > UINT64_MAX - r->raw_base ? UINT64_MAX : r->raw_base + offset;
    if (size % NX_NTFF_RECORD_SIZE && r->misplaced.status == NX_OK)
        nx_fail_at(&r->misplaced, r->path, section->file_offset,
                   "section of %" PRIu64 " bytes: expected a multiple of %d", size, NX_NTFF_RECORD_SIZE);
    section->records.size -= section->records.size % NX_NTFF_RECORD_SIZE;
    return NX_OK;
}

enum nx_status nx_ntff_read_core_sections(struct nx_ntff_reader *r, struct nx_bytes message,
                                          struct nx_ntff_core *core)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    uint64_t unused;
    enum nx_status status =
        nx_ntff_list(r, message, 6, MAX_SECTIONS, sizeof(*core->sections), &core->sections);

    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        if (f.number != 6 || f.wire != NX_PB_BYTES)
            continue;
        status = read_section(r, f.bytes, &core->sections[core->section_count], &unused);
        core->section_count += status == NX_OK;
    }
    return status;
}

/* A section at the top of the metadata, and the place of its core in ntff->cores (core_count: an orphan). */
struct placed_section {
    struct nx_ntff_section section;
    size_t core;
};

static enum nx_status read_placed_sections(struct nx_ntff_reader *r, struct nx_bytes message,
                                           struct placed_section *list, size_t *count)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f)) {
        struct placed_section *placed = &list[*count];
        uint64_t core_index;
        enum nx_status status;

        if (f.number != 16 || f.wire != NX_PB_BYTES)
            continue;
        status = read_section(r, f.bytes, &placed->section, &core_index);
        if (status != NX_OK)
            return status;
        while (placed->core < r->ntff->core_count && r->ntff->cores[placed->core].core_index != core_index)
            placed->core++;
        (*count)++;
    }
    return NX_OK;
}

/* size[c] sections of the list are of core c. */
static void deal_sections(struct nx_ntff *ntff, const struct placed_section *list, size_t count, size_t *size)
{
    for (size_t i = 0; i < count; i++)
        size[list[i].core]++;
    for (size_t c = 0; c < ntff->core_count; c++) {
        struct nx_ntff_core *core = &ntff->cores[c];
        struct nx_ntff_section *all =
            nx_arena_alloc(&ntff->arena, core->section_count + size[c], sizeof(*core->sections));

        if (core->section_count)
            memcpy(all, core->sections, core->section_count * sizeof(*all));
        core->sections = all;
    }
    ntff->orphan_sections =
        nx_arena_alloc(&ntff->arena, size[ntff->core_count], sizeof(*ntff->orphan_sections));
    for (size_t i = 0; i < count; i++) {
        struct nx_ntff_core *core = list[i].core < ntff->core_count ? &ntff->cores[list[i].core] : NULL;

        if (core)
            core->sections[core->section_count++] = list[i].section;
        else
            ntff->orphan_sections[ntff->orphan_section_count++] = list[i].section;
    }
}

static void warn_about_owners(struct nx_ntff *ntff)
{
    uint64_t orphan_records = 0;

    for (size_t i = 0; i < ntff->orphan_section_count; i++)
        orphan_records += ntff->orphan_sections[i].records.size / NX_NTFF_RECORD_SIZE;
    if (ntff->orphan_section_count)
        nx_warn(&ntff->warnings, NX_WARN_INCONSISTENT,
                "%zu sections with %" PRIu64 " records belong to a core that the trace does not describe",
                ntff->orphan_section_count, orphan_records);
    for (size_t a = 0; a < ntff->core_count; a++)
        for (size_t b = a + 1; b < ntff->core_count; b++)
            if (ntff->cores[a].core_index == ntff->cores[b].core_index) {
                nx_warn(&ntff->warnings, NX_WARN_INCONSISTENT,
                        "two cores of the trace have index %" PRIu32 ": the first gets the records",
                        ntff->cores[a].core_index);
                return;
            }
}

enum nx_status nx_ntff_read_top_sections(struct nx_ntff_reader *r, struct nx_bytes metadata)
{
    struct placed_section *list = NULL;
    size_t count = 0, *size;
    enum nx_status status = nx_ntff_list(r, metadata, 16, MAX_SECTIONS, sizeof(*list), &list);

    if (status == NX_OK)
        status = read_placed_sections(r, metadata, list, &count);
    if (!count)
        return status;
    size = nx_arena_alloc(&r->ntff->arena, r->ntff->core_count + 1, sizeof(*size));
    deal_sections(r->ntff, list, count, size);
    warn_about_owners(r->ntff);
    return status;
}
