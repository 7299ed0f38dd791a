/*
 * Whether header, metadata, sections and code ranges tile the file.
 *
 * They do in every file that a runtime wrote: two ranges that overlap mean
 * that an offset is wrong, so nothing read there can be trusted; bytes that
 * no range names are only reported.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "ntff/metadata.h"

struct range {
    uint64_t start, end;
};

static int by_start(const void *left, const void *right)
{
    const struct range *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

static void add(struct range *ranges, size_t *count, uint64_t start, uint64_t size)
{
    if (size)
        ranges[(*count)++] = (struct range){start, start + size};
}

enum nx_status nx_ntff_check_coverage(struct nx_ntff_reader *r)
{
    struct nx_ntff *ntff = r->ntff;
    size_t capacity = 1 + ntff->orphan_section_count, count = 0;
    struct range *ranges;
    uint64_t at = 0;
    enum nx_status status = NX_OK;

    for (size_t c = 0; c < ntff->core_count; c++)
        capacity += ntff->cores[c].section_count + NX_ENGINE_COUNT;
    ranges = nx_alloc(capacity * sizeof(*ranges));
    add(ranges, &count, 0, r->raw_base);
    for (size_t c = 0; c < ntff->core_count; c++) {
        const struct nx_ntff_core *core = &ntff->cores[c];

        for (size_t s = 0; s < core->section_count; s++)
            add(ranges, &count, core->sections[s].file_offset, core->sections[s].records.size);
        for (int e = 0; e < NX_ENGINE_COUNT; e++)
            if (core->code[e].in_raw_area)
                add(ranges, &count, (uint64_t)(core->code[e].bytes.data - r->file.data),
                    core->code[e].bytes.size);
    }
    for (size_t s = 0; s < ntff->orphan_section_count; s++)
        add(ranges, &count, ntff->orphan_sections[s].file_offset, ntff->orphan_sections[s].records.size);

    qsort(ranges, count, sizeof(*ranges), by_start);
    for (size_t i = 0; i < count && status == NX_OK; i++) {
        if (ranges[i].start < at)
            status = nx_fail_at(
                r->error, r->path, ranges[i].start,
                "this part of the file is claimed twice (the part before it ends at %" PRIu64 ")", at);
        ntff->covered_bytes += ranges[i].end - ranges[i].start;
        at = ranges[i].end;
    }
    free(ranges);
    if (status == NX_OK && ntff->covered_bytes != r->file.size)
        nx_warn(&ntff->warnings, NX_WARN_UNKNOWN,
                "%" PRIu64 " of %zu bytes of the trace are not named by anything in it",
                (uint64_t)r->file.size - ntff->covered_bytes, r->file.size);
    return status;
}
