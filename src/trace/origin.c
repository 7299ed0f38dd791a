/*
 * From the BIR entries that the code refers to up to the source: lines, HLO and framework operations, stack
 * frames, the kernel's own debug information.
 *
 * Each BIR entry and each penguin entry is followed once, however many instructions come from it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/gaps.h"
#include "base/memory.h"
#include "trace/build.h"

/*
 * "file:line" is longer than what it is made from: a file with one long name and many lines could ask for any
 * amount of memory.  Real kernels have thousands of lines.
 */
#define MAX_LINES_TEXT ((size_t)256 << 20)

/* What an entry of a level leads to; worked out when first asked for. */
struct of_hlo {
    bool known;
    const struct nx_dbg_entry *framework;
    uint32_t name, attrs;
};
struct of_penguin {
    bool known;
    const struct nx_dbg_entry *hlo;
    uint32_t line, stack_frames;
};

struct place_key { /* of a text that stands once in memory */
    const char *file;
    int64_t line;
};

struct origins {
    struct nx_trace *trace;
    const struct nx_trace_core *core;
    int64_t core_number;
    /* By the core's entries of each level: */
    uint32_t *of_bir; /* the origin, or NX_NONE */
    struct of_penguin *of_penguin;
    struct of_hlo *of_hlo;
    uint32_t *of_framework; /* its name; NX_NO_TEXT: not asked for yet, or empty */
    uint32_t *seen_frame;   /* by frame: the list it was last put in */
    uint32_t lists;
    struct nx_dict places; /* struct place_key -> number into `lines` */
    uint32_t *lines;       /* into nx_trace.lines */
    size_t lines_room, lines_text;
    struct nx_text text;
    size_t capacity;
    bool too_many_lines, bad_line;
    uint64_t with_line, with_hlo, with_framework, with_frames, with_kernel, total;
};

static uint32_t line_text(struct origins *o, const char *file, int64_t line)
{
    struct place_key key = {file, line};
    uint32_t known = o->places.count, number = nx_dict_add(&o->places, (const char *)&key, sizeof(key));

    if (number < known)
        return o->lines[number];
    o->lines = nx_grow(o->lines, known, &o->lines_room, sizeof(*o->lines));
    o->lines[number] = NX_NO_TEXT;
    o->lines_text += strlen(file) + 20;
    if (o->lines_text > MAX_LINES_TEXT) {
        o->too_many_lines = true;
        return NX_NO_TEXT;
    }
    nx_text_clear(&o->text);
    nx_text_puts(&o->text, file);
    nx_text_printf(&o->text, ":%" PRId64, line);
    o->lines[number] = nx_dict_add(&o->trace->lines, nx_text_string(&o->text), o->text.size);
    return o->lines[number];
}

/* The line that the entry's attributes name, or NX_NO_TEXT. */
static uint32_t entry_line(struct origins *o, const struct nx_dbg *dbg, const struct nx_dbg_entry *entry)
{
    const char *file;
    int64_t line;

    if (nx_dbg_source(dbg, entry, &file, &line))
        return line_text(o, file, line);
    o->bad_line |= nx_dbg_attr(entry, "kernel_line") != NULL;
    return NX_NO_TEXT;
}

static const struct nx_dbg_entry *first_parent(const struct nx_dbg *above, const struct nx_dbg_entry *entry)
{
    return entry && entry->parent_count ? nx_dbg_find(above, entry->parents[0]) : NULL;
}

/* {"op_type":"dot","source_line":"12"}: the attributes in the order of the file. */
static uint32_t attrs_text(struct origins *o, const struct nx_dbg_entry *entry)
{
    if (!entry->attr_count)
        return NX_NO_TEXT;
    nx_text_clear(&o->text);
    for (size_t i = 0; i < entry->attr_count; i++) {
        nx_text_puts(&o->text, i ? ", " : "{");
        nx_text_json_string(&o->text, entry->attrs[i].key, strlen(entry->attrs[i].key));
        nx_text_puts(&o->text, ": ");
        nx_text_json_string(&o->text, entry->attrs[i].value, strlen(entry->attrs[i].value));
    }
    nx_text_puts(&o->text, "}");
    return nx_dict_add(&o->trace->hlo_attrs, nx_text_string(&o->text), o->text.size);
}

static void open_list(struct origins *o)
{
    nx_text_clear(&o->text);
    o->lists++;
}

/* Once a list: operations that were fused share frames. */
static void add_frame(struct origins *o, uint64_t frame)
{
    if (frame == 0 || o->seen_frame[frame] == o->lists)
        return;
    o->seen_frame[frame] = o->lists;
    nx_text_printf(&o->text, "%s%" PRIu64, o->text.size ? ", " : "[", frame);
}

static uint32_t close_list(struct origins *o)
{
    if (!o->text.size)
        return NX_NO_TEXT;
    nx_text_puts(&o->text, "]");
    return nx_dict_add(&o->trace->stack_frames, nx_text_string(&o->text), o->text.size);
}

static uint32_t one_frame(struct origins *o, const struct nx_dbg_entry *entry)
{
    open_list(o);
    add_frame(o, entry->stack_frame_id);
    return close_list(o);
}

static uint32_t frames_above(struct origins *o, const struct nx_dbg_entry *penguin)
{
    open_list(o);
    for (size_t i = 0; i < penguin->parent_count; i++) {
        const struct nx_dbg_entry *hlo = nx_dbg_find(&o->core->neff->hlo, penguin->parents[i]);

        if (hlo)
            add_frame(o, hlo->stack_frame_id);
    }
    return close_list(o);
}

static uint32_t name_text(struct nx_dict *dict, const struct nx_dbg_entry *entry)
{
    return entry->name[0] ? nx_dict_add_string(dict, entry->name) : NX_NO_TEXT;
}

static const struct of_hlo *follow_hlo(struct origins *o, const struct nx_dbg_entry *hlo)
{
    struct of_hlo *up = &o->of_hlo[hlo - o->core->neff->hlo.entries];

    if (!up->known)
        *up = (struct of_hlo){true, first_parent(&o->core->neff->framework, hlo),
                              name_text(&o->trace->hlo_names, hlo), attrs_text(o, hlo)};
    return up;
}

static uint32_t layer_text(struct origins *o, const struct nx_dbg_entry *framework)
{
    uint32_t *layer = &o->of_framework[framework - o->core->neff->framework.entries];

    if (*layer == NX_NO_TEXT)
        *layer = name_text(&o->trace->layers, framework);
    return *layer;
}

static const struct of_penguin *follow_penguin(struct origins *o, const struct nx_dbg_entry *penguin)
{
    const struct nx_neff_graph *graph = o->core->neff;
    struct of_penguin *up = &o->of_penguin[penguin - graph->penguin.entries];

    if (!up->known)
        *up = (struct of_penguin){true, first_parent(&graph->hlo, penguin),
                                  entry_line(o, &graph->penguin, penguin),
                                  penguin->stack_frame_id ? one_frame(o, penguin) : frames_above(o, penguin)};
    return up;
}

/* Kernel instructions are named as BIR instructions are, or with the number of the penguin instruction behind
 * it. */
static const struct nx_kernel_inst *kernel_inst(struct origins *o, const struct nx_dbg_entry *bir)
{
    const struct nx_kernel_debug *kernel = &o->trace->neff->kernel;
    const struct nx_kernel_inst *found;

    if (!kernel->inst_count || !bir->name[0])
        return NULL;
    found = nx_kernel_find(kernel, bir->name, o->core_number);
    if (found || !bir->parent_count)
        return found;
    nx_text_clear(&o->text);
    nx_text_puts(&o->text, bir->name);
    nx_text_printf(&o->text, ":%" PRIu64, bir->parents[0] & 0xffffffffffffU);
    return nx_kernel_find(kernel, nx_text_string(&o->text), o->core_number);
}

static void follow_kernel(struct origins *o, struct nx_origin *origin)
{
    const struct nx_kernel_inst *kernel = kernel_inst(o, origin->bir);

    if (!kernel)
        return;
    origin->kernel_name = nx_dict_add_string(&o->trace->kernel_names, kernel->name);
    if (kernel->place.file && kernel->place.line >= 0)
        origin->kernel_line = line_text(o, kernel->place.file, kernel->place.line);
}

static void follow_up(struct origins *o, struct nx_origin *origin)
{
    const struct of_penguin *penguin = follow_penguin(o, origin->penguin);

    if (origin->line == NX_NO_TEXT)
        origin->line = penguin->line;
    if (origin->stack_frames == NX_NO_TEXT)
        origin->stack_frames = penguin->stack_frames;
    origin->hlo = penguin->hlo;
    if (origin->hlo) {
        const struct of_hlo *hlo = follow_hlo(o, origin->hlo);

        origin->hlo_name = hlo->name;
        origin->hlo_attrs = hlo->attrs;
        origin->framework = hlo->framework;
    }
    if (origin->framework) {
        origin->layer = layer_text(o, origin->framework);
        if (origin->stack_frames == NX_NO_TEXT && origin->framework->stack_frame_id)
            origin->stack_frames = one_frame(o, origin->framework);
    }
}

static void follow_bir(struct origins *o, const struct nx_dbg_entry *bir, struct nx_origin *origin)
{
    const struct nx_neff_graph *graph = o->core->neff;

    *origin = (struct nx_origin){.bir = bir,
                                 .penguin = first_parent(&graph->penguin, bir),
                                 .name = nx_dict_add_string(&o->trace->bir_names, bir->name),
                                 .line = entry_line(o, &graph->bir, bir),
                                 .kernel_line = NX_NO_TEXT,
                                 .kernel_name = NX_NO_TEXT,
                                 .hlo_name = NX_NO_TEXT,
                                 .hlo_attrs = NX_NO_TEXT,
                                 .layer = NX_NO_TEXT,
                                 .stack_frames = bir->stack_frame_id ? one_frame(o, bir) : NX_NO_TEXT};
    follow_kernel(o, origin);
    if (origin->penguin)
        follow_up(o, origin);
}

static void count(struct origins *o, const struct nx_origin *origin)
{
    o->total++;
    o->with_line += origin->line != NX_NO_TEXT;
    o->with_hlo += origin->hlo != NULL;
    o->with_framework += origin->framework != NULL;
    o->with_frames += origin->stack_frames != NX_NO_TEXT;
    o->with_kernel += origin->kernel_name != NX_NO_TEXT;
}

static uint32_t origin_of(struct origins *o, const struct nx_dbg_entry *bir)
{
    struct nx_trace *trace = o->trace;
    uint32_t *number = &o->of_bir[bir - o->core->neff->bir.entries];

    if (*number == NX_NONE) {
        trace->origins = nx_grow(trace->origins, trace->origin_count, &o->capacity, sizeof(*trace->origins));
        *number = trace->origin_count;
        follow_bir(o, bir, &trace->origins[trace->origin_count++]);
    }
    count(o, &trace->origins[*number]);
    return *number;
}

/* Numbers that are all NX_NONE, or NX_NO_TEXT. */
static uint32_t *filled(size_t count)
{
    uint32_t *numbers = nx_alloc(count * sizeof(*numbers));

    memset(numbers, 0xff, count * sizeof(*numbers));
    return numbers;
}

static void build_core(struct origins *o, uint32_t c)
{
    struct nx_trace *trace = o->trace;
    const struct nx_neff_graph *graph = trace->cores[c].neff;

    if (!graph || !graph->bir.count)
        return;
    o->core = &trace->cores[c];
    o->core_number = c;
    o->of_bir = filled(graph->bir.count);
    o->of_penguin = nx_zalloc(graph->penguin.count, sizeof(*o->of_penguin));
    o->of_hlo = nx_zalloc(graph->hlo.count, sizeof(*o->of_hlo));
    o->of_framework = filled(graph->framework.count);
    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        for (uint32_t i = 0; i < o->core->inst_count[e]; i++) {
            struct nx_code_inst *inst = &trace->insts[o->core->first_inst[e] + i];

            if (!inst->bir)
                continue;
            inst->origin = origin_of(o, inst->bir);
            inst->bir_name = trace->origins[inst->origin].name;
        }
    free(o->of_bir);
    free(o->of_penguin);
    free(o->of_hlo);
    free(o->of_framework);
}

/* What is missing is decided when the model is compiled: one sentence for each setting. */
static void warn_about_gaps(const struct origins *o)
{
    struct nx_warnings *warnings = &o->trace->warnings;

    if (o->too_many_lines)
        nx_warn(warnings, NX_WARN_UNKNOWN,
                "the names of the source files are too long to keep: some lines are left out");
    if (o->bad_line)
        nx_warn(warnings, NX_WARN_INCONSISTENT,
                "debug information names source lines of files that it does not have: they are left out");
    if (!o->total)
        return; /* not even BIR names: said when the NEFF was read */
    if (!o->with_line)
        nx_warn(warnings, NX_WARN_MISSING, NX_SAY_NO_LINES);
    if (!o->with_kernel && o->trace->neff->kernel.inst_count)
        nx_warn(
            warnings, NX_WARN_INCONSISTENT,
            "the kernel's debug information names no instruction of the code (nki_source_location is NULL)");
    if (!o->with_kernel && !o->trace->neff->kernel.is_there)
        nx_warn(warnings, NX_WARN_MISSING, NX_SAY_NO_KERNEL_LINES);
    if (!o->with_hlo || !o->with_framework)
        nx_warn(warnings, NX_WARN_MISSING, NX_SAY_NO_LEVELS,
                o->with_hlo ? "the framework (layer)" : "HLO and the framework (hlo_name, layer)");
    if (!o->with_frames)
        nx_warn(warnings, NX_WARN_MISSING, NX_SAY_NO_STACK_FRAMES);
}

void nx_build_origins(struct nx_trace *trace)
{
    struct origins o = {.trace = trace};

    o.seen_frame = nx_zalloc((size_t)trace->neff->stack.frame_count + 1, sizeof(*o.seen_frame));
    for (uint32_t c = 0; c < trace->core_count; c++)
        build_core(&o, c);
    warn_about_gaps(&o);
    free(o.seen_frame);
    free(o.lines);
    nx_dict_free(&o.places);
    nx_text_free(&o.text);
}
