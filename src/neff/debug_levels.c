/*
 * Which members describe the levels above the compiler's backend.
 *
 * No definition names them.  They are told by their file names: the stem says the level, "sg000001" (or the
 * folder sg01) the graph; a large level may stand in several numbered members.
 */
#include <stdio.h>
#include <stdlib.h>

#include "neff/reader.h"

static const char *const stems[] = {
    [NX_LEVEL_PENGUIN] = "debug_info_penguin",
    [NX_LEVEL_HLO] = "debug_info_hlo",
    [NX_LEVEL_FRAMEWORK] = "debug_info_pttf",
    [NX_LEVEL_STACK] = "stack_frame_index",
};
#define LEVELS (sizeof(stems) / sizeof(stems[0]))

static bool is_level(const char *member, enum nx_debug_level *level)
{
    const char *slash = strrchr(member, '/'), *file = slash ? slash + 1 : member;

    for (size_t i = 0; i < LEVELS; i++)
        if (strncmp(file, stems[i], strlen(stems[i])) == 0 && strstr(file, ".dbg")) {
            *level = (enum nx_debug_level)i;
            return true;
        }
    return false;
}

int64_t nx_neff_graph_number(const char *member)
{
    int64_t number = -1;
    int found;

    for (const char *p = member; (p = strstr(p, "sg")); p += 2)
        if (sscanf(p, "sg%9d", &found) == 1 && found >= 0)
            number = found;
    return number;
}

static int by_place(const void *left, const void *right)
{
    const struct nx_level_member *a = left, *b = right;

    if (a->graph != b->graph)
        return a->graph < b->graph ? -1 : 1;
    if (a->level != b->level)
        return a->level < b->level ? -1 : 1;
    return strcmp(a->name, b->name);
}

void nx_neff_find_levels(struct nx_neff_reader *r)
{
    size_t capacity = 0;
    enum nx_debug_level level;

    for (size_t i = 0; i < r->kept_count; i++) {
        const char *name = r->kept[i].name;

        if (!is_level(name, &level))
            continue;
        r->levels = nx_grow(r->levels, r->level_count, &capacity, sizeof(*r->levels));
        r->levels[r->level_count++] = (struct nx_level_member){level, nx_neff_graph_number(name), name};
    }
    if (r->level_count)
        qsort(r->levels, r->level_count, sizeof(*r->levels), by_place);
}

/* Newer compilers may put an archive of simulator traces under a level's name. */
static bool is_archive(struct nx_neff_reader *r, struct nx_bytes bytes, const char *member)
{
    if (bytes.size < 2 || bytes.data[0] != 0x1f || bytes.data[1] != 0x8b)
        return false;
    nx_warn(&r->neff->warnings, NX_WARN_UNKNOWN,
            "%s holds packed data in the place of debug information: it was not read", member);
    return true;
}

/* The members of one level of the graph, and those of every graph. `names` has room for all of them. */
static enum nx_status members_of(struct nx_neff_reader *r, int64_t graph, enum nx_debug_level level,
                                 const char **names, size_t *count)
{
    enum nx_status status = NX_OK;

    *count = 0;
    for (size_t i = 0; i < r->level_count && status == NX_OK; i++) {
        const struct nx_level_member *member = &r->levels[i];
        struct nx_bytes bytes;
        bool found;

        if (member->level != level || (member->graph != graph && member->graph != -1))
            continue;
        status = nx_neff_member(r, member->name, &bytes, &found);
        if (status == NX_OK && found && !is_archive(r, bytes, member->name))
            names[(*count)++] = member->name;
    }
    return status;
}

static enum nx_status read_level(struct nx_neff_reader *r, int64_t graph, enum nx_debug_level level,
                                 const char **names, struct nx_dbg *dbg)
{
    size_t count;
    enum nx_status status = members_of(r, graph, level, names, &count);

    return status == NX_OK ? nx_neff_read_debug(r, names, count, dbg) : status;
}

/*
 * Of several such members, the first one that holds frames counts.  What such a member looks like inside is
 * an assumption (docs/format-neff.md): one that looks otherwise is no fault of the NEFF.
 */
static struct nx_frame_range read_common_stack(struct nx_neff_reader *r, int64_t graph, const char **names)
{
    struct nx_frame_range range = {0};
    struct nx_error why, *error = r->error;
    size_t count;
    enum nx_status status;

    r->error = &why;
    status = members_of(r, graph, NX_LEVEL_STACK, names, &count);
    for (size_t i = 0; i < count && status == NX_OK && !range.count; i++) {
        struct nx_bytes bytes;
        bool found;

        status = nx_neff_member(r, names[i], &bytes, &found);
        if (status == NX_OK)
            status = nx_neff_read_stack(r, names[i], bytes, true, &range);
    }
    r->error = error;
    if (status != NX_OK)
        nx_warn(&r->neff->warnings, NX_WARN_UNKNOWN, "%s", why.text);
    return range;
}

enum nx_status nx_neff_read_levels(struct nx_neff_reader *r, int64_t number, struct nx_neff_graph *graph)
{
    const struct {
        enum nx_debug_level level;
        struct nx_dbg *dbg;
    } levels[] = {
        {NX_LEVEL_PENGUIN, &graph->penguin},
        {NX_LEVEL_HLO, &graph->hlo},
        {NX_LEVEL_FRAMEWORK, &graph->framework},
    };
    const char **names = nx_zalloc(r->level_count, sizeof(*names));
    struct nx_frame_range common = read_common_stack(r, number, names);
    enum nx_status status = NX_OK;

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]) && status == NX_OK; i++)
        status = nx_neff_step(r, read_level(r, number, levels[i].level, names, levels[i].dbg));
    free(names);
    nx_neff_resolve_frames(r, graph, common);
    return status;
}
