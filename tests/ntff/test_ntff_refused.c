/* Files that must be refused, each with one sentence that names the file, the offset, and what is wrong. */
#include "check.h"

/* The reader says NX_BAD_INPUT, leaves nothing behind, and its sentence begins and contains as given. */
static void refused(const void *bytes, size_t size, const char *offset, const char *part)
{
    struct opened o;
    char start[64];

    open_bytes(&o, bytes, size);
    if (o.status != NX_BAD_INPUT)
        fail_msg("not refused (%s)", part);
    assert_int_equal(o.error.status, NX_BAD_INPUT);
    snprintf(start, sizeof(start), "test.ntff: offset %s", offset);
    if (strncmp(o.error.text, start, strlen(start)) != 0 || !strstr(o.error.text, part))
        fail_msg("expected \"%s ... %s\", found \"%s\"", start, part, o.error.text);
    assert_null(o.ntff.cores);
    assert_null(o.ntff.arena.blocks);
    assert_null(o.ntff.warnings.list);
    close_bytes(&o);
}

static void refused_file(struct nx_text *file, const char *offset, const char *part)
{
    refused(file->data, file->size, offset, part);
    nx_text_free(file);
}

static void refused_metadata(const struct nx_text *top, const struct nx_text *raw, const char *offset,
                             const char *part)
{
    struct nx_text file = {0};

    ntff_file(&file, 6, top, raw);
    refused_file(&file, offset, part);
}

/* One core that holds `core`; takes both over. */
static void refused_core(struct nx_text *core, struct nx_text *raw, const char *offset, const char *part)
{
    struct nx_text top = {0};

    put_cores(&top, core, 1, NULL);
    refused_metadata(&top, raw, offset, part);
    nx_text_free(&top);
    nx_text_free(core);
    nx_text_free(raw);
}

static void short_headers(void **state)
{
    uint8_t bytes[NX_NTFF_HEADER_SIZE] = {6};

    (void)state;
    refused("", 0, "0:", "0 bytes are too few");
    for (size_t size = 1; size < sizeof(bytes); size++)
        refused(bytes, size, "0:", "too few for an NTFF: its header alone has 128");
}

static void other_versions(void **state)
{
    uint8_t bytes[NX_NTFF_HEADER_SIZE] = {0};
    char part[80];

    (void)state;
    for (unsigned version = 0; version < 256; version++) {
        if (version >= 4 && version <= 6)
            continue;
        bytes[0] = (uint8_t)version;
        snprintf(part, sizeof(part), "NTFF version %u is not supported (supported: 4, 5, 6)", version);
        refused(bytes, sizeof(bytes), "0:", part);
    }
}

static void metadata_beyond_the_end(void **state)
{
    static const uint64_t sizes[] = {17, UINT64_MAX, UINT64_MAX - 127, UINT64_MAX - 128, INT64_MAX};
    struct nx_text metadata = {0};

    (void)state;
    for (int i = 0; i < 8; i++)
        pb_number(&metadata, 7, 1);
    assert_int_equal(metadata.size, 16);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct nx_text file = {0};
        char part[80];

        ntff_file_claiming(&file, 4, sizes[i], &metadata, NULL);
        snprintf(part, sizeof(part), "metadata of %llu bytes expected behind the header, 16 found",
                 (unsigned long long)sizes[i]);
        refused_file(&file, "1:", part);
    }
    nx_text_free(&metadata);
}

static void no_cores(void **state)
{
    struct nx_text top = {0};

    (void)state;
    refused_metadata(&top, NULL, "128:", "a core expected in the metadata (0 bytes), none found");
    pb_text(&top, 1, "kernel.neff");
    put_cores(&top, NULL, 0, NULL);
    refused_metadata(&top, NULL, "128:", "none found");
    nx_text_free(&top);
}

static void malformed_protobuf(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *offset, *part;
    } cases[] = {
        {"\x38", 1, "129:", "varint runs past the end"},
        {"\x38\xff\xff", 3, "129:", "varint runs past the end"},
        {"\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "129:", "longer than 64 bits"},
        {"\x38\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12, "129:", "longer than 64 bits"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00", 11, "128:", "longer than 64 bits"},
        {"\x00\x00", 2, "12", "field number is out of range"},
        {"\x3b\x3c", 2, "12", "wire type is not 0, 1, 2 or 5"},
        {"\x3e", 1, "12", "wire type"},
        {"\x0a\x05"
         "abc",
         5, "1", "runs past the end of its message"},
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
         "abc",
         14, "1", "runs past the end of its message"},
        {"\x39\x01\x02", 3, "129:", "runs past the end of its message"},
        {"\x3d\x01\x02", 3, "129:", "runs past the end of its message"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct nx_text top = {0};

        nx_text_append(&top, cases[i].bytes, cases[i].size);
        refused_metadata(&top, NULL, cases[i].offset, cases[i].part);
        nx_text_free(&top);
    }
}

/* The same in every kind of message. */
static void malformed_messages_inside(void **state)
{
    static const uint32_t of_top[] = {4, 8, 11, 12, 13, 15, 16}, of_core[] = {4, 5, 6, 7, 10, 11};

    (void)state;
    for (size_t i = 0; i < sizeof(of_top) / sizeof(of_top[0]); i++) {
        struct nx_text top = {0}, core = {0};

        pb_bytes(&core, 1, "a", 1);
        if (of_top[i] == 16)
            put_cores(&top, &core, 1, NULL);
        pb_bytes(&top, of_top[i], "\x08\xff", 2);
        refused_metadata(&top, NULL, "1", "varint runs past the end");
        nx_text_free(&top);
        nx_text_free(&core);
    }
    for (size_t i = 0; i < sizeof(of_core) / sizeof(of_core[0]); i++) {
        struct nx_text core = {0}, raw = {0};

        pb_bytes(&core, of_core[i], "\x08\xff", 2);
        refused_core(&core, &raw, "1", "varint runs past the end");
    }
    for (uint32_t inside = 1; inside <= 8; inside++) { /* patch in patches, block in ring, clock in clocks */
        static const uint32_t parents[] = {5, 7, 10}, children[] = {2, 8, 8};

        for (size_t p = 0; p < 3; p++) {
            struct nx_text core = {0}, raw = {0}, message = {0};

            pb_bytes(&message, p == 2 && inside != 7 ? inside : children[p], "\x08\xff", 2);
            pb_message(&core, parents[p], &message);
            refused_core(&core, &raw, "1", "varint runs past the end");
            nx_text_free(&message);
        }
    }
}

static void sections_beyond_the_end(void **state)
{
    static const struct {
        uint64_t offset, size;
        const char *part;
    } cases[] = {
        {0, 64,
         "section of 64 bytes expected at offset 0 of the raw area, which has 48 bytes: the file is cut "
         "short"},
        {16, 48, "section of 48 bytes expected at offset 16"},
        {49, 0, "section of 0 bytes expected at offset 49"},
        {64, 16, "which has 48 bytes"},
        {UINT64_MAX, 16, "offset 18446744073709551615"},
        {UINT64_MAX - 15, 32, "cut short"},
        {16, UINT64_MAX - 15, "section of 18446744073709551600 bytes"},
        {(uint64_t)1 << 63, (uint64_t)1 << 63, "cut short"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (unsigned version = 5; version <= 6; version++) {
            struct nx_text core = {0}, top = {0}, raw = {0}, file = {0};

            for (uint32_t r = 0; r < 3; r++)
                put_record(&raw, 0, 0, 0);
            pb_text(&core, 1, "sg00");
            if (version == 5)
                put_section(&core, 6, 0, 0, cases[i].offset, cases[i].size, 0);
            put_cores(&top, &core, 1, NULL);
            if (version == 6)
                put_section(&top, 16, 0, 0, cases[i].offset, cases[i].size, 0);
            ntff_file(&file, version, &top, &raw);
            refused_file(&file, "1", cases[i].part);
            nx_text_free(&core);
            nx_text_free(&top);
            nx_text_free(&raw);
        }
}

static void code_beyond_the_end(void **state)
{
    struct nx_text core = {0}, raw = {0}, code = {0};

    (void)state;
    pb_number(&code, 1, 3);
    pb_number(&code, 7, UINT64_MAX - 63);
    pb_number(&code, 8, 128);
    pb_message(&core, 4, &code);
    refused_core(&core, &raw, "1",
                 "code of 128 bytes expected at offset 18446744073709551552 of the raw area");
    nx_text_free(&code);
}

static void sections_of_broken_records(void **state)
{
    (void)state;
    for (uint64_t size = 1; size < 48; size++) {
        struct nx_text core = {0}, raw = {0};

        if (size % 16 == 0)
            continue;
        for (uint32_t r = 0; r < 3; r++)
            put_record(&raw, 0, 0, 0);
        put_section(&core, 6, 0, 0, 0, size, 0);
        refused_core(&core, &raw, "1", "expected a multiple of 16");
    }
}

static void overlaps(void **state)
{
    static const struct {
        uint64_t first, second;
    } sections[] = {{0, 16}, {0, 0}, {16, 0}, {0, 31}};

    (void)state;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        struct nx_text core = {0}, raw = {0};

        for (uint32_t r = 0; r < 4; r++)
            put_record(&raw, 0, 0, 0);
        put_section(&core, 6, 0, 0, sections[i].first, 32, 0);
        put_section(&core, 6, 1, 0, sections[i].second, 32, 0);
        refused_core(&core, &raw, "1", "claimed twice");
    }
}

static void code_over_records(void **state)
{
    struct nx_text core = {0}, top = {0}, raw = {0}, code = {0};

    (void)state;
    for (uint32_t r = 0; r < 8; r++)
        put_record(&raw, 0, 0, 0);
    pb_number(&code, 8, 64);
    pb_message(&core, 4, &code);
    put_cores(&top, &core, 1, NULL);
    put_section(&top, 16, 0, 0, 48, 80, 0);
    refused_metadata(&top, &raw, "1", "claimed twice");
    nx_text_free(&core);
    nx_text_free(&top);
    nx_text_free(&raw);
    nx_text_free(&code);
}

static void absurd_engines(void **state)
{
    static const uint64_t engines[] = {5, 255, (uint64_t)1 << 32, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
        for (uint32_t field = 4; field <= 5; field++) {
            struct nx_text core = {0}, raw = {0}, m = {0};
            char part[64];

            pb_number(&m, 1, engines[i]);
            pb_message(&core, field, &m);
            snprintf(part, sizeof(part), "of engine %llu: expected 0 to 4", (unsigned long long)engines[i]);
            refused_core(&core, &raw, "1", part);
            nx_text_free(&m);
        }
}

/* Empty messages cost two bytes each in the file and much more in memory. */
static void absurd_counts(void **state)
{
    struct nx_text core = {0}, raw = {0}, device = {0}, node = {0}, top = {0};

    (void)state;
    for (uint32_t i = 0; i <= 4096; i++)
        pb_bytes(&core, 7, NULL, 0);
    refused_core(&core, &raw, "1", "4097 entries of field 7: at most 4096 are expected");
    for (uint32_t i = 0; i <= 4096; i++)
        pb_bytes(&core, 11, NULL, 0);
    refused_core(&core, &raw, "1", "4097 entries of field 11");
    for (uint32_t i = 0; i <= 65536; i++)
        pb_bytes(&core, 6, NULL, 0);
    refused_core(&core, &raw, "1", "65537 entries of field 6");
    for (uint32_t i = 0; i <= 256; i++)
        pb_bytes(&device, 1, NULL, 0);
    pb_message(&node, 4, &device);
    pb_message(&top, 4, &node);
    refused_metadata(&top, NULL, "", "more than 256 cores");
    nx_text_free(&device);
    nx_text_free(&node);
    nx_text_free(&top);
}

/* What can be read of a damaged file is still there for a dump. */
static void partly(void **state)
{
    struct nx_text core = {0}, top = {0}, raw = {0}, file = {0};
    struct nx_ntff ntff;
    struct nx_error error;

    (void)state;
    for (uint32_t r = 0; r < 3; r++)
        put_record(&raw, 0, 0, r);
    pb_text(&core, 1, "sg00");
    put_section(&core, 6, 0, 0, 16, 4096, 0); /* 2 of 256 records */
    put_section(&core, 6, 4, 1, 8192, 16, 0); /* not there at all */
    pb_number(&core, 14, 77);
    put_cores(&top, &core, 1, NULL);
    pb_text(&top, 9, "trn2.3xlarge");
    ntff_file(&file, 5, &top, &raw);
    assert_int_equal(
        nx_ntff_parse_partly("cut.ntff", (struct nx_bytes){(uint8_t *)file.data, file.size}, &ntff, &error),
        NX_BAD_INPUT);
    assert_non_null(strstr(error.text, "section of 4096 bytes"));
    assert_int_equal(ntff.core_count, 1);
    assert_int_equal(ntff.cores[0].section_count, 2);
    assert_int_equal(ntff.cores[0].sections[0].records.size, 32);
    assert_int_equal(ntff.cores[0].sections[1].records.size, 0);
    assert_int_equal(ntff.cores[0].exec_ps, 77);
    assert_string_equal(ntff.instance_type, "trn2.3xlarge");
    nx_ntff_close(&ntff);
    nx_text_free(&core);
    nx_text_free(&top);
    nx_text_free(&raw);
    nx_text_free(&file);
}

static void files_that_cannot_be_opened(void **state)
{
    struct nx_ntff ntff;
    struct nx_error error;

    (void)state;
    assert_int_equal(nx_ntff_open("/nonexistent/x.ntff", &ntff, &error), NX_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nonexistent/x.ntff: cannot open"));
    nx_ntff_close(&ntff);
    assert_int_equal(nx_ntff_open("/", &ntff, &error), NX_BAD_INPUT);
    assert_non_null(strstr(error.text, "not a regular file"));
    nx_ntff_close(&ntff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_headers),
        cmocka_unit_test(other_versions),
        cmocka_unit_test(metadata_beyond_the_end),
        cmocka_unit_test(no_cores),
        cmocka_unit_test(malformed_protobuf),
        cmocka_unit_test(malformed_messages_inside),
        cmocka_unit_test(sections_beyond_the_end),
        cmocka_unit_test(code_beyond_the_end),
        cmocka_unit_test(sections_of_broken_records),
        cmocka_unit_test(overlaps),
        cmocka_unit_test(code_over_records),
        cmocka_unit_test(absurd_engines),
        cmocka_unit_test(absurd_counts),
        cmocka_unit_test(partly),
        cmocka_unit_test(files_that_cannot_be_opened),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
