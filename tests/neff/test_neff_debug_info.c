/* .dbg files: protobufs written by hand, well formed and not. */
#include "debug_message.h"
#include "neff/reader.h"
#include "package.h"

static void read_files(const struct nx_text *assembly, const struct nx_text *bir, const struct nx_text *dma,
                       const struct nx_text *penguin, struct nx_neff *neff)
{
    struct part changes[4];
    size_t count = 0;

    if (assembly)
        changes[count++] = (struct part){"sg00/asm_PE.dbg", nx_text_string(assembly), assembly->size};
    if (bir)
        changes[count++] = (struct part){"sg00/bir_PE.dbg", nx_text_string(bir), bir->size};
    if (dma)
        changes[count++] = (struct part){"sg00/bir_DMA.dbg", nx_text_string(dma), dma->size};
    if (penguin)
        changes[count++] = (struct part){"debug_info/debug_info_penguin.dbg_sg000000",
                                         nx_text_string(penguin), penguin->size};
    read_with(changes, count, neff);
}

static void an_entry_has_all_its_fields(void **state)
{
    static const uint64_t parents[] = {7, (uint64_t)1 << 40}, deps[] = {1, 2, 300}, types[] = {4, 2},
                          sync[] = {5}, sync_types[] = {1, 9};
    struct nx_text file = {0}, entry = {0};
    struct nx_neff neff;
    const struct nx_dbg *bir;
    const struct nx_dbg_entry *e;

    (void)state;
    gen_pb_string(&file, 1, "what the file holds");
    gen_pb_string(&file, 2, "debug_info_penguin.dbg");
    gen_pb_string(&file, 5, "first.py");
    gen_pb_string(&file, 5, "second.py");
    gen_pb_string(&file, 7, "a_kernel");
    gen_pb_int(&file, 4, 1);
    gen_pb_int(&entry, 1, UINT64_MAX);
    gen_pb_string(&entry, 2, "I-37-14");
    packed(&entry, 3, parents, 2);
    packed(&entry, 4, deps, 3);
    packed(&entry, 5, sync, 1);
    gen_pb_int(&entry, 6, 3);
    attr(&entry, "kernel_line", "107");
    attr(&entry, "", "");
    packed(&entry, 9, types, 2);
    packed(&entry, 10, sync_types, 2);
    gen_pb_int(&entry, 8, 1);
    gen_pb_int(&entry, 99, 1); /* unknown: counted */
    gen_pb_message(&file, 3, &entry);
    gen_pb_message(&file, 3, &entry); /* empty, as the assembly of the runtime's parts is */
    read_files(NULL, &file, NULL, NULL, &neff);
    bir = &neff.graphs[0].bir;
    assert_int_equal(neff.warnings.count, 2);
    assert_true(has_warning(&neff, "names stack frames, but the NEFF holds no index"));
    assert_true(has_warning(&neff, "1 fields of the debug information are not known to this reader (the "
                                   "first: field 99 of an entry in sg00/bir_PE.dbg)"));
    assert_int_equal(bir->count, 2);
    assert_int_equal(bir->file_count, 1);
    assert_string_equal(bir->files[0].member, "sg00/bir_PE.dbg");
    assert_string_equal(bir->files[0].description, "what the file holds");
    assert_string_equal(bir->files[0].parent, "debug_info_penguin.dbg");
    assert_int_equal(bir->files[0].engine, 1);
    assert_int_equal(bir->source_file_count, 2);
    assert_string_equal(bir->source_files[1], "second.py");
    assert_int_equal(bir->kernel_name_count, 1);
    assert_string_equal(bir->kernel_names[0], "a_kernel");
    e = nx_dbg_find(bir, UINT64_MAX);
    assert_ptr_equal(e, &bir->entries[0]);
    assert_string_equal(e->name, "I-37-14");
    assert_int_equal(e->kind, NX_DBG_TRANSPOSE);
    assert_int_equal(e->parent_count, 2);
    assert_true(e->parents[1] == (uint64_t)1 << 40);
    assert_int_equal(e->dep_count, 4);
    assert_int_equal(e->deps[0].id, 1);
    assert_int_equal(e->deps[0].type, NX_DEP_FLOW);
    assert_int_equal(e->deps[1].type, NX_DEP_ANTI);
    assert_int_equal(e->deps[2].id, 300);
    assert_int_equal(e->deps[2].type, 0); /* its type is missing */
    assert_int_equal(e->deps[3].id, 5);
    assert_int_equal(e->deps[3].type, NX_DEP_ORDERED);
    assert_int_equal(e->attr_count, 2);
    assert_string_equal(e->attrs[0].key, "kernel_line");
    assert_string_equal(e->attrs[0].value, "107");
    assert_string_equal(e->attrs[1].key, "");
    assert_string_equal(nx_dbg_attr(e, "kernel_line"), "107");
    assert_null(nx_dbg_attr(e, "kernel_file"));
    assert_int_equal(e->stack_frame_id, 0); /* the message has no frames */
    e = &bir->entries[1];
    assert_string_equal(e->name, "");
    assert_int_equal(e->parent_count + e->dep_count + e->attr_count + e->kind + e->id, 0);
    nx_neff_close(&neff);
    nx_text_free(&file);
    nx_text_free(&entry);
}

/* A repeated field may come packed, one by one, or as a mixture. */
static void repeated_fields_come_in_any_form(void **state)
{
    static const uint64_t two[] = {11, 12};
    struct nx_text file = {0}, entry = {0};
    struct nx_neff neff;
    const struct nx_dbg_entry *e;

    (void)state;
    gen_pb_int(&entry, 3, 10);
    packed(&entry, 3, two, 2);
    packed(&entry, 3, NULL, 0);
    gen_pb_int(&entry, 3, 13);
    gen_pb_int(&entry, 5, 20);
    gen_pb_int(&entry, 10, 4);
    gen_pb_message(&file, 3, &entry);
    read_files(&file, NULL, NULL, NULL, &neff);
    e = &neff.graphs[0].engines[NX_PE].assembly.entries[0];
    assert_int_equal(e->parent_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(e->parents[i], 10 + i);
    assert_int_equal(e->dep_count, 1);
    assert_int_equal(e->deps[0].type, NX_DEP_FLOW);
    nx_neff_close(&neff);
    nx_text_free(&file);
    nx_text_free(&entry);
}

static void each_file_goes_to_its_level(void **state)
{
    struct nx_text files[4] = {{0}}, entry = {0};
    struct nx_neff neff;
    const struct nx_neff_graph *graph;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        gen_pb_int(&entry, 1, i + 1);
        gen_pb_message(&files[i], 3, &entry);
    }
    read_files(&files[0], &files[1], &files[2], &files[3], &neff);
    graph = &neff.graphs[0];
    assert_int_equal(graph->engines[NX_PE].assembly.count, 1);
    assert_int_equal(graph->engines[NX_ACT].assembly.count, 0);
    assert_non_null(nx_dbg_find(&graph->engines[NX_PE].assembly, 1));
    assert_non_null(nx_dbg_find(&graph->bir, 2));
    assert_non_null(nx_dbg_find(&graph->dma_bir, 3));
    assert_non_null(nx_dbg_find(&graph->penguin, 4));
    assert_null(nx_dbg_find(&graph->penguin, 1));
    nx_neff_close(&neff);
    for (unsigned i = 0; i < 4; i++)
        nx_text_free(&files[i]);
    nx_text_free(&entry);
}

static void entries_of_any_order_are_found(void **state)
{
    enum { COUNT = 200000 };
    struct nx_text file = {0}, entry = {0};
    struct nx_neff neff;
    const struct nx_dbg *bir;

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++) { /* 7 has no factor in common with COUNT: each id once */
        gen_pb_int(&entry, 1, i * 7 % COUNT * 3 + 1);
        gen_pb_message(&file, 3, &entry);
    }
    read_files(NULL, &file, NULL, NULL, &neff);
    bir = &neff.graphs[0].bir;
    assert_int_equal(bir->count, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_ptr_equal(nx_dbg_find(bir, i * 7 % COUNT * 3 + 1), &bir->entries[i]);
        assert_null(nx_dbg_find(bir, i * 3));
    }
    nx_neff_close(&neff);
    nx_text_free(&file);
    nx_text_free(&entry);
}

static void refused_bytes(const char *bytes, size_t size, const char *why)
{
    const struct part change = {"sg00/bir_PE.dbg", bytes, size};
    struct nx_text file = {0};

    neff_with(&change, 1, &file);
    assert_refusal(&file, "member sg00/bir_PE.dbg: offset ");
    assert_refusal(&file, why);
    nx_text_free(&file);
}
#define REFUSED(bytes, why) refused_bytes(bytes, sizeof(bytes) - 1, why)

static void malformed_messages_are_located(void **state)
{
    (void)state;
    REFUSED("\x1a", "past the end of its message");                          /* a length is missing */
    REFUSED("\x1a\x05\x08\x01", "past the end of its message");              /* an entry of 5 bytes in 2 */
    REFUSED("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "past the end"); /* of 2^64 - 1 bytes */
    REFUSED("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "longer than 64 bits");
    REFUSED("\x00\x01", "field number");
    REFUSED("\x1b\x01", "wire type");
    REFUSED("\x1a\x02\x08\x80", "offset 3: protobuf varint runs past"); /* id without an end */
    REFUSED("\x1a\x03\x12\x05x", "past the end of its message");        /* a name longer than its entry */
    REFUSED("\x1a\x03\x1a\x01\x80", "varint runs past"); /* parents: a packed number without an end */
    REFUSED("\x1a\x03\x22\x01\xff", "varint runs past"); /* dependencies */
    REFUSED("\x1a\x03\x2a\x01\xff", "varint runs past");
    REFUSED("\x1a\x06\x22\x01\x01\x4a\x01\xff", "varint runs past");    /* types of dependencies */
    REFUSED("\x1a\x04\x3a\x02\x0a\x05", "past the end of its message"); /* an attribute's key */
    REFUSED("\x1a\x03\x3a\x01\x80", "varint runs past");
}

static void odd_wire_types_do_no_harm(void **state)
{
    /* an entry given as a number; then one with its id as bytes, name and attribute as numbers, parent as
     * fixed64 */
    static const char bytes[] = "\x18\x07"
                                "\x1a\x10"
                                "\x0a\x01x"
                                "\x10\x05"
                                "\x38\x01"
                                "\x19\x01\x02\x03\x04\x05\x06\x07\x08";
    const struct part change = {"sg00/bir_PE.dbg", bytes, sizeof(bytes) - 1};
    struct nx_neff neff;
    const struct nx_dbg *bir;

    (void)state;
    read_with(&change, 1, &neff);
    bir = &neff.graphs[0].bir;
    assert_int_equal(bir->count, 1);
    assert_int_equal(bir->entries[0].id, 0);
    assert_string_equal(bir->entries[0].name, "");
    assert_int_equal(bir->entries[0].attr_count, 1);
    assert_int_equal(bir->entries[0].parent_count, 1);
    assert_true(bir->entries[0].parents[0] == 0x0807060504030201);
    nx_neff_close(&neff);
}

/* An entry of two bytes takes almost forty times that: counted before it is allocated. */
static void memory_is_bounded(void **state)
{
    enum { COUNT = 100000 };
    static const char name[] = "a.dbg";
    static const char *const members[] = {name, name, name};
    char *bytes = nx_zalloc(COUNT, 2);
    struct nx_kept_member member = {name, {(uint8_t *)bytes, 2 * COUNT}};
    struct nx_neff neff = {0};
    struct nx_error error = {0};
    struct nx_neff_reader reader = {.neff = &neff,
                                    .path = "made.neff",
                                    .error = &error,
                                    .max_work = 64 << 20,
                                    .kept = &member,
                                    .kept_count = 1};
    struct nx_dbg dbg;

    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        bytes[2 * i] = 0x1a;
    assert_int_equal(nx_neff_read_debug(&reader, members, 1, &dbg), NX_OK);
    assert_int_equal(dbg.count, COUNT);
    assert_true(reader.work > COUNT * sizeof(struct nx_dbg_entry));
    reader.work = 0;
    reader.max_work = 4 << 20;
    assert_int_equal(nx_neff_read_debug(&reader, members, 1, &dbg), NX_BAD_INPUT);
    assert_non_null(strstr(error.text, "too much memory"));
    reader.work = 0;
    reader.max_work = 12 << 20; /* enough for one reading, not for the same file three times over */
    assert_int_equal(nx_neff_read_debug(&reader, members, 1, &dbg), NX_OK);
    assert_int_equal(nx_neff_read_debug(&reader, members, 3, &dbg), NX_BAD_INPUT);
    nx_neff_close(&neff);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_entry_has_all_its_fields),
        cmocka_unit_test(repeated_fields_come_in_any_form),
        cmocka_unit_test(each_file_goes_to_its_level),
        cmocka_unit_test(entries_of_any_order_are_found),
        cmocka_unit_test(malformed_messages_are_located),
        cmocka_unit_test(odd_wire_types_do_no_harm),
        cmocka_unit_test(memory_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
