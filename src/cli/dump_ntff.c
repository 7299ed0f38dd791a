/* dump ntff: the structure of a trace, and its records by kind. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/dump.h"
#include "ntff/ntff.h"

#define MAX_KINDS 64

/* Few kinds, each with one static text: found by its address. */
struct census {
    const char *kind[MAX_KINDS];
    uint64_t records[MAX_KINDS];
    size_t count;
};

static void count_record(struct census *census, const char *kind)
{
    size_t i = 0;

    while (i < census->count && census->kind[i] != kind)
        i++;
    if (i == MAX_KINDS)
        return;
    if (i == census->count)
        census->kind[census->count++] = kind;
    census->records[i]++;
}

/* Where 0 stands for "not given". */
static json_t *number_or_null(uint64_t value)
{
    return value ? nx_dump_number(value) : json_null();
}

static json_t *hex(uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "0x%" PRIx64, value);
    return json_string(text);
}

static json_t *dump_version(const struct nx_version *version)
{
    if (!version->present)
        return json_null();
    return json_pack("{s:o,s:o,s:o,s:o}", "major", nx_dump_number(version->major), "minor",
                     nx_dump_number(version->minor), "patch", nx_dump_number(version->patch), "git_hash",
                     nx_dump_text(version->git_hash));
}

static json_t *dump_clock(const char *name, const struct nx_clock *clock)
{
    return json_pack("{s:s,s:o,s:o,s:o}", "clock", name, "init", nx_dump_number(clock->init),
                     "counts_per_tick_x1024", nx_dump_number(clock->actual), "ps_per_tick_x1024",
                     nx_dump_number(clock->expected));
}

static const char *block_name(uint32_t block)
{
    static const char *const names[] = {"core", "dma", "topsp"};

    return block < sizeof(names) / sizeof(names[0]) ? names[block] : "unknown";
}

struct totals {
    uint64_t records, unknown;
};

/* Lists the sections and counts their records by kind. */
static json_t *dump_sections(const struct nx_ntff_section *sections, size_t section_count, json_t **kinds,
                             struct totals *totals)
{
    json_t *list = json_array();
    struct census census = {0};

    for (size_t s = 0; s < section_count; s++) {
        const struct nx_ntff_section *section = &sections[s];
        size_t records = section->records.size / NX_NTFF_RECORD_SIZE;

        json_array_append_new(
            list,
            json_pack("{s:s,s:o,s:s,s:o,s:o,s:o,s:o}", "type", nx_ntff_section_name(section->type), "type_number",
                      nx_dump_number(section->type), "block", block_name(section->block), "block_number",
                      nx_dump_number(section->block), "block_index", nx_dump_number(section->block_index),
                      "offset", nx_dump_number(section->file_offset), "records", nx_dump_number(records)));
        for (size_t i = 0; i < records; i++) {
            bool known;
            const char *kind = nx_record_describe(
                section, nx_record_load(section->records.data + i * NX_NTFF_RECORD_SIZE), &known);

            count_record(&census, kind);
            totals->unknown += !known;
        }
        totals->records += records;
    }
    *kinds = json_object();
    for (size_t i = 0; i < census.count; i++)
        json_object_set_new(*kinds, census.kind[i], nx_dump_number(census.records[i]));
    return list;
}

static json_t *dump_patches(const struct nx_ntff_code *code)
{
    static const char *const names[] = {"inserted", "modified", "deleted"};
    json_t *list = json_array();

    for (size_t p = 0; p < code->patch_count; p++) {
        const struct nx_patch *patch = &code->patches[p];

        json_array_append_new(list,
                              json_pack("{s:o,s:o,s:o,s:s}", "offset", nx_dump_number(patch->offset), "count",
                                        nx_dump_number(patch->count), "type", nx_dump_number(patch->type),
                                        "meaning", patch->type < 3 ? names[patch->type] : "unknown"));
    }
    return list;
}

static json_t *dump_code(const struct nx_ntff_core *core)
{
    json_t *list = json_array();

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        const struct nx_ntff_code *code = &core->code[e];

        json_array_append_new(
            list, json_pack("{s:s,s:o,s:o,s:b,s:o}", "engine", nx_engine_title((enum nx_engine)e), "address",
                            hex(code->address), "instructions", nx_dump_number(code->bytes.size / 64),
                            "in_raw_area", code->in_raw_area, "patches", dump_patches(code)));
    }
    return list;
}

static json_t *dump_rings(const struct nx_ntff_core *core)
{
    json_t *list = json_array();

    for (size_t i = 0; i < core->ring_count; i++) {
        const struct nx_ntff_ring *r = &core->rings[i];
        uint64_t packets = 0;

        for (size_t b = 0; b < r->block_count; b++)
            packets += r->blocks[b].packets;
        json_array_append_new(
            list,
            json_pack("{s:o,s:o,s:o,s:o,s:o,s:I,s:o,s:o,s:o,s:o}", "name", nx_dump_text(r->name),
                      "display_name", nx_dump_text(r->display_name), "engine", nx_dump_number(r->engine),
                      "ring", nx_dump_number(r->index), "type", nx_dump_number(r->type), "event_id",
                      (json_int_t)r->event_id, "axi_port", nx_dump_number(r->axi_port), "dram_channel",
                      nx_dump_number(r->dram_channel), "blocks", nx_dump_number(r->block_count),
                      "packets_of_blocks", nx_dump_number(packets)));
    }
    return list;
}

static json_t *dump_clocks(const struct nx_ntff_core *core)
{
    json_t *list = json_array();
    char name[16];

    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        json_array_append_new(list, dump_clock(nx_engine_title((enum nx_engine)e), &core->engine_clock[e]));
    json_array_append_new(list, dump_clock("events", &core->event_clock));
    for (int e = 0; e < NX_DMA_ENGINES; e++) {
        snprintf(name, sizeof(name), "DMA %d", e);
        json_array_append_new(list, dump_clock(name, &core->dma_clock[e]));
    }
    return list;
}

static json_t *dump_memory(const struct nx_ntff_core *core)
{
    json_t *list = json_array();

    for (size_t i = 0; i < core->memory_count; i++)
        json_array_append_new(list,
                              json_pack("{s:o,s:o,s:o}", "category", nx_dump_number(core->memory[i].category),
                                        "name", nx_dump_text(core->memory[i].name), "bytes",
                                        nx_dump_number(core->memory[i].bytes)));
    return list;
}

static json_t *dump_core(const struct nx_ntff_core *core, struct totals *totals)
{
    json_t *kinds, *sections;
    uint64_t before = totals->records;

    sections = dump_sections(core->sections, core->section_count, &kinds, totals);
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", nx_dump_text(core->name),
                     "device_index", nx_dump_number(core->device_index), "core_index",
                     nx_dump_number(core->core_index), "exec_ps", nx_dump_number(core->exec_ps), "records",
                     nx_dump_number(totals->records - before), "records_by_kind", kinds, "sections", sections,
                     "code", dump_code(core), "rings", dump_rings(core), "clocks", dump_clocks(core),
                     "memory", dump_memory(core));
}

static json_t *dump_executions(const struct nx_ntff *ntff)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ntff->execution_count; i++)
        json_array_append_new(list,
                              json_pack("{s:o,s:o,s:o}", "uuid",
                                        nx_dump_hex(ntff->executions[i].uuid, ntff->executions[i].uuid_size),
                                        "start_ps", nx_dump_number(ntff->executions[i].start_ps), "end_ps",
                                        nx_dump_number(ntff->executions[i].end_ps)));
    return list;
}

static json_t *dump_capacities(const struct nx_ntff *ntff)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ntff->capacity_count; i++) {
        const struct nx_trace_capacity *capacity = &ntff->capacities[i];

        json_array_append_new(list, json_pack("{s:s,s:o,s:s,s:o,s:o}", "type", nx_ntff_section_name(capacity->type),
                                              "type_number", nx_dump_number(capacity->type), "block",
                                              block_name(capacity->block), "block_number",
                                              nx_dump_number(capacity->block), "bytes",
                                              nx_dump_number(capacity->bytes)));
    }
    return list;
}

static const struct nx_clock *clock_of(const struct nx_ntff_core *core, const struct nx_ntff_section *section,
                                       struct nx_record r)
{
    unsigned kind = nx_record_kind(r), engine = (kind >> 2) - 1;

    if (section->type == NX_SECTION_DMA)
        return &core->dma_clock[kind & 15];
    if (section->type == NX_SECTION_INSTRUCTION && engine < NX_ENGINE_COUNT)
        return &core->engine_clock[engine];
    return &core->event_clock;
}

static void set(json_t *out, const char *key, uint64_t value)
{
    json_object_set_new(out, key, nx_dump_number(value));
}

/* The fields that a record of its kind has. */
static void add_fields(json_t *out, const struct nx_ntff_section *section, struct nx_record r)
{
    switch (section->type) {
    case NX_SECTION_INSTRUCTION:
        json_object_set_new(out, "pc", hex(nx_record_pc(r)));
        set(out, "hint", nx_record_hint(r));
        if ((nx_record_kind(r) & 3) == NX_SUB_START) {
            set(out, "wait_cycles", nx_record_wait_cycles(r));
            set(out, "resets", nx_record_resets(r));
        } else {
            json_object_set_new(out, "crc_in", hex(nx_record_crc_in(r)));
            json_object_set_new(out, "crc_out", hex(nx_record_crc_out(r)));
        }
        break;
    case NX_SECTION_EVENT:
        set(out, "index", nx_record_event_index(r));
        json_object_set_new(out, "mode", hex(nx_record_event_mode(r)));
        set(out, "value", r.w1);
        break;
    case NX_SECTION_DMA:
        set(out, "engine", nx_record_kind(r));
        set(out, "ring", nx_record_dma_ring(r));
        if (nx_record_dma_type(r) == NX_DMA_END) {
            set(out, "bytes", nx_record_dma_bytes(r));
            json_object_set_new(out, "crc", hex(nx_record_dma_crc(r)));
        }
        break;
    case NX_SECTION_THROTTLE:
        set(out, "k", nx_record_throttle_k(r));
        set(out, "n", nx_record_throttle_n(r));
        set(out, "activity", nx_record_throttle_type(r));
        set(out, "counter", nx_record_throttle_counter(r));
        break;
    default:
        break;
    }
    if (nx_record_overflow(r))
        json_object_set_new(out, "overflow", json_true());
}

/* core: NULL when the trace does not describe it, which leaves the time as it was counted. */
static json_t *dump_record(const struct nx_ntff_core *core, const struct nx_ntff_section *section, size_t at)
{
    struct nx_record r = nx_record_load(section->records.data + at);
    const struct nx_clock *clock = core ? clock_of(core, section, r) : NULL;
    bool known;
    const char *kind = nx_record_describe(section, r, &known);
    char words[40];
    json_t *out;

    snprintf(words, sizeof(words), "%08" PRIx32 " %08" PRIx32, r.w0, r.w1);
    out = json_pack(
        "{s:o,s:o,s:s,s:s,s:o,s:o,s:s}", "offset", nx_dump_number(section->file_offset + at), "core",
        nx_dump_text(core ? core->name : NULL), "section", nx_ntff_section_name(section->type), "kind", kind, "ps",
        clock && !nx_ntff_before_clock(clock, r.timestamp) ? nx_dump_number(nx_ntff_ps(clock, r.timestamp))
                                                           : json_null(),
        "timestamp", nx_dump_number(r.timestamp), "words", words);
    add_fields(out, section, r);
    return out;
}

/* The first records of the file: core by core, then those of no core. */
struct record_stream {
    const struct nx_ntff *ntff;
    unsigned long left;
    size_t core, section, at;
};

static json_t *next_record(void *opaque)
{
    struct record_stream *s = opaque;

    while (s->left && s->core <= s->ntff->core_count) {
        const struct nx_ntff_core *core = s->core < s->ntff->core_count ? &s->ntff->cores[s->core] : NULL;
        const struct nx_ntff_section *sections = core ? core->sections : s->ntff->orphan_sections;
        size_t count = core ? core->section_count : s->ntff->orphan_section_count, at = s->at;

        if (s->section == count) {
            s->core++;
            s->section = 0;
        } else if (at + NX_NTFF_RECORD_SIZE > sections[s->section].records.size) {
            s->section++;
            s->at = 0;
        } else {
            s->at += NX_NTFF_RECORD_SIZE;
            s->left--;
            return dump_record(core, &sections[s->section], at);
        }
    }
    return NULL;
}

static json_t *dump_file(const char *path, const struct nx_ntff *ntff)
{
    json_t *cores = json_array(), *orphans, *orphan_kinds, *document;
    struct totals totals = {0};

    for (size_t c = 0; c < ntff->core_count; c++)
        json_array_append_new(cores, dump_core(&ntff->cores[c], &totals));
    orphans = dump_sections(ntff->orphan_sections, ntff->orphan_section_count, &orphan_kinds, &totals);
    document = json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "file",
        nx_dump_text(path), "version", nx_dump_number(ntff->version), "file_bytes",
        nx_dump_number(ntff->file.bytes.size), "covered_bytes", number_or_null(ntff->covered_bytes),
        "metadata_bytes", nx_dump_number(ntff->metadata_size), "neff_name", nx_dump_text(ntff->neff_name),
        "uuid", nx_dump_hex(ntff->uuid, ntff->uuid_size), "uuid_exact", ntff->uuid_exact, "cores_per_lnc",
        nx_dump_number(ntff->cores_per_lnc), "capture_time", number_or_null(ntff->capture_time),
        "instance_type", nx_dump_text(ntff->instance_type), "instance_id", nx_dump_text(ntff->instance_id),
        "pid", number_or_null(ntff->pid), "runtime", dump_version(&ntff->runtime), "driver",
        dump_version(&ntff->driver), "collectives", dump_version(&ntff->collectives), "executions",
        dump_executions(ntff), "trace_capacities", dump_capacities(ntff), "records",
        nx_dump_number(totals.records), "records_unknown", nx_dump_number(totals.unknown), "cores", cores);
    if (ntff->orphan_section_count) {
        json_object_set_new(document, "orphan_records_by_kind", orphan_kinds);
        json_object_set_new(document, "orphan_sections", orphans);
    } else {
        json_decref(orphan_kinds);
        json_decref(orphans);
    }
    json_object_set_new(document, "warnings", nx_dump_warnings(&ntff->warnings));
    return document;
}

int nx_dump_ntff(const char *path, const struct nx_dump_options *options)
{
    struct nx_ntff ntff;
    struct nx_error error;
    enum nx_status status = nx_ntff_inspect(path, &ntff, &error);
    struct record_stream records = {.ntff = &ntff, .left = options->records};
    const struct nx_dump_stream stream = {"first_records", next_record, &records};
    bool readable = ntff.cores || status == NX_OK;
    json_t *document;
    int result;

    if (readable)
        document = dump_file(path, &ntff);
    else /* no NTFF, or not one that can be read */
        document = json_pack("{s:o,s:o}", "file", nx_dump_text(path), "file_bytes",
                             ntff.file.path ? nx_dump_number(ntff.file.bytes.size) : json_null());
    result = nx_dump_print(document, readable && records.left ? &stream : NULL, options->json,
                           status == NX_OK ? NULL : &error);
    nx_ntff_close(&ntff);
    return result;
}
