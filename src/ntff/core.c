/* One physical core of the metadata ("graph"): what ran, its DMA rings, clocks and memory. */
#include <inttypes.h>
#include <string.h>

#include "base/queue_name.h"
#include "ntff/metadata.h"

#define INSTRUCTION_SIZE 64

/* Far above anything real; see nx_ntff_list. */
#define MAX_RINGS 4096 /* 16 on each of 16 engines */
#define MAX_BLOCKS ((size_t)1 << 20)
#define MAX_PATCHES ((size_t)1 << 20)
#define MAX_MEMORY 4096

static enum nx_status read_code(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ntff_core *core)
{
    static const struct nx_ntff_message kind = {.name = "code",
                                                .numbers =
                                                    NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(7) | NX_FIELD(8),
                                                .bytes = NX_FIELD(3)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_ntff_code *code;
    struct nx_bytes inlined = {0};
    uint64_t engine = 0, address = 0, offset = 0, size = 0;

    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            engine = f.value;
            break;
        case 2:
            address = f.value;
            break;
        case 3:
            inlined = f.bytes;
            break; /* v4, v5 */
        case 7:
            offset = f.value;
            break; /* v6: in the raw area */
        default:
            size = f.value;
            break;
        }
    if (pb.problem)
        return nx_ntff_walked(r, &pb);
    if (engine >= NX_ENGINE_COUNT)
        return nx_fail_at(r->error, r->path, nx_ntff_offset(r, message),
                          "code of engine %" PRIu64 ": expected 0 to %d", engine, NX_ENGINE_COUNT - 1);
    code = &core->code[engine];
    if (code->bytes.size)
        nx_warn(&r->ntff->warnings, NX_WARN_INCONSISTENT,
                "the code of %s on %s is given twice: the last is used",
                nx_engine_title((enum nx_engine)engine), core->name);
    code->address = address;
    code->in_raw_area = size != 0;
    code->bytes = size ? nx_ntff_place(r, "code", message, offset, size) : inlined;
    if (code->bytes.size % INSTRUCTION_SIZE)
        nx_warn(&r->ntff->warnings, NX_WARN_INCONSISTENT,
                "the code of %s on %s is not a whole number of instructions",
                nx_engine_title((enum nx_engine)engine), core->name);
    return NX_OK;
}

static enum nx_status read_patch(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_patch *patch)
{
    static const struct nx_ntff_message kind = {.name = "patch",
                                                .numbers = NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(3)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            patch->offset = f.value;
            break;
        case 2:
            patch->count = f.value;
            break;
        default:
            patch->type = nx_ntff_u32(&f);
            break;
        }
    return nx_ntff_walked(r, &pb);
}

static enum nx_status read_patches(struct nx_ntff_reader *r, struct nx_bytes message,
                                   struct nx_ntff_core *core)
{
    static const struct nx_ntff_message kind = {
        .name = "patches", .numbers = NX_FIELD(1), .bytes = NX_FIELD(2)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    struct nx_patch *list = NULL;
    struct nx_ntff_code *code;
    size_t count = 0;
    uint64_t engine = 0;
    enum nx_status status = nx_ntff_list(r, message, 2, MAX_PATCHES, sizeof(*list), &list);

    while (status == NX_OK && nx_ntff_next(r, &pb, &f, &kind))
        if (f.number == 1)
            engine = f.value;
        else
            status = read_patch(r, f.bytes, &list[count++]);
    if (status == NX_OK)
        status = nx_ntff_walked(r, &pb);
    if (status != NX_OK)
        return status;
    if (engine >= NX_ENGINE_COUNT)
        return nx_fail_at(r->error, r->path, nx_ntff_offset(r, message),
                          "patches of engine %" PRIu64 ": expected 0 to %d", engine, NX_ENGINE_COUNT - 1);
    code = &core->code[engine];
    if (code->patch_count)
        nx_warn(&r->ntff->warnings, NX_WARN_INCONSISTENT,
                "the patches of %s on %s are given twice: the last list is used",
                nx_engine_title((enum nx_engine)engine), core->name);
    code->patches = list;
    code->patch_count = count;
    return NX_OK;
}

static enum nx_status read_ring_block(struct nx_ntff_reader *r, struct nx_bytes message,
                                      struct nx_ring_block *block)
{
    static const struct nx_ntff_message kind = {
        .name = "ring block", .numbers = NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(3) | NX_FIELD(4)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            block->id = nx_ntff_u32(&f);
            break;
        case 2:
            block->packets = f.value;
            break;
        case 3:
            block->m2s_descriptors = f.value;
            break;
        default:
            block->s2m_descriptors = f.value;
            break;
        }
    return nx_ntff_walked(r, &pb);
}

static enum nx_status read_ring(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ntff_ring *ring)
{
    static const struct nx_ntff_message kind = {.name = "ring",
                                                .numbers = NX_FIELD(1) | NX_FIELD(2) | NX_FIELD(3) |
                                                           NX_FIELD(5) | NX_FIELD(6) | NX_FIELD(7),
                                                .bytes = NX_FIELD(4) | NX_FIELD(8)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    char display[256];
    enum nx_status status = nx_ntff_list(r, message, 8, MAX_BLOCKS, sizeof(*ring->blocks), &ring->blocks);

    ring->name = "";
    while (status == NX_OK && nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            ring->engine = nx_ntff_u32(&f);
            break;
        case 2:
            ring->index = nx_ntff_u32(&f);
            break;
        case 3:
            ring->type = nx_ntff_u32(&f);
            break;
        case 4:
            ring->name = nx_ntff_text(r, &f);
            break;
        case 5:
            ring->event_id = (int64_t)f.value;
            break;
        case 6:
            ring->axi_port = nx_ntff_u32(&f);
            break;
        case 7:
            ring->dram_channel = nx_ntff_u32(&f);
            break;
        default:
            status = read_ring_block(r, f.bytes, &ring->blocks[ring->block_count++]);
            break;
        }
    nx_display_queue(ring->name, display, sizeof(display));
    ring->display_name = nx_arena_text(&r->ntff->arena, display, strlen(display));
    return status == NX_OK ? nx_ntff_walked(r, &pb) : status;
}

static enum nx_status read_memory(struct nx_ntff_reader *r, struct nx_bytes message,
                                  struct nx_memory_use *use)
{
    static const struct nx_ntff_message kind = {
        .name = "memory", .numbers = NX_FIELD(1) | NX_FIELD(2), .bytes = NX_FIELD(3)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;

    while (nx_ntff_next(r, &pb, &f, &kind))
        switch (f.number) {
        case 1:
            use->category = nx_ntff_u32(&f);
            break;
        case 2:
            use->bytes = f.value;
            break;
        default:
            use->name = nx_ntff_text(r, &f);
            break;
        }
    return nx_ntff_walked(r, &pb);
}

static enum nx_status read_field(struct nx_ntff_reader *r, const struct nx_pb_field *f,
                                 struct nx_ntff_core *core)
{
    switch (f->number) {
    case 1:
        core->name = nx_ntff_text(r, f);
        break;
    case 2:
        core->device_index = nx_ntff_u32(f);
        break;
    case 3:
        core->core_index = nx_ntff_u32(f);
        break;
    case 4:
        return read_code(r, f->bytes, core);
    case 5:
        return read_patches(r, f->bytes, core);
    case 7:
        return read_ring(r, f->bytes, &core->rings[core->ring_count++]);
    case 10:
        return nx_ntff_read_clocks(r, f->bytes, core);
    case 11:
        return read_memory(r, f->bytes, &core->memory[core->memory_count++]);
    case 14:
        core->exec_ps = f->value;
        break;
    default:
        break; /* 6: sections, in a walk of their own */
    }
    return NX_OK;
}

enum nx_status nx_ntff_read_core(struct nx_ntff_reader *r, struct nx_bytes message, struct nx_ntff_core *core)
{
    static const struct nx_ntff_message kind = {.name = "core",
                                                .numbers = NX_FIELD(2) | NX_FIELD(3) | NX_FIELD(14),
                                                .bytes = NX_FIELD(1) | NX_FIELD(4) | NX_FIELD(5) |
                                                         NX_FIELD(6) | NX_FIELD(7) | NX_FIELD(10) |
                                                         NX_FIELD(11),
                                                .ignored = NX_FIELD(15)};
    struct nx_pb pb = nx_pb_open(message);
    struct nx_pb_field f;
    enum nx_status status = nx_ntff_list(r, message, 7, MAX_RINGS, sizeof(*core->rings), &core->rings);

    core->name = "";
    if (status == NX_OK)
        status = nx_ntff_list(r, message, 11, MAX_MEMORY, sizeof(*core->memory), &core->memory);
    while (status == NX_OK && nx_ntff_next(r, &pb, &f, &kind))
        status = read_field(r, &f, core);
    if (status == NX_OK)
        status = nx_ntff_walked(r, &pb);
    nx_ntff_complete_clocks(r, core, status == NX_OK);
    return status == NX_OK ? nx_ntff_read_core_sections(r, message, core) : status;
}
