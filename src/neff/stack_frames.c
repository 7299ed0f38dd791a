/*
 * The stack frame index inside of debug information: where in the model's source an operation was made.
 *
 * Four tables, each a repeated field, that name each other's rows by numbers that count from 1, as in the
 * index of XLA that it mirrors.  Debug files of one NEFF may each bring an index of their own: they are put
 * one behind another, and the numbers moved with them.
 */
#include <stdlib.h>

#include "neff/reader.h"

enum { MESSAGE_STACK = 6 };
enum { STACK_FILE = 1, STACK_FUNCTION, STACK_LOCATION, STACK_FRAME };
enum { LOCATION_FILE = 1, LOCATION_FUNCTION, LOCATION_LINE };
enum { FRAME_LOCATION = 1, FRAME_PARENT };

struct source {
    struct nx_neff_reader *r;
    const char *member;
    struct nx_bytes message; /* the whole member's */
    /* How many of each were there before: what its numbers are moved by. */
    uint32_t files, functions, locations, frames;
    bool out_of_range; /* some number names a row that the index does not have */
};

static enum nx_status malformed(const struct source *s, const struct nx_pb *pb)
{
    return nx_neff_malformed(s->r, s->member, s->message, pb);
}

static uint32_t number(const struct nx_pb_field *f)
{
    return f->wire == NX_PB_VARINT && f->value <= INT32_MAX ? (uint32_t)f->value : UINT32_MAX;
}

static enum nx_status read_location(struct source *s, struct nx_bytes bytes, struct nx_stack_location *out)
{
    struct nx_pb pb = nx_pb_open(bytes);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f))
        if (f.number == LOCATION_FILE)
            out->file = number(&f);
        else if (f.number == LOCATION_FUNCTION)
            out->function = number(&f);
        else if (f.number == LOCATION_LINE)
            out->line = number(&f) == UINT32_MAX ? 0 : (int32_t)number(&f);
        else
            nx_neff_unknown_field(s->r, s->member, "a file location", &f);
    return pb.problem ? malformed(s, &pb) : NX_OK;
}

static enum nx_status read_frame(struct source *s, struct nx_bytes bytes, struct nx_stack_frame *out)
{
    struct nx_pb pb = nx_pb_open(bytes);
    struct nx_pb_field f;

    while (nx_pb_next(&pb, &f))
        if (f.number == FRAME_LOCATION)
            out->location = number(&f);
        else if (f.number == FRAME_PARENT)
            out->parent = number(&f);
        else
            nx_neff_unknown_field(s->r, s->member, "a stack frame", &f);
    return pb.problem ? malformed(s, &pb) : NX_OK;
}

static const char **add_text(struct source *s, const char **list, uint32_t *count, size_t *capacity,
                             struct nx_bytes text)
{
    list = nx_grow(list, *count, capacity, sizeof(*list));
    list[(*count)++] = nx_arena_text(&s->r->neff->arena, text.data, text.size);
    return list;
}

static enum nx_status read_row(struct source *s, const struct nx_pb_field *f)
{
    struct nx_stack_index *index = &s->r->neff->stack;
    struct nx_stack_room *room = &s->r->stack;
    /* twice a row: arrays grow by doubling */
    enum nx_status status = nx_neff_work(s->r, s->member, f->bytes.size + 4 * sizeof(char *));

    if (status != NX_OK)
        return status;
    if ((uint64_t)index->file_name_count + index->function_name_count + index->location_count +
            index->frame_count >=
        INT32_MAX)
        return nx_neff_member_fail(s->r, s->member, "its stack frames are more than can be numbered");
    switch (f->number) {
    case STACK_FILE:
        index->file_names =
            add_text(s, index->file_names, &index->file_name_count, &room->file_names, f->bytes);
        return NX_OK;
    case STACK_FUNCTION:
        index->function_names =
            add_text(s, index->function_names, &index->function_name_count, &room->function_names, f->bytes);
        return NX_OK;
    case STACK_LOCATION:
        index->locations =
            nx_grow(index->locations, index->location_count, &room->locations, sizeof(*index->locations));
        index->locations[index->location_count] = (struct nx_stack_location){0};
        return read_location(s, f->bytes, &index->locations[index->location_count++]);
    case STACK_FRAME:
        index->frames = nx_grow(index->frames, index->frame_count, &room->frames, sizeof(*index->frames));
        index->frames[index->frame_count] = (struct nx_stack_frame){0};
        return read_frame(s, f->bytes, &index->frames[index->frame_count++]);
    default:
        nx_neff_unknown_field(s->r, s->member, "the stack frame index", f);
        return NX_OK;
    }
}

static enum nx_status read_index(struct source *s, struct nx_bytes bytes)
{
    struct nx_pb pb = nx_pb_open(bytes);
    struct nx_pb_field f;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_pb_next(&pb, &f)) {
        if (f.wire == NX_PB_BYTES)
            status = read_row(s, &f);
        else
            nx_neff_unknown_field(s->r, s->member, "the stack frame index", &f);
    }
    return status == NX_OK && pb.problem ? malformed(s, &pb) : status;
}

/* A number of this index, of rows [first, end) of all, as a number of all. */
static uint32_t moved(struct source *s, uint32_t value, uint32_t first, uint32_t end)
{
    if (value == 0)
        return 0;
    if (value <= end - first)
        return first + value;
    s->out_of_range = true;
    return 0;
}

static void move_numbers(struct source *s)
{
    struct nx_stack_index *index = &s->r->neff->stack;

    for (uint32_t i = s->locations; i < index->location_count; i++) {
        struct nx_stack_location *location = &index->locations[i];

        location->file = moved(s, location->file, s->files, index->file_name_count);
        location->function = moved(s, location->function, s->functions, index->function_name_count);
    }
    for (uint32_t i = s->frames; i < index->frame_count; i++) {
        struct nx_stack_frame *frame = &index->frames[i];

        frame->location = moved(s, frame->location, s->locations, index->location_count);
        frame->parent = moved(s, frame->parent, s->frames, index->frame_count);
    }
    if (s->out_of_range)
        nx_warn(&s->r->neff->warnings, NX_WARN_INCONSISTENT,
                "%s: stack frames name places or names that their index does not have", s->member);
}

static bool is_same(struct nx_bytes a, struct nx_bytes b)
{
    return a.size == b.size && a.size && memcmp(a.data, b.data, a.size) == 0;
}

/* The fields 6 of the message: how many, and the last one. */
static enum nx_status find_index(const struct source *s, size_t *count, struct nx_bytes *index)
{
    struct nx_pb pb = nx_pb_open(s->message);
    struct nx_pb_field f;

    *count = 0;
    while (nx_pb_next(&pb, &f))
        if (f.number == MESSAGE_STACK && f.wire == NX_PB_BYTES) {
            *index = f.bytes;
            ++*count;
        }
    return pb.problem ? malformed(s, &pb) : NX_OK;
}

/* Protobuf's rule: of a message field that stands several times, the pieces make one message. */
static enum nx_status read_pieces(struct source *s)
{
    struct nx_pb pb = nx_pb_open(s->message);
    struct nx_pb_field f;
    enum nx_status status = NX_OK;

    while (status == NX_OK && nx_pb_next(&pb, &f))
        if (f.number == MESSAGE_STACK && f.wire == NX_PB_BYTES)
            status = read_index(s, f.bytes);
    return status;
}

enum nx_status nx_neff_read_stack(struct nx_neff_reader *r, const char *member, struct nx_bytes message,
                                  bool may_be_bare, struct nx_frame_range *range)
{
    struct nx_stack_index *index = &r->neff->stack;
    struct source s = {r,
                       member,
                       message,
                       index->file_name_count,
                       index->function_name_count,
                       index->location_count,
                       index->frame_count,
                       false};
    struct nx_bytes bytes = {0};
    size_t count;
    enum nx_status status = find_index(&s, &count, &bytes);

    *range = (struct nx_frame_range){0};
    if (status != NX_OK || (!count && !may_be_bare))
        return status;
    if (!count)
        bytes = message;
    if (count <= 1 && is_same(bytes, r->stack.last)) {
        *range = r->stack.last_range;
        return NX_OK;
    }
    status = count ? read_pieces(&s) : read_index(&s, bytes);
    if (status != NX_OK) {
        index->file_name_count = s.files;
        index->function_name_count = s.functions;
        index->location_count = s.locations;
        index->frame_count = s.frames;
        return status;
    }
    move_numbers(&s);
    *range = (struct nx_frame_range){s.frames, index->frame_count - s.frames};
    r->stack.last = count <= 1 ? bytes : (struct nx_bytes){0};
    r->stack.last_range = *range;
    return NX_OK;
}

struct resolving {
    struct nx_frame_range common;
    bool without_index, out_of_range;
};

static void resolve(struct nx_dbg *dbg, struct resolving *so_far)
{
    for (size_t i = 0; i < dbg->count; i++) {
        struct nx_dbg_entry *entry = &dbg->entries[i];
        const struct nx_dbg_file *file = &dbg->files[entry->file];
        struct nx_frame_range range = {file->first_frame, file->frame_count};

        if (entry->stack_frame_id == 0)
            continue;
        if (!range.count)
            range = so_far->common;
        if (entry->stack_frame_id <= range.count) {
            entry->stack_frame_id += range.first;
            continue;
        }
        so_far->without_index |= !range.count;
        so_far->out_of_range |= range.count > 0;
        entry->stack_frame_id = 0;
    }
}

void nx_neff_resolve_frames(struct nx_neff_reader *r, struct nx_neff_graph *graph,
                            struct nx_frame_range common)
{
    struct nx_dbg *levels[] = {&graph->framework, &graph->hlo, &graph->penguin, &graph->bir, &graph->dma_bir};
    struct resolving so_far = {.common = common};

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        for (size_t k = 0; k < levels[i]->file_count && !so_far.common.count; k++)
            so_far.common =
                (struct nx_frame_range){levels[i]->files[k].first_frame, levels[i]->files[k].frame_count};
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
        resolve(levels[i], &so_far);
    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        resolve(&graph->engines[e].assembly, &so_far);
    if (so_far.without_index)
        nx_warn(&r->neff->warnings, NX_WARN_MISSING,
                "debug information names stack frames, but the NEFF holds no index of them: no source of the "
                "model");
    if (so_far.out_of_range)
        nx_warn(&r->neff->warnings, NX_WARN_INCONSISTENT,
                "debug information names stack frames that their index does not have");
}
