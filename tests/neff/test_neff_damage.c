/*
 * Damaged NEFFs: cut at many places, single bytes changed, bytes of members changed behind the checksum. Each
 * is read or refused with one sentence; each is also read as far as it goes, as the dump does.
 *
 * NX_DAMAGE in the environment multiplies the number of cases (a long run under sanitizers).
 */
#include <unistd.h>

#include "base/file.h"
#include "generate.h"
#include "hostile.h"
#include "package.h"

#define CUTS 500
#define CHANGES 2000
#define SECONDS_A_CASE 10 /* a hang ends the program */

/* Every string and number that a reader hands out, so that sanitizers see them. */
static uint64_t walk(const struct nx_neff *neff)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < neff->member_count; i++)
        sum += strlen(neff->members[i].name);
    for (size_t g = 0; g < neff->graph_count; g++) {
        const struct nx_neff_graph *graph = &neff->graphs[g];

        for (size_t i = 0; i < graph->var_count; i++)
            sum += strlen(graph->vars[i].name) + strlen(graph->vars[i].type) +
                   (graph->vars[i].dge_count ? (uint64_t)graph->vars[i].dge_list[graph->vars[i].dge_count - 1]
                                             : 0);
        for (size_t i = 0; i < graph->queue_count; i++)
            sum += strlen(graph->queues[i].display_name) + graph->queues[i].semaphore_count;
        for (size_t i = 0; i < graph->block_count; i++) {
            const struct nx_neff_block *block = &graph->blocks[i];

            assert_true(block->queue < graph->queue_count);
            for (size_t d = 0; d < block->desc_count; d++)
                sum += strlen(block->descs[d].from.var) + strlen(block->descs[d].to.var) +
                       block->descs[d].to.bytes;
            assert_non_null(nx_neff_find_block(graph, graph->queues[block->queue].name, block->id));
        }
        for (size_t i = 0; i < graph->bir.count; i++) {
            const struct nx_dbg_entry *entry = &graph->bir.entries[i];

            sum += strlen(entry->name);
            for (size_t p = 0; p < entry->parent_count; p++)
                sum += nx_dbg_find(&graph->penguin, entry->parents[p]) != NULL;
            for (size_t d = 0; d < entry->dep_count; d++)
                sum += nx_dbg_find(&graph->bir, entry->deps[d].id) != NULL;
            assert_int_equal(nx_dbg_find(&graph->bir, entry->id)->id, entry->id);
        }
    }
    return sum;
}

static void read_case(const void *data, size_t size, struct tally *tally)
{
    uint8_t *copy = nx_alloc(size); /* of exactly that size */
    struct nx_bytes bytes = {copy, size};
    struct nx_neff neff;
    struct nx_error error = {0}, partly = {0};
    enum nx_status status;

    memcpy(copy, data, size);
    alarm(SECONDS_A_CASE);
    status = nx_neff_parse("damaged.neff", bytes, &neff, &error);
    if (status == NX_OK) {
        walk(&neff);
        nx_neff_close(&neff);
        tally->read++;
    } else {
        assert_int_equal(status, NX_BAD_INPUT);
        assert_int_equal(error.status, NX_BAD_INPUT);
        assert_null(strchr(error.text, '\n'));
        assert_int_equal(strncmp(error.text, "damaged.neff: ", 14), 0);
        assert_null(neff.members); /* nothing is left of it */
        tally->refused++;
    }
    assert_int_equal(nx_neff_parse_partly("damaged.neff", bytes, &neff, &partly), status);
    walk(&neff);
    nx_neff_close(&neff);
    alarm(0);
    assert_string_equal(partly.text, error.text); /* the first failure is what stops the strict reader */
    free(copy);
}

static void unpack(const struct nx_text *file, struct nx_text *tar)
{
    enum { ROOM = 64 << 20 };
    unsigned char *out = nx_alloc(ROOM);
    z_stream z = {.next_in = (Bytef *)file->data + NX_NEFF_HEADER_SIZE,
                  .avail_in = (uInt)(file->size - NX_NEFF_HEADER_SIZE),
                  .next_out = out,
                  .avail_out = ROOM};

    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    nx_text_append(tar, (const char *)out, z.total_out);
    inflateEnd(&z);
    free(out);
}

/* Constants and tables, which the reader skips, would take most of the cases. */
static bool is_read(const struct nx_text *tar, size_t at)
{
    static const char *const skipped[] = {".npy",      "_table.bin", "_bkt.bin",
                                          "_ctrl.bin", "act_info",   "exp_and"};
    size_t header = 0;

    while (header + TAR_BLOCK <= tar->size) {
        size_t size = strtoul(tar->data + header + 124, NULL, 8);
        size_t end = header + TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;

        if (at < end) {
            for (size_t i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++)
                if (strstr(tar->data + header, skipped[i]))
                    return false;
            return at < header + 160 || (at >= header + TAR_BLOCK && at < header + TAR_BLOCK + size);
        }
        header = end;
    }
    return false;
}

/* The header's checksum is made right again, so that the change itself is met. */
static void mend_checksum(struct nx_text *tar, size_t at)
{
    for (size_t header = 0; header + TAR_BLOCK <= tar->size;) {
        size_t size = strtoul(tar->data + header + 124, NULL, 8);
        unsigned sum = 0;

        if (at < header + TAR_BLOCK) {
            memset(tar->data + header + 148, ' ', 8);
            for (int i = 0; i < TAR_BLOCK; i++)
                sum += (unsigned char)tar->data[header + (size_t)i];
            snprintf(tar->data + header + 148, 8, "%06o", sum);
            return;
        }
        header += TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
        if (at < header)
            return;
    }
}

static void change_inside(const struct nx_text *file, size_t every, struct tally *tally)
{
    static const char likely[] = "0129-+.eE\"\\[]{}:,\x00\x7f\x80\xff"; /* other digits, lengths, brackets */
    struct nx_text tar = {0}, changed = {0}, packed = {0}, damaged = {0};

    unpack(file, &tar);
    for (size_t i = 0; i < CHANGES * factor();) {
        size_t at = random_below(tar.size);

        if (!is_read(&tar, at))
            continue;
        nx_text_clear(&changed);
        nx_text_append(&changed, tar.data, tar.size);
        changed.data[at] =
            (char)(i % 3 ? random_below(256) : (uint8_t)likely[random_below(sizeof(likely) - 1)]);
        if (i % 2)
            mend_checksum(&changed, at);
        gzip(&changed, 0, &packed);
        neff_file(&damaged, packed.data, packed.size);
        read_case(damaged.data, damaged.size, tally);
        i += every;
    }
    nx_text_free(&tar);
    nx_text_free(&changed);
    nx_text_free(&packed);
    nx_text_free(&damaged);
}

/* `every`: take each n-th case. */
static void damage(const char *what, struct nx_text *file, size_t every)
{
    struct tally whole = {0}, cuts = {0}, changes = {0}, inside = {0};
    size_t cut_count = CUTS * factor() / every;

    read_case(file->data, file->size, &whole);
    assert_int_equal(whole.read, 1); /* or the rest would prove nothing */
    for (size_t i = 0; i < cut_count; i++)
        read_case(file->data, file->size * i / cut_count, &cuts);
    assert_int_equal(cuts.read, 0);
    for (size_t i = 0; i < CHANGES * factor() / every; i++) {
        size_t at = i % 4 ? random_below(file->size) : random_below(NX_NEFF_HEADER_SIZE);
        char was = file->data[at];

        file->data[at] ^= (char)(1 + random_below(255));
        read_case(file->data, file->size, &changes);
        file->data[at] = was;
    }
    change_inside(file, every, &inside);
    print_message("           %s: cut %zu; changed %zu read, %zu refused; inside %zu read, %zu refused\n",
                  what, cuts.refused, changes.read, changes.refused, inside.read, inside.refused);
    assert_true(changes.read > 0 && changes.refused > 0);
    assert_true(inside.read > 0 && inside.refused > 0);
}

static void damage_file(const char *what, const char *path, size_t every)
{
    struct nx_file mapped;
    struct nx_error error;
    struct nx_text file = {0};

    assert_int_equal(nx_file_open(path, &mapped, &error), NX_OK);
    nx_text_append(&file, (const char *)mapped.bytes.data, mapped.bytes.size);
    nx_file_close(&mapped);
    damage(what, &file, every);
    nx_text_free(&file);
}

static void damage_to_a_small_made_one(void **state)
{
    struct nx_text file = {0};

    (void)state;
    neff_with(NULL, 0, &file);
    damage("made by hand", &file, SLOWER);
    nx_text_free(&file);
}

static void damage_to_a_generated_one(void **state)
{
    struct nx_generate_options options = {.m = 128, .k = 128, .n = 512};
    struct nx_error error;
    char path[64];

    (void)state;
    snprintf(path, sizeof(path), "damage-neff-%ld.neff", (long)getpid());
    assert_int_equal(nx_generate(&options, path, NULL, NULL, &error), NX_OK);
    damage_file("generated", path, 2 * SLOWER);
    unlink(path);
}

static void damage_real(const char *name, size_t every)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/%s", NX_SHARED_DIR, name);
    if (access(path, R_OK)) {
        print_message("           the real profiles are not here (%s)\n", NX_SHARED_DIR);
        skip();
    }
    damage_file(name, path, every);
}

static void damage_to_a_real_one_with_static_dma(void **state)
{
    (void)state;
    damage_real("profiles/vector-add-trn1-fd1k/kernel.neff", 1);
}

static void damage_to_a_real_one_of_two_cores(void **state)
{
    (void)state;
    damage_real("profiles/attention-baseline-bf16-s512/kernel.neff", 4 * SLOWER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_to_a_small_made_one),
        cmocka_unit_test(damage_to_a_generated_one),
        cmocka_unit_test(damage_to_a_real_one_with_static_dma),
        cmocka_unit_test(damage_to_a_real_one_of_two_cores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
