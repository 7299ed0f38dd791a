/* What the reader makes of well-formed files of each version, and of those that only deserve a warning. */
#include "check.h"

static const uint8_t uuid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

#define CODE_SIZE 192

static void put_code(struct nx_text *core, uint32_t engine, uint64_t address, bool inlined,
                     uint64_t raw_offset)
{
    struct nx_text m = {0};
    char code[CODE_SIZE];

    memset(code, (int)(0x10 + engine), sizeof(code));
    pb_number(&m, 1, engine);
    pb_number(&m, 2, address);
    if (inlined) {
        pb_bytes(&m, 3, code, sizeof(code));
    } else {
        pb_number(&m, 7, raw_offset);
        pb_number(&m, 8, sizeof(code));
    }
    pb_message(core, 4, &m);
    nx_text_free(&m);
}

static void put_ring(struct nx_text *core)
{
    struct nx_text ring = {0}, block = {0};

    pb_number(&ring, 1, 70);
    pb_number(&ring, 2, 3);
    pb_number(&ring, 3, 2);
    pb_text(&ring, 4, "qPoolIO0");
    pb_number(&ring, 5, UINT64_MAX); /* -1 */
    pb_number(&ring, 6, 4);
    pb_number(&ring, 7, 5);
    for (uint32_t id = 7; id < 9; id++) {
        pb_number(&block, 1, id);
        pb_number(&block, 2, 10 * id);
        pb_number(&block, 3, 100 * id);
        pb_number(&block, 4, 1000 * id);
        pb_message(&ring, 8, &block);
    }
    pb_message(core, 7, &ring);
    nx_text_free(&ring);
    nx_text_free(&block);
}

static void put_patches(struct nx_text *core)
{
    struct nx_text patches = {0}, patch = {0};

    pb_number(&patches, 1, 1);
    pb_number(&patch, 2, 67); /* offset and type 0: left out */
    pb_message(&patches, 2, &patch);
    pb_number(&patch, 1, 4352);
    pb_number(&patch, 2, 1);
    pb_number(&patch, 3, 2);
    pb_message(&patches, 2, &patch);
    pb_message(core, 5, &patches);
    nx_text_free(&patches);
    nx_text_free(&patch);
}

static void put_memory(struct nx_text *core, uint32_t category, uint64_t bytes, const char *name)
{
    struct nx_text m = {0};

    if (category)
        pb_number(&m, 1, category);
    pb_number(&m, 2, bytes);
    if (name)
        pb_text(&m, 3, name);
    pb_message(core, 11, &m);
    nx_text_free(&m);
}

static void put_core(struct nx_text *core, unsigned version, uint32_t index)
{
    pb_text(core, 1, index == 4 ? "sg00" : "sg01");
    pb_number(core, 3, index);
    pb_number(core, 14, 1000 + index);
    put_code(core, 1, 0x7f0000000000, version < 6, index == 4 ? 0 : CODE_SIZE);
    put_patches(core);
    put_ring(core);
    put_plain_clocks(core);
    put_memory(core, version < 5 ? 9 : 0, 4096, version < 5 ? NULL : "dve");
    if (version == 6)
        pb_bytes(core, 15, NULL, 0);
}

static void put_version(struct nx_text *top, uint32_t field, const char *hash)
{
    struct nx_text m = {0};

    pb_number(&m, 1, 2);
    pb_number(&m, 2, 30);
    pb_number(&m, 3, field);
    if (hash)
        pb_text(&m, 5, hash);
    pb_message(top, field, &m);
    nx_text_free(&m);
}

static void put_top(struct nx_text *top, unsigned version)
{
    struct nx_text m = {0};

    pb_text(top, 1, "kernel.neff");
    pb_bytes(top, 2, uuid, sizeof(uuid));
    pb_number(top, 3, 10001);
    pb_number(top, 5, 2);
    if (version == 4)
        pb_number(top, 7, 1750262617);
    put_version(top, 8, "faafe26f0401e2d1d9cec13866f859b15b529d1e");
    pb_text(top, 9, "trn2.3xlarge");
    pb_number(top, 10, 2);
    put_version(top, 11, NULL);
    pb_number(&m, 1, 1);
    pb_number(&m, 2, 4);
    pb_number(&m, 3, 134217728);
    pb_message(top, 13, &m);
    pb_number(&m, 4, 0xffffffff);
    pb_message(top, 14, &m);
    if (version == 6) {
        pb_bytes(&m, 1, uuid, sizeof(uuid));
        pb_number(&m, 2, 100);
        pb_number(&m, 3, 200);
        pb_message(top, 15, &m);
        pb_text(top, 17, "i-0123");
        pb_number(top, 18, 4711);
    }
    nx_text_free(&m);
}

/* Two cores with code, two sections each: an instruction section of 2 records, a DMA section of 3. */
static void whole_file(struct nx_text *file, unsigned version)
{
    struct nx_text top = {0}, raw = {0}, cores[2] = {{0}, {0}};
    uint64_t at = version == 6 ? (uint64_t)2 * CODE_SIZE : 0;

    put_top(&top, version);
    for (uint32_t i = 0; i < at; i++)
        put_little_endian(&raw, i, 1);
    for (uint32_t c = 0; c < 2; c++)
        put_core(&cores[c], version, 4 + c);
    for (uint32_t c = 0; c < 2; c++)
        for (uint32_t type = 0; type < 2; type++) {
            uint64_t records = 2 + type;

            if (version < 6)
                put_section(&cores[c], 6, 4 * type, type, at, 16 * records, 0);
            for (uint32_t i = 0; i < records; i++)
                put_record(&raw, 100 * c + 10 * type + i, type, i);
            at += 16 * records;
        }
    put_cores(&top, cores, 2, version == 6 ? uuid : NULL);
    for (uint32_t c = 0; version == 6 && c < 2; c++)
        for (uint32_t type = 0; type < 2; type++)
            put_section(&top, 16, 4 * type, type, (uint64_t)2 * CODE_SIZE + 80 * c + 32 * type,
                        16 * (2 + type), 4 + c);
    ntff_file(file, version, &top, &raw);
    nx_text_free(&top);
    nx_text_free(&raw);
    nx_text_free(&cores[0]);
    nx_text_free(&cores[1]);
}

static void check_core(const struct nx_ntff *ntff, uint32_t c)
{
    const struct nx_ntff_core *core = &ntff->cores[c];

    assert_string_equal(core->name, c ? "sg01" : "sg00");
    assert_int_equal(core->device_index, 0);
    assert_int_equal(core->core_index, 4 + c);
    assert_int_equal(core->exec_ps, 1004 + c);
    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        assert_int_equal(core->code[e].bytes.size, e == NX_ACT ? CODE_SIZE : 0);
        assert_int_equal(core->code[e].patch_count, e == NX_ACT ? 2 : 0);
    }
    assert_int_equal(core->code[NX_ACT].address, 0x7f0000000000);
    assert_int_equal(core->code[NX_ACT].in_raw_area, ntff->version == 6);
    assert_int_equal(core->code[NX_ACT].bytes.data[CODE_SIZE - 1],
                     ntff->version < 6 ? 0x11 : ((c + 1) * CODE_SIZE - 1) & 0xff);
    assert_int_equal(core->code[NX_ACT].patches[0].offset, 0);
    assert_int_equal(core->code[NX_ACT].patches[0].count, 67);
    assert_int_equal(core->code[NX_ACT].patches[0].type, NX_PATCH_INSERTED);
    assert_int_equal(core->code[NX_ACT].patches[1].offset, 4352);
    assert_int_equal(core->code[NX_ACT].patches[1].type, NX_PATCH_DELETED);
    assert_int_equal(core->ring_count, 1);
    assert_int_equal(core->rings[0].engine, 70);
    assert_int_equal(core->rings[0].index, 3);
    assert_int_equal(core->rings[0].type, 2);
    assert_string_equal(core->rings[0].name, "qPoolIO0");
    assert_string_equal(core->rings[0].display_name, "qGpSimdIO0");
    assert_int_equal(core->rings[0].event_id, -1);
    assert_int_equal(core->rings[0].axi_port, 4);
    assert_int_equal(core->rings[0].dram_channel, 5);
    assert_int_equal(core->rings[0].block_count, 2);
    assert_int_equal(core->rings[0].blocks[1].id, 8);
    assert_int_equal(core->rings[0].blocks[1].packets, 80);
    assert_int_equal(core->rings[0].blocks[1].m2s_descriptors, 800);
    assert_int_equal(core->rings[0].blocks[1].s2m_descriptors, 8000);
    assert_int_equal(core->memory_count, 1);
    assert_int_equal(core->memory[0].category, ntff->version < 5 ? 9 : 0);
    assert_int_equal(core->memory[0].bytes, 4096);
    if (ntff->version < 5)
        assert_null(core->memory[0].name);
    else
        assert_string_equal(core->memory[0].name, "dve");
    assert_int_equal(core->section_count, 2);
    for (uint32_t s = 0; s < 2; s++) {
        const struct nx_ntff_section *section = &core->sections[s];

        assert_int_equal(section->type, s ? NX_SECTION_DMA : NX_SECTION_INSTRUCTION);
        assert_int_equal(section->block, s ? NX_BLOCK_DMA : NX_BLOCK_CORE);
        assert_int_equal(section->records.size, 16 * (2 + s));
        for (uint32_t i = 0; i < 2 + s; i++) {
            struct nx_record r = nx_record_load(section->records.data + (size_t)16 * i);

            assert_int_equal(r.w0, 100 * c + 10 * s + i);
            assert_int_equal(r.w1, s);
            assert_int_equal(r.timestamp, i);
        }
    }
    assert_int_equal(core->sections[1].file_offset, core->sections[0].file_offset + 32);
}

static void each_version(void **state)
{
    (void)state;
    for (unsigned version = 4; version <= 6; version++) {
        struct nx_text file = {0};
        struct opened o;
        char text[64];

        whole_file(&file, version);
        must_open(&o, &file);
        assert_int_equal(o.ntff.warnings.count, 0);
        assert_int_equal(o.ntff.version, version);
        assert_int_equal(o.ntff.covered_bytes, file.size);
        assert_string_equal(o.ntff.neff_name, "kernel.neff");
        assert_int_equal(o.ntff.uuid_size, 16);
        assert_memory_equal(o.ntff.uuid, uuid, 16);
        assert_int_equal(o.ntff.uuid_exact, version == 6);
        assert_true(nx_ntff_uuid_matches(&o.ntff, uuid));
        assert_int_equal(o.ntff.cores_per_lnc, 2);
        assert_int_equal(o.ntff.capture_time, version == 4 ? 1750262617 : 0);
        nx_version_text(&o.ntff.runtime, text, sizeof(text));
        assert_string_equal(text, "2.30.8 (faafe)");
        assert_true(o.ntff.driver.present);
        nx_version_text(&o.ntff.driver, text, sizeof(text));
        assert_string_equal(text, "2.30.11 ()");
        assert_false(o.ntff.collectives.present);
        assert_string_equal(o.ntff.instance_type, "trn2.3xlarge");
        assert_int_equal(o.ntff.capacity_count, 1);
        assert_int_equal(o.ntff.capacities[0].block, 1);
        assert_int_equal(o.ntff.capacities[0].type, 4);
        assert_int_equal(o.ntff.capacities[0].bytes, 134217728);
        assert_int_equal(o.ntff.execution_count, version == 6);
        if (version == 6) {
            assert_memory_equal(o.ntff.executions[0].uuid, uuid, 16);
            assert_int_equal(o.ntff.executions[0].start_ps, 100);
            assert_int_equal(o.ntff.executions[0].end_ps, 200);
            assert_string_equal(o.ntff.instance_id, "i-0123");
            assert_int_equal(o.ntff.pid, 4711);
        } else {
            assert_null(o.ntff.instance_id);
            assert_int_equal(o.ntff.pid, 0);
        }
        assert_int_equal(o.ntff.core_count, 2);
        assert_int_equal(o.ntff.orphan_section_count, 0);
        for (uint32_t c = 0; c < 2; c++)
            check_core(&o.ntff, c);
        close_bytes(&o);
        nx_text_free(&file);
    }
}

/* A file of one core with plain clocks, to which a test adds. */
struct small {
    struct nx_text core, top, raw, file;
};

static void small_start(struct small *s)
{
    *s = (struct small){0};
    pb_text(&s->core, 1, "sg00");
    pb_number(&s->core, 3, 4);
    put_plain_clocks(&s->core);
}

static void small_open(struct small *s, unsigned version, struct opened *o)
{
    put_cores(&s->top, &s->core, 1, NULL);
    ntff_file(&s->file, version, &s->top, &s->raw);
    must_open(o, &s->file);
}

static void small_end(struct small *s, struct opened *o)
{
    close_bytes(o);
    nx_text_free(&s->core);
    nx_text_free(&s->top);
    nx_text_free(&s->raw);
    nx_text_free(&s->file);
}

static void a_gap_is_a_warning(void **state)
{
    struct small s;
    struct opened o;

    (void)state;
    small_start(&s);
    put_section(&s.core, 6, 1, 0, 16, 16, 0);
    for (uint32_t i = 0; i < 3; i++)
        put_record(&s.raw, i, 0, 0);
    small_open(&s, 5, &o);
    assert_int_equal(o.ntff.covered_bytes, s.file.size - 32);
    assert_string_equal(warning_with(&o.ntff, "32 of"), NX_WARN_UNKNOWN);
    assert_int_equal(nx_record_load(o.ntff.cores[0].sections[0].records.data).w0, 1);
    small_end(&s, &o);
}

static void sections_without_records_lie_anywhere(void **state)
{
    struct small s;
    struct opened o;

    (void)state;
    small_start(&s);
    put_section(&s.core, 6, 0, 0, 0, 32, 0);
    put_section(&s.core, 6, 2, 0, 16, 0, 0); /* inside of the other one */
    put_section(&s.core, 6, 4, 1, 32, 0, 0); /* at the end of the file */
    put_record(&s.raw, 0, 0, 0);
    put_record(&s.raw, 0, 0, 0);
    small_open(&s, 5, &o);
    assert_int_equal(o.ntff.warnings.count, 0);
    assert_int_equal(o.ntff.cores[0].section_count, 3);
    small_end(&s, &o);
}

static void sections_of_no_core(void **state)
{
    struct small s;
    struct opened o;

    (void)state;
    small_start(&s);
    pb_number(&s.core, 2, 0); /* zeros may be written, too */
    put_section(&s.top, 16, 1, 0, 0, 16, 4);
    put_section(&s.top, 16, 1, 0, 16, 32, 7);
    for (uint32_t i = 0; i < 3; i++)
        put_record(&s.raw, i, 0, 0);
    small_open(&s, 6, &o);
    assert_int_equal(o.ntff.cores[0].section_count, 1);
    assert_int_equal(o.ntff.orphan_section_count, 1);
    assert_int_equal(o.ntff.orphan_sections[0].records.size, 32);
    assert_int_equal(o.ntff.covered_bytes, s.file.size);
    assert_string_equal(warning_with(&o.ntff, "1 sections with 2 records"), NX_WARN_INCONSISTENT);
    small_end(&s, &o);
}

static void cores_of_one_index(void **state)
{
    struct nx_text cores[2] = {{0}, {0}}, top = {0}, raw = {0}, file = {0};
    struct opened o;

    (void)state;
    for (uint32_t device = 0; device < 2; device++) {
        pb_text(&cores[device], 1, device ? "b" : "a");
        pb_number(&cores[device], 2, device);
        put_plain_clocks(&cores[device]);
    }
    put_cores(&top, cores, 2, NULL);
    put_section(&top, 16, 1, 0, 0, 16, 0);
    put_record(&raw, 0, 0, 0);
    ntff_file(&file, 6, &top, &raw);
    must_open(&o, &file);
    assert_int_equal(o.ntff.cores[0].section_count, 1);
    assert_int_equal(o.ntff.cores[1].section_count, 0);
    assert_string_equal(warning_with(&o.ntff, "two cores"), NX_WARN_INCONSISTENT);
    close_bytes(&o);
    nx_text_free(&cores[0]);
    nx_text_free(&cores[1]);
    nx_text_free(&top);
    nx_text_free(&raw);
    nx_text_free(&file);
}

/* Unknown fields make one warning that names them; those of unknown meaning in real files make none. */
static void unknown_fields(void **state)
{
    static const char fixed[] = {0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8}; /* 3: fixed32, 4: fixed64 */
    struct small s;
    struct opened o;
    struct nx_text m = {0};

    (void)state;
    small_start(&s);
    pb_number(&s.core, 21, 1);
    pb_number(&s.core, 21, 2);
    pb_bytes(&s.core, 15, NULL, 0);
    pb_number(&s.core, 10, 7); /* the clocks are a message */
    pb_number(&s.top, 3, 1);
    pb_number(&s.top, 10, 1);
    pb_bytes(&s.top, 14, NULL, 0);
    pb_number(&s.top, 536870911, 1);
    pb_number(&m, 1, 9);
    put(&m, fixed, sizeof(fixed));
    pb_message(&s.top, 8, &m);
    small_open(&s, 6, &o);
    assert_int_equal(o.ntff.warnings.count, 1);
    assert_string_equal(o.ntff.warnings.list[0].category, NX_WARN_UNKNOWN);
    assert_string_equal(
        o.ntff.warnings.list[0].message,
        "6 fields of the trace's metadata are not known: top field 536870911, version field 3, "
        "version field 4, core field 21, core field 10");
    assert_int_equal(o.ntff.runtime.major, 9);
    assert_int_equal(o.ntff.runtime.patch, 0); /* a fixed32 is not the varint that field 3 is */
    assert_int_equal(o.ntff.cores[0].event_clock.actual, 1);
    small_end(&s, &o);
    nx_text_free(&m);
}

static void many_unknown_fields(void **state)
{
    struct small s;
    struct opened o;

    (void)state;
    small_start(&s);
    for (uint32_t i = 0; i < 100000; i++)
        pb_number(&s.top, 100 + i, i);
    small_open(&s, 6, &o);
    assert_int_equal(o.ntff.warnings.count, 1);
    assert_non_null(strstr(o.ntff.warnings.list[0].message, "100000 fields"));
    assert_non_null(strstr(o.ntff.warnings.list[0].message, "field 111, perhaps others"));
    small_end(&s, &o);
}

static void code_given_twice(void **state)
{
    struct small s;
    struct opened o;

    (void)state;
    small_start(&s);
    put_code(&s.core, 2, 0x1000, true, 0);
    put_code(&s.core, 2, 0x2000, true, 0);
    put_patches(&s.core);
    put_patches(&s.core);
    small_open(&s, 5, &o);
    assert_int_equal(o.ntff.cores[0].code[NX_POOL].address, 0x2000);
    assert_int_equal(o.ntff.cores[0].code[NX_ACT].patch_count, 2);
    assert_non_null(warning_with(&o.ntff, "the code of GpSimd on sg00 is given twice"));
    assert_non_null(warning_with(&o.ntff, "the patches of Scalar on sg00 are given twice"));
    small_end(&s, &o);
}

static void numbers_that_do_not_fit(void **state)
{
    struct small s;
    struct opened o;

    (void)state;
    small_start(&s);
    put_section(&s.core, 6, 0, 0, 0, 16, 0);
    pb_number(&s.top, 5, UINT64_MAX);
    pb_number(&s.core, 2, (uint64_t)1 << 32);
    pb_number(&s.core, 14, UINT64_MAX);
    put_record(&s.raw, 0, 0, 0);
    small_open(&s, 5, &o);
    assert_int_equal(o.ntff.cores_per_lnc, UINT32_MAX);
    assert_int_equal(o.ntff.cores[0].device_index, UINT32_MAX); /* not 0 */
    assert_int_equal(o.ntff.cores[0].exec_ps, UINT64_MAX);
    small_end(&s, &o);
}

/* Field 2 was a C string. */
static bool uuid_matches(const uint8_t *written, size_t size, const uint8_t *neff)
{
    struct small s;
    struct opened o;
    bool matches;

    small_start(&s);
    pb_bytes(&s.top, 2, written, size);
    small_open(&s, 5, &o);
    matches = nx_ntff_uuid_matches(&o.ntff, neff);
    small_end(&s, &o);
    return matches;
}

static void uuid_as_c_string(void **state)
{
    static const uint8_t full[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint8_t cut[16] = {1, 2, 3, 0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint8_t starts_with_0[16] = {0, 2, 3};
    static const uint8_t ends_with_0[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0};
    uint8_t long_one[22];

    (void)state;
    memcpy(long_one, full, 16);
    memset(long_one + 16, 0xee, 6);
    assert_true(uuid_matches(full, 16, full));
    assert_true(uuid_matches(long_one, 22, full)); /* ran on behind the buffer */
    assert_true(uuid_matches(cut, 3, cut));
    assert_true(uuid_matches(full, 15, ends_with_0));
    assert_true(uuid_matches(NULL, 0, starts_with_0));
    assert_false(uuid_matches(full, 3, full)); /* the next byte is no NUL */
    assert_false(uuid_matches(full, 2, cut));  /* cut too early */
    assert_false(uuid_matches(full, 4, cut));  /* not cut where it must be */
    assert_false(uuid_matches(full, 16, cut));
    assert_false(uuid_matches(long_one, 22, cut));
    assert_false(uuid_matches(NULL, 0, full));
    long_one[15] ^= 1;
    assert_false(uuid_matches(long_one, 22, full));
}

static void uuid_of_version_6(void **state)
{
    static const uint8_t with_0[16] = {1, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint8_t other[16] = {1, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17};

    (void)state;
    for (int after = 0; after < 2; after++) { /* field 2 before and behind field 4 */
        struct nx_text core = {0}, top = {0}, file = {0};
        struct opened o;

        pb_text(&core, 1, "sg00");
        put_plain_clocks(&core);
        if (!after)
            pb_bytes(&top, 2, with_0, 1);
        put_cores(&top, &core, 1, with_0);
        if (after)
            pb_bytes(&top, 2, with_0, 1);
        ntff_file(&file, 6, &top, NULL);
        must_open(&o, &file);
        assert_true(nx_ntff_uuid_matches(&o.ntff, with_0));
        assert_false(nx_ntff_uuid_matches(&o.ntff, other)); /* it would match by field 2 */
        close_bytes(&o);
        nx_text_free(&core);
        nx_text_free(&top);
        nx_text_free(&file);
    }
}

static void versions_in_words(void **state)
{
    struct nx_version version = {.major = 2, .minor = 30, .patch = 51, .git_hash = "faafe26f"};
    char text[64], small[8];

    (void)state;
    nx_version_text(&version, text, sizeof(text));
    assert_string_equal(text, "2.30.51 (faafe)");
    nx_version_text(&version, small, sizeof(small));
    assert_string_equal(small, "2.30.51");
    version.git_hash = "ab";
    nx_version_text(&version, text, sizeof(text));
    assert_string_equal(text, "2.30.51 (ab)");
    version = (struct nx_version){.major = 2, .minor = 26};
    nx_version_text(&version, text, sizeof(text));
    assert_string_equal(text, "2.26.0 ()");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_version),
        cmocka_unit_test(a_gap_is_a_warning),
        cmocka_unit_test(sections_without_records_lie_anywhere),
        cmocka_unit_test(sections_of_no_core),
        cmocka_unit_test(cores_of_one_index),
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(many_unknown_fields),
        cmocka_unit_test(code_given_twice),
        cmocka_unit_test(numbers_that_do_not_fit),
        cmocka_unit_test(uuid_as_c_string),
        cmocka_unit_test(uuid_of_version_6),
        cmocka_unit_test(versions_in_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
