/* gzip and tar: what is read, and what hostile archives get to hear. */
#include "package.h"

#include "neff/reader.h"

/* The parts of a NEFF that reads, without the end of the tar. */
static void start(struct nx_text *tar)
{
    nx_text_clear(tar);
    for (size_t i = 0; i < WHOLE_NEFF_PARTS; i++)
        put_part(tar, &whole_neff[i]);
}

static void finish(struct nx_text *tar, struct nx_text *file)
{
    struct nx_text packed = {0};

    tar_end(tar);
    gzip(tar, 1, &packed);
    neff_file(file, packed.data, packed.size);
    nx_text_free(&packed);
}

static void assert_reads(const struct nx_text *file, size_t members)
{
    struct nx_neff neff;
    struct nx_error error;

    if (parse_text(file, &neff, &error) != NX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(neff.member_count, members);
    assert_int_equal(neff.graph_count, 1);
    assert_int_equal(neff.graphs[0].engines[NX_PE].code.size, 128);
    nx_neff_close(&neff);
}

static void gzip_plain_tar_and_padding_are_read(void **state)
{
    static const char padding[10240];
    struct nx_text tar = {0}, file = {0}, packed = {0};

    (void)state;
    start(&tar);
    finish(&tar, &file);
    assert_reads(&file, WHOLE_NEFF_PARTS);

    neff_file(&file, tar.data, tar.size);
    assert_reads(&file, WHOLE_NEFF_PARTS);

    gzip(&tar, 9, &packed);
    nx_text_append(&packed, padding, sizeof(padding));
    neff_file(&file, packed.data, packed.size);
    assert_reads(&file, WHOLE_NEFF_PARTS);
    nx_text_free(&tar);
    nx_text_free(&file);
    nx_text_free(&packed);
}

static void members_are_listed_as_they_stand(void **state)
{
    struct nx_neff neff;
    uint64_t at = 0;

    (void)state;
    read_with(NULL, 0, &neff);
    assert_int_equal(neff.member_count, WHOLE_NEFF_PARTS);
    for (size_t i = 0; i < WHOLE_NEFF_PARTS; i++) {
        size_t size = strlen(whole_neff[i].content);

        assert_string_equal(neff.members[i].name, whole_neff[i].name);
        assert_int_equal(neff.members[i].size, size);
        assert_int_equal(neff.members[i].offset, at);
        at += TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    }
    nx_neff_close(&neff);
}

static void a_dot_in_front_and_folders_do_not_matter(void **state)
{
    struct nx_text tar = {0}, file = {0};

    (void)state;
    tar_header(&tar, "./", '5', "", 0);
    tar_header(&tar, "./sg00/", '5', "", 0);
    for (size_t i = 0; i < WHOLE_NEFF_PARTS; i++) {
        struct part part = whole_neff[i];
        char name[128];

        snprintf(name, sizeof(name), "%s%s", i % 2 ? "./" : "././", part.name);
        part.name = name;
        put_part(&tar, &part);
    }
    finish(&tar, &file);
    assert_reads(&file, WHOLE_NEFF_PARTS);
    nx_text_free(&tar);
    nx_text_free(&file);
}

static void refused_with_entry(const char *name, char type, const char *target, const char *why)
{
    struct nx_text tar = {0}, file = {0};

    start(&tar);
    if (strlen(name) > 100) {
        tar_file(&tar, name, "x", 1);
    } else {
        tar_header(&tar, name, type, target, type == TAR_FILE ? 1 : 0);
        if (type == TAR_FILE)
            tar_content(&tar, "x", 1);
    }
    finish(&tar, &file);
    assert_refusal(&file, why);
    nx_text_free(&tar);
    nx_text_free(&file);
}

static void hostile_names_are_refused(void **state)
{
    char name[NX_NEFF_MAX_NAME + 16];

    (void)state;
    refused_with_entry("/etc/passwd", TAR_FILE, "", "absolute");
    refused_with_entry(".//etc/passwd", TAR_FILE, "", "absolute");
    refused_with_entry("../up", TAR_FILE, "", "climbs");
    refused_with_entry("./../up", TAR_FILE, "", "climbs");
    refused_with_entry("sg00/../../up", TAR_FILE, "", "climbs");
    refused_with_entry("sg00/..", TAR_FILE, "", "climbs");
    refused_with_entry("sg00/a\nb.json", TAR_FILE, "", "control characters");
    refused_with_entry("sg00/\x1b[2J", TAR_FILE, "", "control characters");
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    refused_with_entry(name, TAR_FILE, "", "longer than 4,096 bytes");
}

static void harmless_names_are_read(void **state)
{
    static const char *const names[] = {"sg00/..a", "a..b/...", "sg00/ space \xc3\xa9", "sg00/not utf-8 \xff",
                                        "x/./y"};
    struct nx_text tar = {0}, file = {0};
    char longer[200];

    (void)state;
    start(&tar);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        tar_file(&tar, names[i], "x", 1);
    memset(longer, 'l', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    tar_file(&tar, longer, "x", 1);
    finish(&tar, &file);
    assert_reads(&file, WHOLE_NEFF_PARTS + sizeof(names) / sizeof(names[0]) + 1);
    nx_text_free(&tar);
    nx_text_free(&file);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    refused_with_entry("link", '1', "kelf-0.json", "link");
    refused_with_entry("link", '2', "/etc/passwd", "link");
    refused_with_entry("device", '3', "", "neither a file nor a folder");
    refused_with_entry("device", '4', "", "neither a file nor a folder");
    refused_with_entry("pipe", '6', "", "neither a file nor a folder");
}

static void a_name_that_stands_twice_is_refused(void **state)
{
    (void)state;
    refused_with_entry("kelf-0.json", TAR_FILE, "", "two members are named kelf-0.json");
    refused_with_entry("./sg00/def.json", TAR_FILE, "", "two members are named sg00/def.json");
    refused_with_entry("sg00/value_w_CRSM.npy", TAR_FILE, "", "two members are named sg00/value_w_CRSM.npy");
}

static void too_many_entries_are_refused(void **state)
{
    struct nx_text tar = {0}, file = {0};
    char name[32];

    (void)state;
    start(&tar);
    for (int i = 0; i < NX_NEFF_MAX_MEMBERS; i++) {
        snprintf(name, sizeof(name), i % 2 ? "%d" : "folder-%d/", i);
        tar_header(&tar, name, i % 2 ? TAR_FILE : '5', "", 0);
    }
    finish(&tar, &file);
    assert_refusal(&file, "more than 100,000 members");
    nx_text_free(&tar);
    nx_text_free(&file);
}

/* A size that the archive cannot hold is refused before memory is asked for. */
static void absurd_sizes_are_refused(void **state)
{
    static const struct {
        uint64_t size;
        const char *why;
    } cases[] = {
        {(uint64_t)1 << 62, "larger than 4 GiB"},        {((uint64_t)4 << 30) + 1, "larger than 4 GiB"},
        {(uint64_t)4 << 30, "larger than what is left"}, {(uint64_t)1 << 31, "larger than what is left"},
        {512 * 1024 * 1024, "larger than what is left"}, {4096, ""}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int plain = 0; plain < 2; plain++) {
            struct nx_text tar = {0}, packed = {0}, file = {0};

            start(&tar);
            tar_header(&tar, i % 2 ? "sg00/a.bin" : "sg00/a.npy", TAR_FILE, "", cases[i].size);
            gzip(&tar, 1, &packed);
            if (plain)
                neff_file(&file, tar.data, tar.size);
            else
                neff_file(&file, packed.data, packed.size);
            assert_refusal(&file, cases[i].why);
            nx_text_free(&tar);
            nx_text_free(&packed);
            nx_text_free(&file);
        }
}

/* GNU sparse files have a size without bytes. */
static void a_sparse_member_cannot_ask_for_gigabytes(void **state)
{
    struct nx_text tar = {0}, file = {0};
    char *block;
    unsigned sum = 0;
    size_t at;

    (void)state;
    start(&tar);
    at = tar.size;
    tar_header(&tar, "sg00/hole.bin", 'S', "", 512);
    tar_content(&tar, CODE_64, 64);
    block = tar.data + at;
    memcpy(block + 257, "ustar  ", 8);
    snprintf(block + 386, 12, "%011o", 0);               /* one piece: at 0 ... */
    snprintf(block + 398, 12, "%011o", 512);             /* ... of 512 bytes */
    snprintf(block + 483, 12, "%011llo", 2000000000ULL); /* of a file of 2 GB */
    memset(block + 148, ' ', 8);
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    finish(&tar, &file);
    assert_refusal(&file, "larger than what is left");
    nx_text_free(&tar);
    nx_text_free(&file);
}

/* Zeros at the largest ratio that deflate has: the end comes at the limit (here a smaller one), not at the
 * last. */
static void a_bomb_ends_at_the_limit(void **state)
{
    struct nx_text tar = {0}, file = {0};
    struct nx_neff neff = {0};
    struct nx_error error = {0};
    struct nx_neff_reader reader = {
        .neff = &neff, .path = "made.neff", .error = &error, .max_unpacked = 32 << 20};
    uint8_t *zeros = nx_zalloc(64 << 20, 1);

    (void)state;
    start(&tar);
    tar_file(&tar, "sg00/a.npy", zeros, 64 << 20);
    finish(&tar, &file);
    assert_true(file.size < 1 << 20);
    for (int big = 0; big < 2; big++) {
        struct nx_bytes bytes = {(uint8_t *)file.data, file.size};

        if (big)
            reader.max_unpacked = 128 << 20;
        assert_int_equal(nx_neff_read_header(&reader, bytes), NX_OK);
        assert_int_equal(nx_neff_read_archive(&reader, bytes), big ? NX_OK : NX_BAD_INPUT);
        nx_neff_drop_archive(&reader);
        nx_neff_close(&neff);
    }
    assert_non_null(strstr(error.text, "unpacks to more bytes"));
    free(zeros);
    nx_text_free(&tar);
    nx_text_free(&file);
}

/* libarchive alone would not notice: it does not compare the checksum. */
static void a_wrong_checksum_is_noticed(void **state)
{
    struct nx_text tar = {0}, file = {0}, packed = {0};

    (void)state;
    start(&tar);
    tar_end(&tar);
    gzip(&tar, 0, &packed); /* stored: a changed byte is still valid deflate data */
    neff_file(&file, packed.data, packed.size);
    assert_reads(&file, WHOLE_NEFF_PARTS);

    packed.data[packed.size - 8] ^= 1; /* the CRC */
    neff_file(&file, packed.data, packed.size);
    assert_refusal(&file, "checksum");
    packed.data[packed.size - 8] ^= 1;

    packed.data[packed.size - 4] ^= 1; /* the length */
    neff_file(&file, packed.data, packed.size);
    assert_refusal(&file, "incorrect length check");
    packed.data[packed.size - 4] ^= 1;

    packed.data[packed.size - 700] ^= 1; /* padding at the end of the tar: nothing but the CRC would tell */
    neff_file(&file, packed.data, packed.size);
    assert_refusal(&file, "checksum");
    nx_text_free(&tar);
    nx_text_free(&packed);
    nx_text_free(&file);
}

static void cut_or_broken_data_are_refused(void **state)
{
    struct nx_text tar = {0}, file = {0}, packed = {0};

    (void)state;
    start(&tar);
    tar_end(&tar);
    gzip(&tar, 6, &packed);
    for (size_t size = 0; size < packed.size;
         size += 7) { /* the header agrees: the payload itself is short */
        neff_file(&file, packed.data, size);
        assert_refusal(&file, "archive: ");
    }
    packed.data[2] = 0; /* not deflate */
    neff_file(&file, packed.data, packed.size);
    assert_refusal(&file, "archive: ");
    neff_file(&file, "neither gzip nor tar", 20);
    assert_refusal(&file, "archive: ");
    nx_text_clear(&tar);
    finish(&tar, &file);
    assert_refusal(&file, "no members");
    tar.data[0] = 'x'; /* a header whose checksum is wrong */
    neff_file(&file, tar.data, tar.size);
    assert_refusal(&file, "archive: ");
    nx_text_free(&tar);
    nx_text_free(&packed);
    nx_text_free(&file);
}

static void a_damaged_archive_is_read_as_far_as_it_goes(void **state)
{
    struct nx_text tar = {0}, file = {0}, packed = {0};
    struct nx_neff neff;
    struct nx_error error = {0};

    (void)state;
    start(&tar);
    tar_end(&tar);
    gzip(&tar, 0, &packed);
    packed.data[packed.size - 8] ^= 1;
    neff_file(&file, packed.data, packed.size);
    assert_int_equal(
        nx_neff_parse_partly("made.neff", (struct nx_bytes){(uint8_t *)file.data, file.size}, &neff, &error),
        NX_BAD_INPUT);
    assert_non_null(strstr(error.text, "checksum"));
    assert_int_equal(neff.member_count, WHOLE_NEFF_PARTS);
    assert_string_equal(neff.target, "cayman");
    assert_int_equal(neff.graph_count, 1);
    assert_int_equal(neff.graphs[0].var_count, 4);
    nx_neff_close(&neff);

    /* cut in the middle: header, and the members until there */
    assert_int_equal(nx_neff_parse_partly("made.neff", (struct nx_bytes){(uint8_t *)file.data, 1024 + 3700},
                                          &neff, &error),
                     NX_BAD_INPUT);
    assert_non_null(strstr(error.text, "cut short"));
    assert_string_equal(neff.header.name, "made.neff");
    assert_int_equal(neff.member_count, 4); /* the fourth is the one that is cut */
    assert_string_equal(neff.compiler_version, "2.23.0");
    assert_true(has_warning(&neff, "cut short"));
    assert_true(has_warning(&neff, "sg00/def.json"));
    nx_neff_close(&neff);

    /* not even a header */
    assert_int_equal(
        nx_neff_parse_partly("made.neff", (struct nx_bytes){(uint8_t *)file.data, 1000}, &neff, &error),
        NX_BAD_INPUT);
    assert_int_equal(neff.header.header_size, 0);
    nx_neff_close(&neff);

    /* nothing wrong: the same as nx_neff_parse() */
    packed.data[packed.size - 8] ^= 1;
    neff_file(&file, packed.data, packed.size);
    assert_int_equal(
        nx_neff_parse_partly("made.neff", (struct nx_bytes){(uint8_t *)file.data, file.size}, &neff, &error),
        NX_OK);
    assert_int_equal(neff.warnings.count, 0);
    nx_neff_close(&neff);
    nx_text_free(&tar);
    nx_text_free(&packed);
    nx_text_free(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_plain_tar_and_padding_are_read),
        cmocka_unit_test(members_are_listed_as_they_stand),
        cmocka_unit_test(a_dot_in_front_and_folders_do_not_matter),
        cmocka_unit_test(hostile_names_are_refused),
        cmocka_unit_test(harmless_names_are_read),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(a_name_that_stands_twice_is_refused),
        cmocka_unit_test(too_many_entries_are_refused),
        cmocka_unit_test(absurd_sizes_are_refused),
        cmocka_unit_test(a_sparse_member_cannot_ask_for_gigabytes),
        cmocka_unit_test(a_bomb_ends_at_the_limit),
        cmocka_unit_test(a_wrong_checksum_is_noticed),
        cmocka_unit_test(cut_or_broken_data_are_refused),
        cmocka_unit_test(a_damaged_archive_is_read_as_far_as_it_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
