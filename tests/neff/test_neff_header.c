/* The 1024 bytes in front: each field from its place, and what is refused. */
#include "package.h"

/* A header in which each field has a value of its own, before a payload that reads. */
static void make(struct nx_text *file)
{
    uint8_t *p;

    neff_with(NULL, 0, file);
    p = (uint8_t *)file->data;
    put_u64(p + 24, 0x1122334455667788);
    put_u64(p + 32, 0x99);
    memset(p + 40, 'b', 128); /* fills its field: there is no NUL */
    put_u32(p + 168, 0x01020304);
    for (int i = 0; i < 32; i++)
        p[172 + i] = (uint8_t)(0xa0 + i);
    for (int i = 0; i < 16; i++)
        p[204 + i] = (uint8_t)(0x10 + i);
    memset(p + 220, 'n', 256);
    put_u32(p + 476, 7);
    for (int i = 0; i < 64; i++)
        p[480 + i] = (uint8_t)(i + 1);
    put_u64(p + 544, (uint64_t)1 << 63 | 0xc00);
    put_u32(p + 552, 2);
}

static void each_field_has_its_place(void **state)
{
    struct nx_text file = {0};
    struct nx_neff neff;
    struct nx_error error;
    const struct nx_neff_header *h = &neff.header;

    (void)state;
    make(&file);
    assert_int_equal(parse_text(&file, &neff, &error), NX_OK);
    assert_int_equal(h->package_version, 2);
    assert_int_equal(h->header_size, 1024);
    assert_int_equal(h->data_size, file.size - 1024);
    assert_true(h->major_version == 0x1122334455667788);
    assert_int_equal(h->minor_version, 0x99);
    assert_int_equal(strlen(h->build_version), 128);
    assert_int_equal(h->num_tpb, 0x01020304);
    for (int i = 0; i < 32; i++)
        assert_int_equal(h->hash[i], 0xa0 + i);
    for (int i = 0; i < 16; i++)
        assert_int_equal(h->uuid[i], 0x10 + i);
    assert_int_equal(strlen(h->name), 256);
    assert_int_equal(h->name[255], 'n');
    assert_int_equal(h->requested_tpb, 7);
    for (int i = 0; i < 64; i++)
        assert_int_equal(h->tpb_per_node[i], i + 1);
    assert_true(h->feature_bits == ((uint64_t)1 << 63 | 0xc00));
    assert_int_equal(h->lnc_size, 2);
    assert_string_equal(neff.path, "made.neff");
    nx_neff_close(&neff);
    nx_neff_close(&neff); /* twice does no harm */
    nx_text_free(&file);
}

static void a_longer_header_is_skipped(void **state)
{
    static const char more[512] = "what a later version may put here";
    struct nx_text file = {0}, longer = {0};
    struct nx_neff neff;
    struct nx_error error;

    (void)state;
    make(&file);
    nx_text_append(&longer, file.data, 1024);
    nx_text_append(&longer, more, sizeof(more));
    nx_text_append(&longer, file.data + 1024, file.size - 1024);
    put_u64((uint8_t *)longer.data + 8, 1024 + sizeof(more));
    assert_int_equal(parse_text(&longer, &neff, &error), NX_OK);
    assert_int_equal(neff.graph_count, 1);
    assert_int_equal(neff.warnings.count, 0);
    nx_neff_close(&neff);
    nx_text_free(&file);
    nx_text_free(&longer);
}

static void bytes_behind_the_end_are_a_warning(void **state)
{
    struct nx_text file = {0};
    struct nx_neff neff;
    struct nx_error error;

    (void)state;
    make(&file);
    nx_text_puts(&file, "tail");
    assert_int_equal(parse_text(&file, &neff, &error), NX_OK);
    assert_true(has_warning(&neff, "4 bytes behind the end"));
    nx_neff_close(&neff);
    nx_text_free(&file);
}

static void refused(size_t at, uint64_t value, const char *why)
{
    struct nx_text file = {0};

    make(&file);
    put_u64((uint8_t *)file.data + at, value);
    assert_refusal(&file, why);
    nx_text_free(&file);
}

static void what_is_no_neff_is_refused(void **state)
{
    struct nx_text file = {0};

    (void)state;
    refused(0, 1, "offset 0: expected package version 2, found 1");
    refused(0, 0x1f8b0800, "offset 0: expected package version 2");
    refused(0, UINT64_MAX, "found 18446744073709551615");
    refused(8, 1023, "offset 8: header size 1023");
    refused(8, 0, "offset 8: header size 0");
    refused(8, UINT64_MAX, "offset 8: header size 18446744073709551615");
    refused(16, UINT64_MAX, "offset 16: 18446744073709551615 bytes of data expected");
    refused(16, UINT64_MAX - 1023, "offset 16: "); /* header + data wraps around to 0 */
    refused(16, 0, "archive");

    make(&file);
    for (size_t size = 0; size < 1024; size += 31) {
        file.size = size;
        assert_refusal(&file, "too few for a NEFF");
    }
    file.size = 1024;
    assert_refusal(&file, "offset 16: ");
    nx_text_free(&file);
}

static void a_file_that_is_none_is_refused(void **state)
{
    struct nx_neff neff;
    struct nx_error error;

    (void)state;
    assert_int_equal(nx_neff_open("/nowhere/a.neff", &neff, &error), NX_BAD_INPUT);
    assert_non_null(strstr(error.text, "/nowhere/a.neff"));
    nx_neff_close(&neff);
    assert_int_equal(nx_neff_open("/", &neff, &error), NX_BAD_INPUT);
    assert_int_equal(nx_neff_open_partly("/", &neff, &error), NX_BAD_INPUT);
    nx_neff_close(&neff);
}

static void features_have_names(void **state)
{
    char out[256];

    (void)state;
    nx_neff_feature_names(0, out, sizeof(out));
    assert_string_equal(out, "");
    nx_neff_feature_names(0xc00, out, sizeof(out));
    assert_string_equal(out, "virtual-core, v3-2x-4x-dve-perf-mode");
    nx_neff_feature_names(0xc01, out, sizeof(out));
    assert_string_equal(out, "virtual-core, v3-2x-4x-dve-perf-mode, bit 0");
    nx_neff_feature_names((uint64_t)1 << 63 | 0x400, out,
                          sizeof(out)); /* one of the pair: nobody knows which */
    assert_string_equal(out, "bit 10, bit 63");
    nx_neff_feature_names(UINT64_MAX, out, 20); /* cut, not overrun */
    assert_int_equal(strlen(out), 19);
    nx_neff_feature_names(UINT64_MAX, out, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_has_its_place),           cmocka_unit_test(a_longer_header_is_skipped),
        cmocka_unit_test(bytes_behind_the_end_are_a_warning), cmocka_unit_test(what_is_no_neff_is_refused),
        cmocka_unit_test(a_file_that_is_none_is_refused),     cmocka_unit_test(features_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
