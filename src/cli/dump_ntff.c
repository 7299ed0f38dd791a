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

static json_t *dump_version(const struct nx_version *version)
{
    if (!version->present)
        return json_null();
    return json_pack("{s:I,s:I,s:I,s:o}", "major", (json_int_t)version->major, "minor", (json_int_t)version->minor,
                     "patch", (json_int_t)version->patch, "git_hash", nx_dump_text(version->git_hash));
}

static json_t *dump_clock(const char *name, const struct nx_clock *clock)
{
    return json_pack("{s:s,s:I,s:I,s:I}", "clock", name, "init", (json_int_t)clock->init, "counts_per_tick_x1024",
                     (json_int_t)clock->actual, "ps_per_tick_x1024", (json_int_t)clock->expected);
}

static const char *section_name(uint32_t type)
{
    static const char *const names[] = {"instruction", "event", "error", NULL, "dma", "throttle"};

    return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type] : "unknown";
}

static json_t *dump_sections(const struct nx_ntff_core *core, json_t **kinds, uint64_t *total, uint64_t *unknown)
{
    json_t *list = json_array();
    struct census census = {0};

    for (size_t s = 0; s < core->section_count; s++) {
        const struct nx_ntff_section *section = &core->sections[s];
        size_t records = section->records.size / NX_NTFF_RECORD_SIZE;

        json_array_append_new(list, json_pack("{s:s,s:I,s:I,s:I,s:I,s:I}", "type", section_name(section->type),
                                              "type_number", (json_int_t)section->type, "block",
                                              (json_int_t)section->block, "block_index",
                                              (json_int_t)section->block_index, "offset",
                                              (json_int_t)section->file_offset, "records", (json_int_t)records));
        for (size_t i = 0; i < records; i++) {
            bool known;
            const char *kind = nx_record_describe(
                section, nx_record_load(section->records.data + i * NX_NTFF_RECORD_SIZE), &known);

            count_record(&census, kind);
            *unknown += !known;
        }
        *total += records;
    }
    *kinds = json_object();
    for (size_t i = 0; i < census.count; i++)
        json_object_set_new(*kinds, census.kind[i], json_integer((json_int_t)census.records[i]));
    return list;
}

static json_t *dump_code(const struct nx_ntff_core *core)
{
    json_t *list = json_array();

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        const struct nx_ntff_code *code = &core->code[e];
        json_t *patches = json_array();
        char address[32];

        snprintf(address, sizeof(address), "0x%" PRIx64, code->address);
        for (size_t p = 0; p < code->patch_count; p++)
            json_array_append_new(patches, json_pack("{s:I,s:I,s:I}", "offset", (json_int_t)code->patches[p].offset,
                                                     "count", (json_int_t)code->patches[p].count, "type",
                                                     (json_int_t)code->patches[p].type));
        json_array_append_new(list, json_pack("{s:s,s:s,s:I,s:o}", "engine", nx_engine_title((enum nx_engine)e),
                                              "address", address, "instructions", (json_int_t)(code->bytes.size / 64),
                                              "patches", patches));
    }
    return list;
}

static json_t *dump_rings(const struct nx_ntff_core *core)
{
    json_t *list = json_array();

    for (size_t i = 0; i < core->ring_count; i++) {
        const struct nx_ntff_ring *r = &core->rings[i];

        json_array_append_new(list, json_pack("{s:o,s:I,s:I,s:I,s:I,s:I,s:I}", "name", nx_dump_text(r->name), "engine",
                                              (json_int_t)r->engine, "ring", (json_int_t)r->index, "type",
                                              (json_int_t)r->type, "axi_port", (json_int_t)r->axi_port, "dram_channel",
                                              (json_int_t)r->dram_channel, "blocks", (json_int_t)r->block_count));
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
        json_array_append_new(list, json_pack("{s:I,s:o,s:I}", "category", (json_int_t)core->memory[i].category, "name",
                                              nx_dump_text(core->memory[i].name), "bytes",
                                              (json_int_t)core->memory[i].bytes));
    return list;
}

static json_t *dump_core(const struct nx_ntff_core *core, uint64_t *total, uint64_t *unknown)
{
    json_t *kinds, *sections;
    uint64_t own = 0;

    sections = dump_sections(core, &kinds, &own, unknown);
    *total += own;
    return json_pack("{s:o,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "name", nx_dump_text(core->name), "device_index",
                     (json_int_t)core->device_index, "core_index", (json_int_t)core->core_index, "exec_ps",
                     (json_int_t)core->exec_ps, "records", (json_int_t)own, "records_by_kind", kinds, "sections",
                     sections, "code", dump_code(core), "rings", dump_rings(core), "clocks", dump_clocks(core),
                     "memory", dump_memory(core));
}

static json_t *dump_executions(const struct nx_ntff *ntff)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ntff->execution_count; i++)
        json_array_append_new(list, json_pack("{s:I,s:I}", "start_ps", (json_int_t)ntff->executions[i].start_ps,
                                              "end_ps", (json_int_t)ntff->executions[i].end_ps));
    return list;
}

static json_t *dump_capacities(const struct nx_ntff *ntff)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ntff->capacity_count; i++)
        json_array_append_new(list, json_pack("{s:I,s:I,s:I}", "block", (json_int_t)ntff->capacities[i].block, "type",
                                              (json_int_t)ntff->capacities[i].type, "bytes",
                                              (json_int_t)ntff->capacities[i].bytes));
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

/* The fields that a record of its kind has. */
static void add_fields(json_t *out, const struct nx_ntff_section *section, struct nx_record r)
{
    char pc[16];

    switch (section->type) {
    case NX_SECTION_INSTRUCTION:
        snprintf(pc, sizeof(pc), "0x%05x", nx_record_pc(r));
        json_object_set_new(out, "pc", json_string(pc));
        if ((nx_record_kind(r) & 3) == NX_SUB_START) {
            json_object_set_new(out, "wait_cycles", json_integer(nx_record_wait_cycles(r)));
        } else {
            json_object_set_new(out, "crc_in", json_integer(nx_record_crc_in(r)));
            json_object_set_new(out, "crc_out", json_integer(nx_record_crc_out(r)));
        }
        break;
    case NX_SECTION_EVENT:
        json_object_set_new(out, "index", json_integer(nx_record_event_index(r)));
        json_object_set_new(out, "mode", json_integer(nx_record_event_mode(r)));
        json_object_set_new(out, "value", json_integer(r.w1));
        break;
    case NX_SECTION_DMA:
        json_object_set_new(out, "engine", json_integer(nx_record_kind(r)));
        json_object_set_new(out, "ring", json_integer(nx_record_dma_ring(r)));
        if (nx_record_dma_type(r) == NX_DMA_END) {
            json_object_set_new(out, "bytes", json_integer(nx_record_dma_bytes(r)));
            json_object_set_new(out, "crc", json_integer(nx_record_dma_crc(r)));
        }
        break;
    case NX_SECTION_THROTTLE:
        json_object_set_new(out, "k", json_integer(nx_record_throttle_k(r)));
        json_object_set_new(out, "n", json_integer(nx_record_throttle_n(r)));
        json_object_set_new(out, "activity", json_integer(nx_record_throttle_type(r)));
        break;
    default:
        break;
    }
    if (nx_record_overflow(r))
        json_object_set_new(out, "overflow", json_true());
}

static json_t *dump_record(const struct nx_ntff_core *core, const struct nx_ntff_section *section, size_t at)
{
    struct nx_record r = nx_record_load(section->records.data + at);
    bool known;
    const char *kind = nx_record_describe(section, r, &known);
    char words[40];
    json_t *out;

    snprintf(words, sizeof(words), "%08" PRIx32 " %08" PRIx32, r.w0, r.w1);
    out = json_pack("{s:I,s:o,s:s,s:I,s:s}", "offset", (json_int_t)(section->file_offset + at), "core",
                    nx_dump_text(core->name), "kind", kind, "ps",
                    (json_int_t)nx_ntff_ps(clock_of(core, section, r), r.timestamp), "words", words);
    add_fields(out, section, r);
    return out;
}

static json_t *dump_records(const struct nx_ntff *ntff, unsigned long limit)
{
    json_t *list = json_array();

    for (size_t c = 0; c < ntff->core_count; c++)
        for (size_t s = 0; s < ntff->cores[c].section_count; s++) {
            const struct nx_ntff_section *section = &ntff->cores[c].sections[s];

            for (size_t at = 0; at + NX_NTFF_RECORD_SIZE <= section->records.size && json_array_size(list) < limit;
                 at += NX_NTFF_RECORD_SIZE)
                json_array_append_new(list, dump_record(&ntff->cores[c], section, at));
        }
    return list;
}

int nx_dump_ntff(const char *path, const struct nx_dump_options *options)
{
    struct nx_ntff ntff;
    struct nx_error error;
    enum nx_status status = nx_ntff_inspect(path, &ntff, &error);
    json_t *cores = json_array(), *document;
    uint64_t total = 0, unknown = 0;

    for (size_t c = 0; c < ntff.core_count; c++)
        json_array_append_new(cores, dump_core(&ntff.cores[c], &total, &unknown));
    document = json_pack(
        "{s:o,s:I,s:I,s:I,s:I,s:o,s:o,s:I,s:I,s:o,s:o,s:I,s:o,s:o,s:o,s:o,s:o,s:I,s:I,s:o,s:o}", "file",
        nx_dump_text(path), "version", (json_int_t)ntff.version, "file_bytes", (json_int_t)ntff.file.bytes.size,
        "covered_bytes", (json_int_t)ntff.covered_bytes, "metadata_bytes", (json_int_t)ntff.metadata_size, "neff_name",
        nx_dump_text(ntff.neff_name), "uuid", nx_dump_hex(ntff.uuid, ntff.uuid_size), "cores_per_lnc",
        (json_int_t)ntff.cores_per_lnc, "capture_time", (json_int_t)ntff.capture_time, "instance_type",
        nx_dump_text(ntff.instance_type), "instance_id", nx_dump_text(ntff.instance_id), "pid", (json_int_t)ntff.pid,
        "runtime", dump_version(&ntff.runtime), "driver", dump_version(&ntff.driver), "collectives",
        dump_version(&ntff.collectives), "executions", dump_executions(&ntff), "trace_capacities",
        dump_capacities(&ntff), "records", (json_int_t)total, "records_unknown", (json_int_t)unknown, "cores", cores,
        "warnings", nx_dump_warnings(&ntff.warnings));
    if (options->records)
        json_object_set_new(document, "first_records", dump_records(&ntff, options->records));
    nx_ntff_close(&ntff);
    return nx_dump_print(document, options->json, status == NX_OK ? NULL : &error);
}
