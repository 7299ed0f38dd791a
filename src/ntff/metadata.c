/*
 * The NTFF's metadata (docs/format-ntff.md, "Metadata").
 *
 * proto3: a field that is absent is zero.  Arrays are counted in a first walk
 * over a message, so that the second fills memory of the right size.
 */
#include "ntff/metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/queue_name.h"

/* Far above anything real; see make_list. */
#define MAX_CORES 256
#define MAX_RINGS 65536
#define MAX_BLOCKS ((size_t)1 << 24)
#define MAX_PATCHES ((size_t)1 << 24)
#define MAX_SECTIONS ((size_t)1 << 20)
#define MAX_EXECUTIONS ((size_t)1 << 20)
#define MAX_MEMORY 4096

/* Where a piece of the file begins in it: for error messages. */
static uint64_t file_offset(const struct nx_ntff_reader *r, const uint8_t *p)
{
    return (uint64_t)(p - r->file.data);
}

static enum nx_status malformed(const struct nx_ntff_reader *r, const struct nx_pb *pb)
{
    return nx_fail_at(r->error, r->path, file_offset(r, pb->message.data) + pb->offset, "%s", pb->problem);
}

/* Fields seen in real files whose meaning is not established: known, and left alone. */
static void skip(struct nx_ntff_reader *r, const struct nx_pb_field *f, const char *reserved)
{
    char number[16];

    snprintf(number, sizeof(number), " %" PRIu32 " ", f->number);
    if (strstr(reserved, number))
        return;
    if (!r->unknown_fields++)
        r->first_unknown = f->number;
}

static const char *text(struct nx_ntff_reader *r, const struct nx_pb_field *f)
{
    return nx_arena_text(&r->ntff->arena, f->bytes.data, f->bytes.size);
}

/*
 * Room for every message in field `number`: *list, zeroed.  An entry of two bytes can become a struct of many:
 * `limit`, far above anything real, keeps a hostile file from making that count.
 */
static enum nx_status make_list(struct nx_ntff_reader *r, struct nx_bytes message, uint32_t number, size_t limit,
                                size_t size, void *list)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    size_t count = 0;

    while (nx_pb_next(&pb, &f))
        count += f.number == number && f.wire == NX_PB_BYTES;
    if (pb.problem)
        return malformed(r, &pb);
    if (count > limit)
        return nx_fail_at(r->error, r->path, file_offset(r, message.data),
                          "%zu entries of field %" PRIu32 ": at most %zu are expected", count, number, limit);
    *(void **)list = nx_arena_alloc(&r->ntff->arena, count, size);
    return NX_OK;
}

static enum nx_status read_version(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_version *version)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    version->present = true;
    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: version->major = f.value; break;
        case 2: version->minor = f.value; break;
        case 3: version->patch = f.value; break;
        case 5: version->git_hash = text(r, &f); break;
        default: skip(r, &f, " 4 "); break;
        }
    return pb.problem ? malformed(r, &pb) : NX_OK;
}

static enum nx_status read_clock(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_clock *clock)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    *clock = (struct nx_clock){0};
    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: clock->init = f.value; break;
        case 2: clock->actual = f.value; break;
        case 3: clock->expected = f.value; break;
        default: skip(r, &f, ""); break;
        }
    if (pb.problem)
        return malformed(r, &pb);
    if (clock->actual == 0 || clock->expected == 0) {
        /* absent: the counter is in picoseconds already */
        if (clock->actual != clock->expected)
            nx_warn(&r->ntff->warnings, NX_WARN_INCONSISTENT,
                    "a clock of the trace has no rate: its times are taken as picoseconds");
        clock->actual = clock->expected = 1;
    }
    return NX_OK;
}

/* Fields 1..5 are engines, but DVE comes before POOL here, unlike everywhere else. */
static enum nx_status read_clocks(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ntff_core *core)
{
    static const enum nx_engine order[] = {NX_PE, NX_ACT, NX_DVE, NX_POOL, NX_SP};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    size_t dma = 0;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        if (f.number >= 1 && f.number <= NX_ENGINE_COUNT)
            status = read_clock(r, f.bytes, &core->engine_clock[order[f.number - 1]]);
        else if (f.number == 6)
            status = read_clock(r, f.bytes, &core->event_clock);
        else if (f.number == 8 && dma < NX_DMA_ENGINES)
            status = read_clock(r, f.bytes, &core->dma_clock[dma++]);
        else
            skip(r, &f, " 7 9 ");
    }
    return pb.problem ? malformed(r, &pb) : status;
}

static enum nx_status read_code(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ntff_core *core)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_ntff_code *code;
    struct nx_bytes inlined = {0};
    uint64_t engine = 0, address = 0, offset = 0, size = 0;

    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: engine = f.value; break;
        case 2: address = f.value; break;
        case 3: inlined = f.bytes; break; /* v4, v5 */
        case 7: offset = f.value; break;  /* v6: in the raw area */
        case 8: size = f.value; break;
        default: skip(r, &f, ""); break;
        }
    if (pb.problem)
        return malformed(r, &pb);
    if (engine >= NX_ENGINE_COUNT)
        return nx_fail_at(r->error, r->path, file_offset(r, message.data),
                          "code of engine %" PRIu64 ": expected 0 to %d", engine, NX_ENGINE_COUNT - 1);
    code = &core->code[engine];
    code->address = address;
    code->bytes = inlined;
    if (size) {
        if (offset > UINT64_MAX - r->raw_base ||
            !nx_bytes_slice(r->file, r->raw_base + offset, size, &code->bytes))
            return nx_fail_at(r->error, r->path, file_offset(r, message.data),
                              "code of %" PRIu64 " bytes at raw offset %" PRIu64
                              " reaches beyond the end of the file (%zu bytes): the file is cut short",
                              size, offset, r->file.size);
        code->in_raw_area = true;
    }
    if (code->bytes.size % 64)
        nx_warn(&r->ntff->warnings, NX_WARN_INCONSISTENT,
                "the code of %s on %s is not a whole number of instructions", nx_engine_title((enum nx_engine)engine),
                core->name);
    return NX_OK;
}

static enum nx_status read_patch(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_patch *patch)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: patch->offset = f.value; break;
        case 2: patch->count = f.value; break;
        case 3: patch->type = (uint32_t)f.value; break;
        default: skip(r, &f, ""); break;
        }
    return pb.problem ? malformed(r, &pb) : NX_OK;
}

static enum nx_status read_patches(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ntff_core *core)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_patch *list = NULL;
    size_t count = 0;
    uint64_t engine = 0;
    enum nx_status status = make_list(r, message, 2, MAX_PATCHES, sizeof(*list), &list);

    while (status == NX_OK && nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: engine = f.value; break;
        case 2:
            if (f.wire == NX_PB_BYTES)
                status = read_patch(r, f.bytes, &list[count++]);
            break;
        default: skip(r, &f, ""); break;
        }
    if (pb.problem)
        return malformed(r, &pb);
    if (status == NX_OK && engine >= NX_ENGINE_COUNT)
        return nx_fail_at(r->error, r->path, file_offset(r, message.data),
                          "patches of engine %" PRIu64 ": expected 0 to %d", engine, NX_ENGINE_COUNT - 1);
    if (status == NX_OK) {
        core->code[engine].patches = list;
        core->code[engine].patch_count = count;
    }
    return status;
}

static enum nx_status read_ring_block(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ring_block *block)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: block->id = (uint32_t)f.value; break;
        case 2: block->packets = f.value; break;
        case 3: block->m2s_descriptors = f.value; break;
        case 4: block->s2m_descriptors = f.value; break;
        default: skip(r, &f, ""); break;
        }
    return pb.problem ? malformed(r, &pb) : NX_OK;
}

static enum nx_status read_ring(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ntff_ring *ring)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    char display[256];
    enum nx_status status = make_list(r, message, 8, MAX_BLOCKS, sizeof(*ring->blocks), &ring->blocks);

    ring->name = "";
    while (status == NX_OK && nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: ring->engine = (uint32_t)f.value; break;
        case 2: ring->index = (uint32_t)f.value; break;
        case 3: ring->type = (uint32_t)f.value; break;
        case 4: ring->name = text(r, &f); break;
        case 5: ring->event_id = (int64_t)f.value; break;
        case 6: ring->axi_port = (uint32_t)f.value; break;
        case 7: ring->dram_channel = (uint32_t)f.value; break;
        case 8:
            if (f.wire == NX_PB_BYTES)
                status = read_ring_block(r, f.bytes, &ring->blocks[ring->block_count++]);
            break;
        default: skip(r, &f, ""); break;
        }
    nx_display_queue(ring->name, display, sizeof(display));
    ring->display_name = nx_arena_text(&r->ntff->arena, display, strlen(display));
    return pb.problem ? malformed(r, &pb) : status;
}

static enum nx_status read_memory(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_memory_use *use)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: use->category = (uint32_t)f.value; break;
        case 2: use->bytes = f.value; break;
        case 3: use->name = text(r, &f); break;
        default: skip(r, &f, ""); break;
        }
    return pb.problem ? malformed(r, &pb) : NX_OK;
}

/* A section of raw records; *core_index is field 7 (v6). */
static enum nx_status read_section(struct nx_ntff_reader *r, struct nx_bytes message,
                                   struct nx_ntff_section *section, uint64_t *core_index)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    uint64_t offset = 0, size = 0;

    *core_index = 0;
    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: section->type = (uint32_t)f.value; break;
        case 3: section->block = (uint32_t)f.value; break;
        case 4: section->block_index = (uint32_t)f.value; break;
        case 5: offset = f.value; break;
        case 6: size = f.value; break;
        case 7: *core_index = f.value; break;
        default: skip(r, &f, ""); break;
        }
    if (pb.problem)
        return malformed(r, &pb);
    if (offset > UINT64_MAX - r->raw_base || !nx_bytes_slice(r->file, r->raw_base + offset, size, &section->records))
        return nx_fail_at(r->error, r->path, file_offset(r, message.data),
                          "section of %" PRIu64 " bytes at raw offset %" PRIu64
                          " reaches beyond the end of the file (%zu bytes): the file is cut short",
                          size, offset, r->file.size);
    if (size % NX_NTFF_RECORD_SIZE)
        return nx_fail_at(r->error, r->path, r->raw_base + offset,
                          "section of %" PRIu64 " bytes: expected a multiple of %d", size, NX_NTFF_RECORD_SIZE);
    section->file_offset = r->raw_base + offset;
    return NX_OK;
}

static enum nx_status read_core(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ntff_core *core)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    uint64_t unused;
    enum nx_status status = make_list(r, message, 7, MAX_RINGS, sizeof(*core->rings), &core->rings);

    core->name = "";
    if (status == NX_OK)
        status = make_list(r, message, 11, MAX_MEMORY, sizeof(*core->memory), &core->memory);
    if (status == NX_OK)
        status = make_list(r, message, 6, MAX_SECTIONS, sizeof(*core->sections), &core->sections);
    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        core->engine_clock[e] = (struct nx_clock){0, 1, 1};
    core->event_clock = (struct nx_clock){0, 1, 1};
    for (int e = 0; e < NX_DMA_ENGINES; e++)
        core->dma_clock[e] = (struct nx_clock){0, 1, 1};
    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        bool is_message = f.wire == NX_PB_BYTES;

        switch (f.number) {
        case 1: core->name = text(r, &f); break;
        case 2: core->device_index = (uint32_t)f.value; break;
        case 3: core->core_index = (uint32_t)f.value; break;
        case 4: status = read_code(r, f.bytes, core); break;
        case 5: status = read_patches(r, f.bytes, core); break;
        case 6:
            if (is_message)
                status = read_section(r, f.bytes, &core->sections[core->section_count++], &unused);
            break;
        case 7:
            if (is_message)
                status = read_ring(r, f.bytes, &core->rings[core->ring_count++]);
            break;
        case 10: status = read_clocks(r, f.bytes, core); break;
        case 11:
            if (is_message)
                status = read_memory(r, f.bytes, &core->memory[core->memory_count++]);
            break;
        case 14: core->exec_ps = f.value; break;
        default: skip(r, &f, " 15 "); break;
        }
    }
    return pb.problem ? malformed(r, &pb) : status;
}

/* device {1: repeated core}; there may be several */
static enum nx_status read_device(struct nx_ntff_reader *r, struct nx_bytes message)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_ntff *ntff = r->ntff;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        if (f.number != 1 || f.wire != NX_PB_BYTES)
            skip(r, &f, " 2 3 ");
        else if (ntff->core_count == MAX_CORES)
            return nx_fail_at(r->error, r->path, file_offset(r, message.data), "more than %d cores", MAX_CORES);
        else
            status = read_core(r, f.bytes, &ntff->cores[ntff->core_count++]);
    }
    return pb.problem ? malformed(r, &pb) : status;
}

/* node {4: device, 5: uuid} */
static enum nx_status read_node(struct nx_ntff_reader *r, struct nx_bytes message)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        if (f.number == 4 && f.wire == NX_PB_BYTES) {
            status = read_device(r, f.bytes);
        } else if (f.number == 5 && f.bytes.size == sizeof(r->ntff->uuid)) {
            memcpy(r->ntff->uuid, f.bytes.data, sizeof(r->ntff->uuid));
            r->ntff->uuid_size = sizeof(r->ntff->uuid);
            r->ntff->uuid_exact = true;
        } else {
            skip(r, &f, " 1 2 3 ");
        }
    }
    return pb.problem ? malformed(r, &pb) : status;
}

static enum nx_status read_execution(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_execution *execution)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1:
            execution->uuid_size = f.bytes.size < sizeof(execution->uuid) ? f.bytes.size : sizeof(execution->uuid);
            if (execution->uuid_size)
                memcpy(execution->uuid, f.bytes.data, execution->uuid_size);
            break;
        case 2: execution->start_ps = f.value; break;
        case 3: execution->end_ps = f.value; break;
        default: skip(r, &f, ""); break;
        }
    return pb.problem ? malformed(r, &pb) : NX_OK;
}

static enum nx_status read_capacity(struct nx_ntff_reader *r, struct nx_bytes message,
                                    struct nx_trace_capacity *capacity)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f))
        switch (f.number) {
        case 1: capacity->block = (uint32_t)f.value; break;
        case 2: capacity->type = (uint32_t)f.value; break;
        case 3: capacity->bytes = f.value; break;
        default: skip(r, &f, ""); break;
        }
    return pb.problem ? malformed(r, &pb) : NX_OK;
}

static enum nx_status read_top(struct nx_ntff_reader *r, struct nx_bytes message)
{
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_ntff *ntff = r->ntff;
    enum nx_status status = make_list(r, message, 15, MAX_EXECUTIONS, sizeof(*ntff->executions), &ntff->executions);

    ntff->neff_name = "";
    ntff->cores = nx_arena_alloc(&ntff->arena, MAX_CORES, sizeof(*ntff->cores));
    if (status == NX_OK)
        status = make_list(r, message, 13, MAX_MEMORY, sizeof(*ntff->capacities), &ntff->capacities);
    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        bool is_message = f.wire == NX_PB_BYTES;

        switch (f.number) {
        case 1: ntff->neff_name = text(r, &f); break;
        case 2: /* a C string of the writer: cut at the UUID's first NUL byte, perhaps with leftovers behind */
            if (!ntff->uuid_exact) {
                ntff->uuid_size = f.bytes.size < sizeof(ntff->uuid) ? f.bytes.size : sizeof(ntff->uuid);
                if (ntff->uuid_size)
                    memcpy(ntff->uuid, f.bytes.data, ntff->uuid_size);
            }
            break;
        case 4:
            if (is_message)
                status = read_node(r, f.bytes);
            break;
        case 5: ntff->cores_per_lnc = (uint32_t)f.value; break;
        case 7: ntff->capture_time = f.value; break;
        case 8: status = read_version(r, f.bytes, &ntff->runtime); break;
        case 9: ntff->instance_type = text(r, &f); break;
        case 11: status = read_version(r, f.bytes, &ntff->driver); break;
        case 12: status = read_version(r, f.bytes, &ntff->collectives); break;
        case 13:
            if (is_message)
                status = read_capacity(r, f.bytes, &ntff->capacities[ntff->capacity_count++]);
            break;
        case 15:
            if (is_message)
                status = read_execution(r, f.bytes, &ntff->executions[ntff->execution_count++]);
            break;
        case 16: break; /* sections, once all cores are known */
        case 17: ntff->instance_id = text(r, &f); break;
        case 18: ntff->pid = f.value; break;
        default: skip(r, &f, " 3 10 14 "); break;
        }
    }
    return pb.problem ? malformed(r, &pb) : status;
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

/* v6 lists all sections at the top, each with the index of its core: deals them out. */
static enum nx_status read_top_sections(struct nx_ntff_reader *r, struct nx_bytes message)
{
    struct nx_ntff *ntff = r->ntff;
    struct placed_section *list = NULL;
    size_t count = 0, size[MAX_CORES + 1] = {0};
    enum nx_status status = make_list(r, message, 16, MAX_SECTIONS, sizeof(*list), &list);

    if (status == NX_OK)
        status = read_placed_sections(r, message, list, &count);
    if (status != NX_OK || !count)
        return status;
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
    ntff->orphan_sections = nx_arena_alloc(&ntff->arena, size[ntff->core_count], sizeof(*ntff->orphan_sections));
    for (size_t i = 0; i < count; i++) {
        struct nx_ntff_core *core = list[i].core < ntff->core_count ? &ntff->cores[list[i].core] : NULL;

        if (core)
            core->sections[core->section_count++] = list[i].section;
        else
            ntff->orphan_sections[ntff->orphan_section_count++] = list[i].section;
    }
    if (ntff->orphan_section_count)
        nx_warn(&ntff->warnings, NX_WARN_INCONSISTENT,
                "%zu sections of records belong to a core that the trace does not describe",
                ntff->orphan_section_count);
    return NX_OK;
}

enum nx_status nx_ntff_read_metadata(struct nx_ntff_reader *reader, struct nx_bytes metadata)
{
    enum nx_status status = read_top(reader, metadata);

    if (status == NX_OK)
        status = read_top_sections(reader, metadata);
    if (status == NX_OK && reader->unknown_fields)
        nx_warn(&reader->ntff->warnings, NX_WARN_UNKNOWN,
                "%" PRIu64 " fields of the trace's metadata are not known (the first has number %" PRIu32 ")",
                reader->unknown_fields, reader->first_unknown);
    return status;
}
