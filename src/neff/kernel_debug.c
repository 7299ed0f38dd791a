/*
 * kernel_debug_info.json: from instructions back to the kernel's source.
 *
 * Its layout is not published.  What is read here is one object with three lists of flat objects, named and
 * keyed as the tables are that they fill (docs/format-neff.md).  A member of another layout gives no rows and
 * one warning: never an error, since the NEFF is sound, and never a guess.
 */
#include <stdlib.h>
#include <string.h>

#include "neff/reader.h"

#define MEMBER "kernel_debug_info.json"

struct reading {
    struct nx_neff_reader *r;
    const char *member;
    struct nx_kernel_debug *out;
    size_t inst_room, frame_room, loop_room;
    int64_t core;      /* that the member's name tells, or NX_NOT_GIVEN */
    bool unknown_keys; /* beside the known ones */
};

/* One key of an element. `known` counts the keys that are there. */
static bool text_of(struct reading *d, const json_t *object, const char *key, size_t *known, const char **out)
{
    const json_t *value = json_object_get(object, key);
    uint32_t number;

    *out = NULL;
    *known += value != NULL;
    if (!value || json_is_null(value))
        return true;
    if (!json_is_string(value))
        return false;
    number = nx_dict_add(&d->out->texts, json_string_value(value), json_string_length(value));
    *out = d->out->texts.entries[number].data;
    return true;
}

static bool number_of(const json_t *object, const char *key, size_t *known, int64_t *out)
{
    const json_t *value = json_object_get(object, key);

    *out = NX_NOT_GIVEN;
    *known += value != NULL;
    if (!value || json_is_null(value))
        return true;
    if (!json_is_integer(value))
        return false;
    *out = (int64_t)json_integer_value(value);
    return true;
}

static bool place_of(struct reading *d, const json_t *object, size_t *known, struct nx_kernel_place *place)
{
    bool sound = text_of(d, object, "file_path", known, &place->file) &&
                 number_of(object, "line_number", known, &place->line) &&
                 number_of(object, "pcore_idx", known, &place->core);

    if (place->core == NX_NOT_GIVEN)
        place->core = d->core;
    return sound;
}

/* Room for one more, counted against the limit: twice its size, as arrays grow by doubling. */
static enum nx_status charge(struct reading *d, size_t size)
{
    return nx_neff_work(d->r, d->member, 2 * size);
}

static enum nx_status finish(struct reading *d, const json_t *object, const char *list, bool sound,
                             size_t known)
{
    d->unknown_keys |= known < json_object_size(object);
    return sound ? NX_OK : nx_neff_member_fail(d->r, d->member, "an element of \"%s\" looks otherwise", list);
}

static enum nx_status read_inst(void *context, const json_t *object)
{
    struct reading *d = context;
    struct nx_kernel_inst inst = {0};
    const json_t *name = json_object_get(object, "kernel_instruction_name");
    size_t known = 1;
    bool sound = json_is_string(name) && place_of(d, object, &known, &inst.place) &&
                 number_of(object, "stack_frame_id", &known, &inst.frame) &&
                 number_of(object, "stack_frame_depth", &known, &inst.frame_depth) &&
                 number_of(object, "iteration_variables_id", &known, &inst.loop) &&
                 number_of(object, "iteration_variable_depth", &known, &inst.loop_depth);
    enum nx_status status = charge(d, sizeof(inst) + sizeof(*d->out->by_name));

    if (status != NX_OK || !sound)
        return status != NX_OK ? status : finish(d, object, "KernelInstructions", sound, known);
    inst.name = nx_arena_text(&d->r->neff->arena, json_string_value(name), json_string_length(name));
    d->out->insts = nx_grow(d->out->insts, d->out->inst_count, &d->inst_room, sizeof(inst));
    d->out->insts[d->out->inst_count++] = inst;
    return finish(d, object, "KernelInstructions", sound, known);
}

static enum nx_status read_frame(void *context, const json_t *object)
{
    struct reading *d = context;
    struct nx_kernel_frame frame = {0};
    size_t known = 0;
    bool sound = place_of(d, object, &known, &frame.place) &&
                 number_of(object, "stack_frame_id", &known, &frame.id) && frame.id != NX_NOT_GIVEN &&
                 number_of(object, "parent_stack_frame_id", &known, &frame.parent) &&
                 text_of(d, object, "fully_qualified_function_name", &known, &frame.function);
    enum nx_status status = charge(d, sizeof(frame));

    if (status != NX_OK || !sound)
        return status != NX_OK ? status : finish(d, object, "KernelStackFrames", sound, known);
    d->out->frames = nx_grow(d->out->frames, d->out->frame_count, &d->frame_room, sizeof(frame));
    d->out->frames[d->out->frame_count++] = frame;
    return finish(d, object, "KernelStackFrames", sound, known);
}

static enum nx_status read_loop(void *context, const json_t *object)
{
    struct reading *d = context;
    struct nx_kernel_loop loop = {0};
    size_t known = 0;
    bool sound = place_of(d, object, &known, &loop.place) &&
                 number_of(object, "iteration_variable_id", &known, &loop.id) && loop.id != NX_NOT_GIVEN &&
                 number_of(object, "parent_iteration_variable_id", &known, &loop.parent) &&
                 text_of(d, object, "variable_name", &known, &loop.variable) &&
                 number_of(object, "variable_value", &known, &loop.value);
    enum nx_status status = charge(d, sizeof(loop));

    if (status != NX_OK || !sound)
        return status != NX_OK ? status : finish(d, object, "KernelIterationVariables", sound, known);
    d->out->loops = nx_grow(d->out->loops, d->out->loop_count, &d->loop_room, sizeof(loop));
    d->out->loops[d->out->loop_count++] = loop;
    return finish(d, object, "KernelIterationVariables", sound, known);
}

static enum nx_status read_lists(struct reading *d, bool *found)
{
    struct nx_json_list lists[] = {{"KernelInstructions", read_inst, false},
                                   {"KernelStackFrames", read_frame, false},
                                   {"KernelIterationVariables", read_loop, false}};
    enum nx_status status = nx_neff_json_lists(d->r, d->member, lists, 3, d);

    *found = lists[0].found || lists[1].found || lists[2].found;
    return status;
}

/* Rows of all members before it stay; what a member of another layout gave so far goes. */
static void read_member(struct reading *d)
{
    struct nx_kernel_debug before = *d->out;
    struct nx_error why, *error = d->r->error;
    int64_t graph = nx_neff_graph_number(d->member);
    enum nx_status status;
    bool found;

    d->core = graph < 0 ? NX_NOT_GIVEN : graph;
    d->unknown_keys = false;
    d->r->error = &why;
    status = read_lists(d, &found);
    d->r->error = error;
    if (status != NX_OK || !found) {
        d->out->inst_count = before.inst_count;
        d->out->frame_count = before.frame_count;
        d->out->loop_count = before.loop_count;
        nx_warn(&d->r->neff->warnings, NX_WARN_UNKNOWN,
                "%s is there, but in a layout that this build does not know: no source lines and loops of the "
                "kernel",
                d->member);
    } else if (d->unknown_keys) {
        nx_warn(&d->r->neff->warnings, NX_WARN_UNKNOWN, "%s holds keys that this build does not know",
                d->member);
    }
}

static int by_name(const void *left, const void *right)
{
    const struct nx_kernel_inst *a = *(const struct nx_kernel_inst *const *)left;
    const struct nx_kernel_inst *b = *(const struct nx_kernel_inst *const *)right;
    int order = strcmp(a->name, b->name);

    if (order == 0)
        order = (a->place.core > b->place.core) - (a->place.core < b->place.core);
    return order ? order : (a > b) - (a < b);
}

static void sort_by_name(struct nx_kernel_debug *kernel)
{
    const struct nx_kernel_inst **order = nx_zalloc(kernel->inst_count, sizeof(*order));

    for (size_t i = 0; i < kernel->inst_count; i++)
        order[i] = &kernel->insts[i];
    qsort(order, kernel->inst_count, sizeof(*order), by_name);
    kernel->by_name = nx_zalloc(kernel->inst_count, sizeof(*kernel->by_name));
    for (size_t i = 0; i < kernel->inst_count; i++)
        kernel->by_name[i] = (uint32_t)(order[i] - kernel->insts);
    free(order);
}

void nx_neff_read_kernel_debug(struct nx_neff_reader *r)
{
    struct reading d = {.r = r, .out = &r->neff->kernel};

    for (size_t i = 0; i < r->kept_count; i++) {
        const char *slash = strrchr(r->kept[i].name, '/');

        if (strcmp(slash ? slash + 1 : r->kept[i].name, MEMBER) != 0)
            continue;
        d.member = r->kept[i].name;
        d.out->is_there = true;
        read_member(&d);
    }
    if (d.out->inst_count)
        sort_by_name(d.out);
}

/* The first in name order that is not before (name, core). */
static size_t lower_bound(const struct nx_kernel_debug *kernel, const char *name, int64_t core)
{
    size_t low = 0, high = kernel->inst_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct nx_kernel_inst *inst = &kernel->insts[kernel->by_name[middle]];
        int order = strcmp(inst->name, name);

        if (order < 0 || (order == 0 && inst->place.core < core))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct nx_kernel_inst *nx_kernel_find(const struct nx_kernel_debug *kernel, const char *name,
                                            int64_t core)
{
    const int64_t cores[] = {core, NX_NOT_GIVEN};

    for (size_t i = 0; i < 2; i++) {
        size_t at = lower_bound(kernel, name, cores[i]);
        const struct nx_kernel_inst *inst =
            at < kernel->inst_count ? &kernel->insts[kernel->by_name[at]] : NULL;

        if (inst && inst->place.core == cores[i] && strcmp(inst->name, name) == 0)
            return inst;
    }
    return NULL;
}
