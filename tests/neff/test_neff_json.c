/* A long list read an element at a time must be what it is when the document is read whole. */
#include "package.h"

#include "neff/reader.h"

struct seen {
    struct nx_text text; /* the elements, compact, one a line */
    size_t count, stop;  /* stop: fail at that element; 0: never */
};

static enum nx_status see(void *context, const json_t *element)
{
    struct seen *seen = context;
    char *text = json_dumps(element, JSON_COMPACT | JSON_ENCODE_ANY);

    nx_text_printf(&seen->text, "%s\n", text);
    free(text);
    return ++seen->count == seen->stop ? NX_FAILED : NX_OK;
}

/* A reader with one member, "a.json", of that content, in memory of exactly its size. */
struct fixture {
    struct nx_neff neff;
    struct nx_error error;
    struct nx_kept_member member;
    struct nx_neff_reader reader;
    uint8_t *copy;
};

static struct nx_neff_reader *set_up(struct fixture *f, const char *json, size_t size)
{
    memset(f, 0, sizeof(*f));
    f->copy = nx_alloc(size);
    memcpy(f->copy, json, size);
    f->member = (struct nx_kept_member){"a.json", {f->copy, size}};
    f->reader = (struct nx_neff_reader){.neff = &f->neff,
                                        .path = "made.neff",
                                        .error = &f->error,
                                        .max_work = NX_NEFF_MAX_WORK,
                                        .kept = &f->member,
                                        .kept_count = 1};
    return &f->reader;
}

static void tear_down(struct fixture *f)
{
    nx_neff_close(&f->neff);
    free(f->copy);
}

static void assert_elements(const char *json, const char *expected)
{
    struct fixture f;
    struct seen seen = {0};

    if (nx_neff_json_elements(set_up(&f, json, strlen(json)), "a.json", "dma", see, &seen) != NX_OK)
        fail_msg("%s: %s", json, f.error.text);
    assert_string_equal(nx_text_string(&seen.text), expected);
    nx_text_free(&seen.text);
    tear_down(&f);
}

static void elements_come_in_order(void **state)
{
    (void)state;
    assert_elements("{\"dma\": [1, 2, 3]}", "1\n2\n3\n");
    assert_elements("{\"dma\":[]}", "");
    assert_elements("{}", "");
    assert_elements(" \n{ \"a\" : {\"dma\": [7]} , \"dma\"\t:\r\n[ {\"b\": [1, {}]} ,[] , \"x\" ,null,-1.5e3 "
                    "] , \"z\": [] } \n",
                    "{\"b\":[1,{}]}\n[]\n\"x\"\nnull\n-1500.0\n");
    assert_elements("{\"dma\": [\"]},\\\"[{\", {\"]\\\\\": \"\\\\\"}, \"\\\\\\\"\"]}",
                    "\"]},\\\"[{\"\n{\"]\\\\\":\"\\\\\"}\n\"\\\\\\\"\"\n");
    assert_elements("{\"d\\u006da\": [true]}", "true\n"); /* the same key, written otherwise */
}

static void assert_error(const char *json, const char *why)
{
    struct fixture f;
    struct seen seen = {0};

    assert_int_equal(nx_neff_json_elements(set_up(&f, json, strlen(json)), "a.json", "dma", see, &seen),
                     NX_BAD_INPUT);
    if (!strstr(f.error.text, "made.neff: member a.json: ") || !strstr(f.error.text, why))
        fail_msg("\"%s\" does not say \"%s\"", f.error.text, why);
    nx_text_free(&seen.text);
    tear_down(&f);
}

static void errors_are_located(void **state)
{
    (void)state;
    assert_error("", "line 1, column 0 (offset 0): expected an object");
    assert_error("[]", "expected an object at the top");
    assert_error("{", "expected a key");
    assert_error("{\"dma\"", "expected ':'");
    assert_error("{\"dma\": 1}", "\"dma\" is of another type: expected an array");
    assert_error("{\"dma\": {}}", "\"dma\" is of another type");
    assert_error("{\"dma\": [1 2]}", "line 1, column ");
    assert_error("{\"dma\": [[1] [2]]}", "expected ',' or ']'");
    assert_error("{\"dma\": [1,]}", "line 1, column ");
    assert_error("{\"dma\": [,1]}", "line 1, column ");
    assert_error("{\"dma\": [1", "expected ',' or ']'");
    assert_error("{\"dma\": [{\"a\": 1", "line 1, column ");
    assert_error("{\"dma\": [\"a", "line 1, column ");
    assert_error("{\"dma\": [\"\\", "line 1, column ");
    assert_error("{\"dma\": []", "expected ',' or '}'");
    assert_error("{\"dma\": [],}", "expected a key");
    assert_error("{\"dma\": []} {}", "expected the end");
    assert_error("{\"dma\": [], \"dma\": []}", "\"dma\" stands there twice");
    assert_error("{1: 2}", "expected a key");
    assert_error("{\"a\": tru, \"dma\": []}", "line 1, column ");
    assert_error("{\"dma\": [{\"a\": 1, \"a\": 2}]}", "duplicate object key");
    assert_error("{\n \"dma\": [\n  {\"id\": 1},\n  {\"id\":\n    oops}]}", "line 5, column 8 (offset 42)");
    assert_error("{\n \"dma\": [\n  {\"id\": 1},\n  {\"id\": oops}]}", "line 4, column 13 (offset 38)");
}

static void a_status_of_the_caller_ends_the_walk(void **state)
{
    static const char json[] = "{\"dma\": [1, 2, 3]}";
    struct fixture f;
    struct seen seen = {.stop = 2};

    (void)state;
    assert_int_equal(nx_neff_json_elements(set_up(&f, json, strlen(json)), "a.json", "dma", see, &seen),
                     NX_FAILED);
    assert_int_equal(seen.count, 2);
    assert_int_equal(nx_neff_json_elements(&f.reader, "b.json", "dma", see, &seen), NX_BAD_INPUT);
    assert_non_null(strstr(f.error.text, "member b.json: the archive does not have it"));
    nx_text_free(&seen.text);
    tear_down(&f);
}

/* Large lists cost what their largest element costs; one that asks for too much is refused. */
static void memory_is_bounded(void **state)
{
    struct nx_text many = {0}, one = {0};
    struct fixture f;
    struct seen seen = {0};

    (void)state;
    nx_text_puts(&many, "{\"dma\": [0");
    nx_text_puts(&one, "{\"dma\": [[0");
    for (int i = 0; i < 100000; i++) {
        nx_text_puts(&many, ",{}");
        nx_text_puts(&one, ",{}");
    }
    nx_text_puts(&many, "]}");
    nx_text_puts(&one, "]]}");
    set_up(&f, many.data, many.size);
    f.reader.max_work = 2000000; /* the tree of the whole would take 35 MB */
    assert_int_equal(nx_neff_json_elements(&f.reader, "a.json", "dma", see, &seen), NX_OK);
    assert_int_equal(seen.count, 100001);
    tear_down(&f);
    set_up(&f, one.data, one.size);
    f.reader.max_work = 2000000;
    assert_int_equal(nx_neff_json_elements(&f.reader, "a.json", "dma", see, &seen), NX_BAD_INPUT);
    assert_non_null(strstr(f.error.text, "too much memory"));
    tear_down(&f);
    nx_text_free(&many);
    nx_text_free(&one);
    nx_text_free(&seen.text);
}

/* ------------------------------------------------------------------ against jansson's own reading of the
 * whole */
static bool whole(const char *json, size_t size, struct nx_text *text, bool *duplicate)
{
    json_error_t why;
    json_t *document = json_loadb(json, size, JSON_REJECT_DUPLICATES, &why), *list, *element;
    struct seen seen = {0};
    size_t i;
    bool ok = json_is_object(document);

    *duplicate = !document && strstr(why.text, "duplicate") != NULL;
    list = json_object_get(document, "dma");
    if (list && !json_is_array(list))
        ok = false;
    json_array_foreach(list, i, element) see(&seen, element);
    nx_text_clear(text);
    nx_text_puts(text, nx_text_string(&seen.text));
    nx_text_free(&seen.text);
    json_decref(document);
    return ok;
}

static void any_text_is_read_as_jansson_does(void **state)
{
    static const char sound[] = "{\"name\": \"SP.json\", \"dma\": [{\"id\": 0, \"x\\\"]\": [1, [2, {}], "
                                "-3.5e1]}, [], \"a\\\\\", true, 12],"
                                " \"instr\": {\"a\": [null]}}";
    static const char likely[] = "{}[]\",:\\ 0-1.eE\n\x80n";
    uint64_t random = 88172645463325252u;
    size_t sound_count = 0, broken = 0;
    struct nx_text expected = {0};

    (void)state;
    for (int i = 0; i < 50000; i++) {
        char json[sizeof(sound)];
        size_t size = sizeof(sound) - 1;
        struct fixture f;
        struct seen seen = {0};
        bool duplicate, ok;
        enum nx_status status;

        memcpy(json, sound, sizeof(sound));
        for (int change = 0; change <= i % 3; change++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            json[random % size] = likely[random / 1024 % (sizeof(likely) - 1)];
        }
        if (i % 7 == 0)
            size = random / 65536 % size;
        ok = whole(json, size, &expected, &duplicate);
        status = nx_neff_json_elements(set_up(&f, json, size), "a.json", "dma", see, &seen);
        if (!duplicate) { /* of keys that nobody asked for, which are not compared with each other here */
            if ((status == NX_OK) != ok)
                fail_msg("%.*s: %s", (int)size, json, f.error.text);
            if (ok)
                assert_string_equal(nx_text_string(&seen.text), nx_text_string(&expected));
        }
        sound_count += ok;
        broken += !ok;
        nx_text_free(&seen.text);
        tear_down(&f);
    }
    print_message("           %zu sound, %zu broken\n", sound_count, broken);
    assert_true(sound_count > 1000 && broken > 10000);
    nx_text_free(&expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_come_in_order),
        cmocka_unit_test(errors_are_located),
        cmocka_unit_test(a_status_of_the_caller_ends_the_walk),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(any_text_is_read_as_jansson_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
