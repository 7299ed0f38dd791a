/*
 * damage.h - damaged copies of a pair of files, each read as an ingestion reads it.
 *
 *   cut      DAMAGE_CUTS places, evenly spread
 *   changed  DAMAGE_CHANGES single bytes
 *   inside   as many single bytes of the NEFF's unpacked archive, packed again:
 *            behind the checksum of the compressed form, where damage is found
 *            by nobody but the reader
 *
 * A case must be read, or refused with one sentence, within DAMAGE_SECONDS and
 * without a step outside of its bytes: each has memory of exactly its size,
 * which sanitizers watch.  For inclusion by test programs.
 */
#ifndef NX_TESTS_DAMAGE_H
#define NX_TESTS_DAMAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "generate.h"
#include "trace/trace.h"

#define RANDOM_SEED 1
#include "hostile.h"

#define DAMAGE_CUTS 500
#define DAMAGE_CHANGES 2000
#define DAMAGE_SECONDS 10 /* for one case: a hang ends the program */

struct content {
    uint8_t *data;
    size_t size;
};

/* Looks at a trace that was read; may be NULL. */
typedef void damage_visit(const struct nx_neff *neff, const struct nx_ntff *ntff,
                          const struct nx_trace *trace);

struct damage {
    struct content neff, ntff;
    size_t every; /* take each n-th case */
    damage_visit *visit;
};

static struct content load(const char *path)
{
    struct nx_file file;
    struct nx_error error;
    struct content content;

    assert_int_equal(nx_file_open(path, &file, &error), NX_OK);
    content.size = file.bytes.size;
    content.data = nx_alloc(content.size);
    memcpy(content.data, file.bytes.data, content.size);
    nx_file_close(&file);
    return content;
}

/* Reads the pair as an ingestion does. The bytes are copied: a read past their end is seen. */
static void read_pair(struct content neff_bytes, struct content ntff_bytes, damage_visit *visit,
                      struct tally *tally)
{
    struct nx_bytes a = {nx_alloc(neff_bytes.size), neff_bytes.size};
    struct nx_bytes b = {nx_alloc(ntff_bytes.size), ntff_bytes.size};
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace = {0};
    struct nx_error error = {0};
    enum nx_status status;

    memcpy((void *)(uintptr_t)a.data, neff_bytes.data, a.size);
    memcpy((void *)(uintptr_t)b.data, ntff_bytes.data, b.size);
    alarm(DAMAGE_SECONDS);
    status = nx_neff_parse("damaged.neff", a, &neff, &error);
    if (!status) {
        status = nx_ntff_parse("damaged.ntff", b, &ntff, &error);
        if (!status) {
            status = nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error);
            if (!status && visit)
                visit(&neff, &ntff, &trace);
            nx_trace_free(&trace);
            nx_ntff_close(&ntff);
        }
        nx_neff_close(&neff);
    }
    alarm(0);
    free((void *)(uintptr_t)a.data);
    free((void *)(uintptr_t)b.data);
    if (status) {
        assert_int_equal(status, NX_BAD_INPUT);
        assert_int_equal(error.status, NX_BAD_INPUT);
        assert_true(error.text[0] != '\0');
        assert_null(strchr(error.text, '\n'));
        tally->refused++;
    } else {
        tally->read++;
    }
}

static void cut(const struct damage *d, bool of_neff, struct tally *tally)
{
    for (size_t i = 0; i < DAMAGE_CUTS; i += d->every) {
        struct content a = d->neff, b = d->ntff;

        if (of_neff)
            a.size = a.size * i / DAMAGE_CUTS;
        else
            b.size = b.size * i / DAMAGE_CUTS;
        read_pair(a, b, d->visit, tally);
    }
}

static void change(const struct damage *d, bool of_neff, struct tally *tally)
{
    const struct content *damaged = of_neff ? &d->neff : &d->ntff;

    for (size_t i = 0; i < DAMAGE_CHANGES; i += d->every) {
        size_t at = random_below(damaged->size);
        uint8_t was = damaged->data[at];

        damaged->data[at] ^= (uint8_t)(1 + random_below(255));
        read_pair(d->neff, d->ntff, d->visit, tally);
        damaged->data[at] = was;
    }
}

/* ------------------------------------------------------------------ inside of the archive */
static struct content unpack(struct content neff)
{
    struct content out = {nx_alloc(64 << 20), 0};
    z_stream z = {.next_in = neff.data + NX_NEFF_HEADER_SIZE,
                  .avail_in = (uInt)(neff.size - NX_NEFF_HEADER_SIZE),
                  .next_out = out.data,
                  .avail_out = 64 << 20};

    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    out.size = z.total_out;
    inflateEnd(&z);
    return out;
}

/* Header and archive, stored without compression: fast, and with a checksum that is right. */
static struct content pack(struct content header, struct content archive)
{
    struct content out = {nx_alloc(archive.size + archive.size / 100 + 4096), 0};
    z_stream z = {.next_in = archive.data,
                  .avail_in = (uInt)archive.size,
                  .next_out = out.data + NX_NEFF_HEADER_SIZE,
                  .avail_out = (uInt)(archive.size + archive.size / 100 + 4096 - NX_NEFF_HEADER_SIZE)};

    memcpy(out.data, header.data, NX_NEFF_HEADER_SIZE);
    assert_int_equal(deflateInit2(&z, 0, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    out.size = NX_NEFF_HEADER_SIZE + z.total_out;
    for (unsigned i = 0; i < 8; i++)
        out.data[16 + i] = (uint8_t)((uint64_t)z.total_out >> 8 * i);
    deflateEnd(&z);
    return out;
}

/*
 * Only bytes that something is made of: members' names, sizes, JSON, debug information and code. The tables
 * and constants, which are most of a package, are skipped by the reader anyhow.
 */
static bool worth_changing(struct content archive, size_t at)
{
    size_t member = 0;

    while (member + 512 <= archive.size) {
        char octal[13] = {0};
        const char *name = (const char *)archive.data + member;
        size_t size;

        memcpy(octal, archive.data + member + 124, 12);
        size = strtoul(octal, NULL, 8);
        if (at < member + 512)
            return at < member + 160 && *name;
        if (at < member + 512 + size)
            return !strstr(name, "table.bin") && !strstr(name, ".npy") && !strstr(name, "_bkt") &&
                   !strstr(name, "_ctrl") && !strstr(name, "exp_and") && !strstr(name, "act_info");
        member += 512 + (size + 511) / 512 * 512;
        if (at < member)
            return false;
    }
    return false;
}

static void change_inside(const struct damage *d, struct tally *tally)
{
    struct content archive = unpack(d->neff);

    for (size_t i = 0; i < DAMAGE_CHANGES;) {
        size_t at = random_below(archive.size);
        uint8_t was = archive.data[at];
        struct content packed;

        if (!worth_changing(archive, at))
            continue;
        /* the likeliest to do harm: other digits, other lengths, quotes and brackets */
        archive.data[at] = i % 3 ? (uint8_t)random_below(256)
                                 : (uint8_t) "0129-+.eE\"\\[]{}:,\0\x7f\x80\xff"[random_below(21)];
        packed = pack(d->neff, archive);
        read_pair(packed, d->ntff, d->visit, tally);
        free(packed.data);
        archive.data[at] = was;
        i += d->every;
    }
    free(archive.data);
}

/* ------------------------------------------------------------------ one pair */
static void damage_all(const char *what, const char *neff_path, const char *ntff_path, size_t every,
                       damage_visit *visit)
{
    struct damage d = {load(neff_path), load(ntff_path), every, visit};
    struct tally whole = {0}, cuts = {0}, changes = {0}, inside = {0};

    read_pair(d.neff, d.ntff, visit, &whole);
    assert_int_equal(whole.read, 1); /* undamaged it is read, or the rest would prove nothing */
    cut(&d, true, &cuts);
    cut(&d, false, &cuts);
    assert_int_equal(cuts.read, 0); /* what is cut off is always missed */
    change(&d, true, &changes);
    change(&d, false, &changes);
    change_inside(&d, &inside);
    print_message("           %s: cut %zu; changed %zu read, %zu refused; inside %zu read, %zu refused\n",
                  what, cuts.refused, changes.read, changes.refused, inside.read, inside.refused);
    assert_true(changes.refused > 0 && changes.read > 0);
    assert_true(inside.refused > 0 && inside.read > 0);
    free(d.neff.data);
    free(d.ntff.data);
}

/* The same of generated pairs of each version. */
static void damage_generated(size_t every, damage_visit *visit)
{
    for (uint32_t version = 4; version <= 6; version++) {
        struct nx_generate_options options = {.m = 128,
                                              .k = 128,
                                              .n = 512,
                                              .version = version,
                                              .dma = version == 5 ? NX_DMA_MIXED : NX_DMA_STATIC};
        char neff[64], ntff[64], what[32];
        struct nx_error error;

        snprintf(neff, sizeof(neff), "damage-%ld.neff", (long)getpid());
        snprintf(ntff, sizeof(ntff), "damage-%ld.ntff", (long)getpid());
        snprintf(what, sizeof(what), "generated v%u", version);
        assert_int_equal(nx_generate(&options, neff, ntff, NULL, &error), NX_OK);
        damage_all(what, neff, ntff, every, visit);
        unlink(neff);
        unlink(ntff);
    }
}

/* The same of a real profile; skips where there are none. */
static void damage_real(const char *name, size_t every, damage_visit *visit)
{
    char neff[512], ntff[512];

    snprintf(neff, sizeof(neff), "%s/profiles/%s/kernel.neff", NX_SHARED_DIR, name);
    snprintf(ntff, sizeof(ntff), "%s/profiles/%s/profile.ntff", NX_SHARED_DIR, name);
    if (access(neff, R_OK)) {
        print_message("           the real profiles are not here (%s)\n", NX_SHARED_DIR);
        skip();
    }
    damage_all(name, neff, ntff, every, visit);
}

#endif
