/* The small things that everything else stands on. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/interval.h"
#include "base/jobs.h"
#include "base/memory.h"
#include "base/merge.h"
#include "base/protobuf.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/warning.h"

static void error_names_file_and_offset(void **state)
{
    struct nx_error error;

    (void)state;
    assert_int_equal(nx_fail_at(&error, "a.ntff", 128, "expected %d", 3), NX_BAD_INPUT);
    assert_string_equal(error.text, "a.ntff: offset 128: expected 3");
    assert_int_equal(nx_fail(&error, NX_UNAVAILABLE, "no"), NX_UNAVAILABLE);
    assert_int_equal(error.status, NX_UNAVAILABLE);
}

static void error_text_is_cut_not_overrun(void **state)
{
    struct nx_error error;
    char longer[4096];

    (void)state;
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    nx_fail_at(&error, longer, 1, "tail");
    assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
}

static void slice_cannot_overflow(void **state)
{
    uint8_t data[8] = {0};
    struct nx_bytes all = {data, sizeof(data)}, piece;

    (void)state;
    assert_true(nx_bytes_slice(all, 8, 0, &piece));
    assert_true(nx_bytes_slice(all, 3, 5, &piece));
    assert_ptr_equal(piece.data, data + 3);
    assert_false(nx_bytes_slice(all, 3, 6, &piece));
    assert_false(nx_bytes_slice(all, 9, 0, &piece));
    assert_false(nx_bytes_slice(all, 4, UINT64_MAX, &piece));
    assert_false(nx_bytes_slice(all, UINT64_MAX, 4, &piece));
}

static void protobuf_walks_every_wire_type(void **state)
{
    static const uint8_t message[] = {0x08, 0x96, 0x01,                   /* 1: varint 150 */
                                      0x12, 0x03, 'a',  'b',  'c',        /* 2: bytes */
                                      0x1d, 1,    0,    0,    0x80,       /* 3: fixed32 */
                                      0x21, 2,    0,    0,    0, 0, 0, 0, 0x80, /* 4: fixed64 */
                                      0x2a, 0x03, 0x01, 0x80, 0x02};      /* 5: packed 1, 256 */
    struct nx_pb pb = nx_pb_open((struct nx_bytes){message, sizeof(message)});
    struct nx_pb_field f;
    size_t at = 0;
    uint64_t value;

    (void)state;
    assert_true(nx_pb_next(&pb, &f));
    assert_int_equal(f.number, 1);
    assert_int_equal(f.value, 150);
    assert_true(nx_pb_next(&pb, &f));
    assert_int_equal(f.bytes.size, 3);
    assert_memory_equal(f.bytes.data, "abc", 3);
    assert_true(nx_pb_next(&pb, &f));
    assert_int_equal(f.value, 0x80000001);
    assert_true(nx_pb_next(&pb, &f));
    assert_true(f.value == 0x8000000000000002u);
    assert_true(nx_pb_next(&pb, &f));
    assert_true(nx_pb_next_packed(&pb, &f, &at, &value));
    assert_int_equal(value, 1);
    assert_true(nx_pb_next_packed(&pb, &f, &at, &value));
    assert_int_equal(value, 256);
    assert_false(nx_pb_next_packed(&pb, &f, &at, &value));
    assert_false(nx_pb_next(&pb, &f));
    assert_null(pb.problem);
}

static void protobuf_refuses_malformed(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        {"\x08", 1},                                              /* key without value */
        {"\x08\x80\x80", 3},                                      /* varint cut */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11},     /* more than 64 bits */
        {"\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12}, /* 11 bytes */
        {"\x12\x05" "ab", 4},                                     /* length beyond the end */
        {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},     /* length 2^64 - 1 */
        {"\x1d\x01\x02", 3},                                      /* fixed32 cut */
        {"\x21\x01\x02", 3},                                      /* fixed64 cut */
        {"\x0b", 1},                                              /* group */
        {"\x00\x01", 2},                                          /* field number 0 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct nx_pb pb = nx_pb_open((struct nx_bytes){(const uint8_t *)bad[i].bytes, bad[i].size});
        struct nx_pb_field f;

        while (nx_pb_next(&pb, &f))
            ;
        assert_non_null(pb.problem);
        assert_false(nx_pb_next(&pb, &f));
    }
}

static void dictionary_numbers_each_text_once(void **state)
{
    struct nx_dict dict = {0};
    char text[32];

    (void)state;
    assert_int_equal(nx_dict_find(&dict, "0"), NX_NO_TEXT);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 10000; i++) {
            snprintf(text, sizeof(text), "%d", i);
            assert_int_equal(nx_dict_add_string(&dict, text), i);
        }
    assert_int_equal(dict.count, 10000);
    assert_string_equal(dict.entries[9999].data, "9999");
    assert_int_equal(nx_dict_find(&dict, "77"), 77);
    assert_int_equal(nx_dict_find(&dict, "x"), NX_NO_TEXT);
    assert_int_equal(nx_dict_add(&dict, "a\0b", 3), 10000);
    assert_int_equal(nx_dict_add(&dict, "a", 1), 10001);
    assert_int_equal(nx_dict_add(&dict, "", 0), 10002);
    nx_dict_free(&dict);
}

static void json_strings_are_escaped_and_valid(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain", "\"plain\""},
        {"a\"b\\c\n\x01", "\"a\\\"b\\\\c\\n\\u0001\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff|", "\"\xef\xbf\xbd|\""},                                /* not UTF-8 */
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                  /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* surrogate */
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                  /* cut */
    };
    struct nx_text text = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        nx_text_clear(&text);
        nx_text_json_string(&text, cases[i].in, strlen(cases[i].in));
        assert_string_equal(nx_text_string(&text), cases[i].out);
    }
    nx_text_free(&text);
}

static void text_grows(void **state)
{
    struct nx_text text = {0};

    (void)state;
    assert_string_equal(nx_text_string(&text), "");
    for (int i = 0; i < 1000; i++)
        nx_text_printf(&text, "%03d,", i);
    assert_int_equal(text.size, 4000);
    assert_memory_equal(text.data + 3996, "999,", 5);
    nx_text_free(&text);
}

static void intervals_merge_exactly(void **state)
{
    struct nx_interval list[] = {{50, 60}, {0, 10}, {10, 20}, {55, 58}, {30, 30}, {5, 12}, {61, 70}};
    size_t count = nx_interval_merge(list, 7);

    (void)state;
    assert_int_equal(count, 4);
    assert_int_equal(list[0].start, 0);
    assert_int_equal(list[0].end, 20);
    assert_int_equal(list[1].start, 30);
    assert_int_equal(list[3].start, 61);
    assert_int_equal(nx_interval_length(list, count), 20 + 0 + 10 + 9);
    assert_int_equal(nx_interval_merge(list, 0), 0);
}

/* Against the definition itself: a unit of time is covered if any interval holds it. */
static void interval_union_equals_counting(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 200; round++) {
        struct nx_interval list[40];
        char covered[256] = {0};
        int64_t expected = 0;

        for (int i = 0; i < 40; i++) {
            list[i].start = rand() % 200;
            list[i].end = list[i].start + rand() % 8;
            for (int64_t t = list[i].start; t < list[i].end; t++)
                covered[t] = 1;
        }
        for (int t = 0; t < 256; t++)
            expected += covered[t];
        assert_int_equal(nx_interval_length(list, nx_interval_merge(list, 40)), expected);
    }
}

static void sort_is_stable_and_right(void **state)
{
    enum { COUNT = 20000 };
    uint64_t *keys = nx_alloc(COUNT * sizeof(*keys));
    uint32_t *order = nx_alloc(COUNT * sizeof(*order));

    (void)state;
    srand(11);
    for (unsigned round = 0; round < 6; round++) {
        uint64_t mask = round == 0 ? 0 : round == 1 ? 7 : UINT64_MAX >> (10 * round);

        for (int i = 0; i < COUNT; i++)
            keys[i] = ((uint64_t)rand() << 40 ^ (uint64_t)rand() << 20 ^ (uint64_t)rand()) & mask;
        nx_sort_order(keys, order, COUNT);
        for (int i = 1; i < COUNT; i++) {
            assert_true(keys[order[i - 1]] <= keys[order[i]]);
            assert_true(keys[order[i - 1]] < keys[order[i]] || order[i - 1] < order[i]);
        }
    }
    nx_sort_order(keys, order, 0);
    free(keys);
    free(order);
}

/* A few rising runs, as sections of a trace are, and keys that a merge cannot tell from its end. */
static void sort_merges_runs(void **state)
{
    enum { COUNT = 5000 };
    uint64_t *keys = nx_alloc(COUNT * sizeof(*keys));
    uint32_t *order = nx_alloc(COUNT * sizeof(*order));

    (void)state;
    srand(5);
    for (int runs = 1; runs < 400; runs = runs * 3 / 2 + 1) {
        int length = COUNT / runs + 1;

        for (int i = 0; i < COUNT; i++)
            keys[i] = (i % length ? keys[i - 1] : (uint64_t)rand() % 50) + (uint64_t)rand() % 4;
        if (runs % 2)
            keys[COUNT - 1] = keys[COUNT / 2] = UINT64_MAX;
        nx_sort_order(keys, order, COUNT);
        for (int i = 1; i < COUNT; i++)
            assert_true(keys[order[i - 1]] < keys[order[i]] ||
                        (keys[order[i - 1]] == keys[order[i]] && order[i - 1] < order[i]));
    }
    free(keys);
    free(order);
}

static void merge_takes_the_least_of_any_number_of_lists(void **state)
{
    (void)state;
    srand(3);
    for (size_t lists = 1; lists <= 33; lists++) {
        uint64_t keys[33][20], first[33];
        size_t length[33], at[33] = {0}, total = 0, seen = 0;
        struct nx_merge merge;
        uint64_t before = 0;
        uint32_t before_list = 0;

        for (size_t l = 0; l < lists; l++) {
            length[l] = (size_t)rand() % 20;
            total += length[l];
            for (size_t i = 0; i < length[l]; i++)
                keys[l][i] = (i ? keys[l][i - 1] : 0) + (uint64_t)rand() % 3;
            first[l] = length[l] ? keys[l][0] : NX_MERGE_END;
        }
        nx_merge_open(&merge, first, lists);
        for (; nx_merge_key(&merge) != NX_MERGE_END; seen++) {
            uint32_t l = nx_merge_list(&merge);

            assert_true(at[l] < length[l] && nx_merge_key(&merge) == keys[l][at[l]]);
            assert_true(seen == 0 || before < keys[l][at[l]] || (before == keys[l][at[l]] && before_list <= l));
            before = keys[l][at[l]];
            before_list = l;
            at[l]++;
            nx_merge_next(&merge, at[l] < length[l] ? keys[l][at[l]] : NX_MERGE_END);
        }
        assert_int_equal(seen, total);
        nx_merge_close(&merge);
    }
}

static void count_up(void *context, size_t number)
{
    atomic_fetch_add(&((atomic_int *)context)[number], 1);
}

static void every_job_is_done_once(void **state)
{
    enum { JOBS = 1000 };
    static atomic_int done[JOBS];

    (void)state;
    for (unsigned threads = 0; threads <= 5; threads++) {
        for (size_t count = 0; count <= JOBS; count += 250) {
            memset(done, 0, sizeof(done));
            nx_jobs_run(count_up, done, count, threads);
            for (size_t i = 0; i < JOBS; i++)
                assert_int_equal(done[i], i < count);
        }
    }
    assert_in_range(nx_jobs_threads(), 1, NX_JOBS_MAX_THREADS);
}

static void arena_gives_zeroed_aligned_memory(void **state)
{
    struct nx_arena arena = {0};

    (void)state;
    for (size_t size = 1; size < 3000; size += 7) {
        unsigned char *p = nx_arena_alloc(&arena, size, 3);

        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size * 3; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size * 3);
    }
    assert_string_equal(nx_arena_printf(&arena, "%s-%d", "a", 5), "a-5");
    assert_string_equal(nx_arena_text(&arena, "abcdef", 3), "abc");
    nx_arena_free(&arena);
}

static void warnings_are_kept_once(void **state)
{
    struct nx_warnings warnings = {0};

    (void)state;
    nx_warn(&warnings, NX_WARN_MISSING, "a %d", 1);
    nx_warn(&warnings, NX_WARN_MISSING, "a %d", 2);
    nx_warn(&warnings, NX_WARN_MISSING, "a %d", 1);
    assert_int_equal(warnings.count, 2);
    for (int i = 0; i < 100000; i++)
        nx_warn(&warnings, NX_WARN_UNKNOWN, "w %d", i);
    assert_true(warnings.count <= NX_WARNINGS_MAX);
    assert_string_equal(warnings.list[warnings.count - 1].message, "further warnings were left out");
    nx_warnings_free(&warnings);
}

static void text_is_cut_and_measured(void **state)
{
    static const char text[] = "a\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80";

    (void)state;
    assert_int_equal(nx_utf8_cut(text, 10, 10), 10);
    assert_int_equal(nx_utf8_cut(text, 10, 100), 10);
    for (size_t max = 0; max < 10; max++) {
        size_t cut = nx_utf8_cut(text, 10, max);

        assert_true(cut <= max && max - cut < 4);
        assert_true(nx_text_is_utf8(text, cut));
    }
    assert_int_equal(nx_utf8_cut("\x80\x80\x80", 3, 2), 0);
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        skip();
    assert_int_equal(nx_text_width("abc"), 3);
    assert_int_equal(nx_text_width("\xc3\xa9"), 1);
    assert_int_equal(nx_text_width("\xe6\x97\xa5\xe6\x9c\xac"), 4);
    assert_int_equal(nx_text_width("a\xff\n"), 3);
    setlocale(LC_CTYPE, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_names_file_and_offset),
        cmocka_unit_test(error_text_is_cut_not_overrun),
        cmocka_unit_test(slice_cannot_overflow),
        cmocka_unit_test(protobuf_walks_every_wire_type),
        cmocka_unit_test(protobuf_refuses_malformed),
        cmocka_unit_test(dictionary_numbers_each_text_once),
        cmocka_unit_test(json_strings_are_escaped_and_valid),
        cmocka_unit_test(text_grows),
        cmocka_unit_test(text_is_cut_and_measured),
        cmocka_unit_test(intervals_merge_exactly),
        cmocka_unit_test(interval_union_equals_counting),
        cmocka_unit_test(sort_is_stable_and_right),
        cmocka_unit_test(sort_merges_runs),
        cmocka_unit_test(merge_takes_the_least_of_any_number_of_lists),
        cmocka_unit_test(every_job_is_done_once),
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(warnings_are_kept_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
