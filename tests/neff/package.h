/*
 * package.h - NEFFs made in memory, well formed or not, for the tests of the
 * reader.  The tar is written by hand here, so that it can hold what no
 * library would write.  For inclusion by test programs.
 */
#ifndef NX_TESTS_NEFF_PACKAGE_H
#define NX_TESTS_NEFF_PACKAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "neff/neff.h"

#define TAR_BLOCK 512
#define TAR_FILE '0'

/* ------------------------------------------------------------------ tar */

/* Appends a header block; `size` is what it claims, whatever follows. */
static inline void tar_header(struct nx_text *tar, const char *name, char type, const char *target,
                              uint64_t size)
{
    char block[TAR_BLOCK] = {0};
    unsigned sum = 0;

    memcpy(block, name, strnlen(name, 100));
    snprintf(block + 100, 8, "%07o", 0644);
    snprintf(block + 108, 8, "%07o", 0);
    snprintf(block + 116, 8, "%07o", 0);
    if (size < (uint64_t)1 << 33) {
        snprintf(block + 124, 12, "%011llo", (unsigned long long)size);
    } else { /* GNU: binary, big endian */
        block[124] = (char)0x80;
        for (int i = 0; i < 8; i++)
            block[135 - i] = (char)(size >> 8 * i);
    }
    snprintf(block + 136, 12, "%011o", 0);
    memset(block + 148, ' ', 8);
    block[156] = type;
    memcpy(block + 157, target, strnlen(target, 100));
    memcpy(block + 257, "ustar\00000", 8);
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
    nx_text_append(tar, block, TAR_BLOCK);
}

static inline void tar_content(struct nx_text *tar, const void *bytes, size_t size)
{
    static const char zeros[TAR_BLOCK];

    nx_text_append(tar, bytes, size);
    nx_text_append(tar, zeros, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

static inline void tar_file(struct nx_text *tar, const char *name, const void *bytes, size_t size)
{
    if (strlen(name) > 100) {
        tar_header(tar, "././@LongLink", 'L', "", strlen(name) + 1);
        tar_content(tar, name, strlen(name) + 1);
    }
    tar_header(tar, name, TAR_FILE, "", size);
    tar_content(tar, bytes, size);
}

static inline void tar_end(struct nx_text *tar)
{
    static const char zeros[2 * TAR_BLOCK];

    nx_text_append(tar, zeros, sizeof(zeros));
}

/* ------------------------------------------------------------------ header */
static inline void put_u64(uint8_t *p, uint64_t value)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

static inline void put_u32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> 8 * i);
}

/* Header and payload as one file; the header is that of a single core. */
static inline void neff_file(struct nx_text *file, const void *payload, size_t size)
{
    uint8_t header[NX_NEFF_HEADER_SIZE] = {0};

    put_u64(header, 2);
    put_u64(header + 8, NX_NEFF_HEADER_SIZE);
    put_u64(header + 16, size);
    put_u64(header + 24, 1);
    put_u32(header + 168, 1);
    strcpy((char *)header + 220, "made.neff");
    put_u32(header + 552, 1);
    nx_text_clear(file);
    nx_text_append(file, (const char *)header, sizeof(header));
    nx_text_append(file, payload, size);
}

static inline void gzip(const struct nx_text *plain, int level, struct nx_text *packed)
{
    z_stream z = {.next_in = (Bytef *)plain->data, .avail_in = (uInt)plain->size};
    size_t room = plain->size + plain->size / 100 + 4096;
    unsigned char *out = nx_alloc(room);

    z.next_out = out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    nx_text_clear(packed);
    nx_text_append(packed, (const char *)out, z.total_out);
    deflateEnd(&z);
    free(out);
}

/* ------------------------------------------------------------------ a small NEFF, with changes */
struct part { /* content NULL: the member is left out */
    const char *name, *content;
    size_t size; /* 0: the length of the content */
};

#define CODE_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct part whole_neff[] = {
    {"kelf-0.json",
     "{\"target\": \"cayman\", \"graphs\": [{\"name\": \"sg00\", \"definition\": \"sg00/def.json\"}]}", 0},
    {"info.json", "{\"tool_version\": \"2.23.0\"}", 0},
    {"neff.json", "{\"nodes\": [{\"op\": \"null\"}, {\"op\": \"null\"}, {\"op\": \"tvm_op\"}]}", 0},
    {"sg00/def.json",
     "{\"var\": {\"a\": {\"type\": \"input\", \"size\": 512, \"var_id\": 1},"
     "          \"SB\": {\"type\": \"state-buffer\", \"var_id\": 0},"
     "          \"w_sg0000\": {\"type\": \"file\", \"size\": 64, \"var_id\": 3, \"file_name\": "
     "\"value_w_CRSM.npy\"},"
     "          \"t\": {\"type\": \"dge-table\", \"var_id\": 4, \"list\": [3, 1]}},"
     " \"dma_queue\": {\"qSPIO0\": {\"type\": \"in\", \"owner\": \"sp\", \"num_queues\": 2, "
     "\"semaphore_set\": [8, 9]},"
     "                 \"qPoolDynamic\": {\"type\": \"dynamic\", \"owner\": \"pool\", \"num_queues\": 16,"
     "                                    \"semaphore_set\": [24]}},"
     " \"runtime_semaphore_count\": 3,"
     " \"pe\": \"PE.json\", \"act\": \"Act.json\", \"pool\": \"Pool.json\", \"dve\": \"DVE.json\", \"sp\": "
     "\"SP.json\","
     " \"pe_instr\": \"PE.bin\", \"act_instr\": \"Act.bin\", \"pool_instr\": \"Pool.bin\", \"dve_instr\": "
     "\"DVE.bin\","
     " \"sp_instr\": \"SP.bin\", \"pe_asm_dbg\": [\"asm_PE.dbg\"], \"pe_dbg\": [\"bir_PE.dbg\"],"
     " \"dma_dbg\": [\"bir_DMA.dbg\"]}",
     0},
    {"sg00/tensor_map.json",
     "{\"a\": {\"sim_shape\": [2, 64], \"sim_format\": \"NC\", \"dtype\": \"float32\"},"
     " \"w_CRSM\": {\"sim_shape\": [16, 1, 1, 1], \"sim_format\": \"CRSM\", \"dtype\": \"float32\"}}",
     0},
    {"sg00/PE.json", "{\"dma\": []}", 0},
    {"sg00/Act.json", "{}", 0},
    {"sg00/Pool.json", "{\"dma\": []}", 0},
    {"sg00/DVE.json", "{\"dma\": []}", 0},
    {"sg00/SP.json",
     "{\"dma\": [{\"id\": 1, \"queue\": \"qSPIO0\", \"semaphore\": 9, \"#comment\": \"I-7-block-1\", "
     "\"desc\": ["
     "  {\"op\": \"cast\", \"from\": \"a\", \"from_off\": 16, \"from_sizes\": [8, 4], \"from_steps\": [1, "
     "64],"
     "   \"from_dtype\": \"float32\", \"to\": \"SB\", \"to_off\": 1024, \"to_sizes\": [4, 4],"
     "   \"to_steps\": [1, 262144], \"to_dtype\": \"bfloat16\"},"
     "  {\"op\": \"copy\", \"from\": \"a\", \"from_sizes\": [4], \"from_steps\": [1],"
     "   \"to\": \"SB\", \"to_sizes\": [4], \"to_steps\": [1]}]},"
     " {\"id\": 0, \"queue\": \"qSPIO0\", \"desc\": []}]}",
     0},
    {"sg00/PE.bin", CODE_64 CODE_64, 0},
    {"sg00/Act.bin", "", 0},
    {"sg00/Pool.bin", "", 0},
    {"sg00/DVE.bin", CODE_64, 0},
    {"sg00/SP.bin", "", 0},
    {"sg00/asm_PE.dbg", "", 0},
    {"sg00/bir_PE.dbg", "", 0},
    {"sg00/bir_DMA.dbg", "", 0},
    {"sg00/value_w_CRSM.npy", "constants are not kept", 0},
};
#define WHOLE_NEFF_PARTS (sizeof(whole_neff) / sizeof(whole_neff[0]))

static inline void put_part(struct nx_text *tar, const struct part *part)
{
    if (part->content)
        tar_file(tar, part->name, part->content, part->size ? part->size : strlen(part->content));
}

/* The parts of whole_neff, those of `changes` in the place of their namesakes or behind the others. */
static inline void neff_with(const struct part *changes, size_t count, struct nx_text *file)
{
    struct nx_text tar = {0}, packed = {0};
    bool used[16] = {false};

    assert_true(count <= 16);
    for (size_t i = 0; i < WHOLE_NEFF_PARTS; i++) {
        const struct part *part = &whole_neff[i];

        for (size_t c = 0; c < count; c++)
            if (strcmp(changes[c].name, part->name) == 0) {
                part = &changes[c];
                used[c] = true;
                break;
            }
        put_part(&tar, part);
    }
    for (size_t c = 0; c < count; c++)
        if (!used[c])
            put_part(&tar, &changes[c]);
    tar_end(&tar);
    gzip(&tar, 1, &packed);
    neff_file(file, packed.data, packed.size);
    nx_text_free(&tar);
    nx_text_free(&packed);
}

/* ------------------------------------------------------------------ reading */

/* From memory of exactly the file's size: sanitizers see a step outside. */
static inline enum nx_status parse_text(const struct nx_text *file, struct nx_neff *neff,
                                        struct nx_error *error)
{
    uint8_t *copy = nx_alloc(file->size);
    enum nx_status status;

    memcpy(copy, file->data, file->size);
    memset(error, 0, sizeof(*error));
    status = nx_neff_parse("made.neff", (struct nx_bytes){copy, file->size}, neff, error);
    free(copy);
    return status;
}

static inline void assert_refusal(const struct nx_text *file, const char *why)
{
    struct nx_neff neff;
    struct nx_error error;
    enum nx_status status = parse_text(file, &neff, &error);

    if (status == NX_OK)
        fail_msg("read, but \"%s\" was expected", why);
    assert_int_equal(status, NX_BAD_INPUT);
    assert_int_equal(error.status, NX_BAD_INPUT);
    if (strncmp(error.text, "made.neff: ", 11) != 0 || !strstr(error.text, why))
        fail_msg("\"%s\" does not say \"%s\"", error.text, why);
    nx_neff_close(&neff); /* of a file that was refused: allowed, and nothing to do */
}

/* Refused for the reason `why` when the member has that content (NULL: is left out). */
static inline void refused_with(const char *member, const char *content, const char *why)
{
    const struct part change = {member, content, 0};
    struct nx_text file = {0};

    neff_with(&change, 1, &file);
    assert_refusal(&file, why);
    nx_text_free(&file);
}

/* Read all the same; close it when done. */
static inline void read_with(const struct part *changes, size_t count, struct nx_neff *neff)
{
    struct nx_text file = {0};
    struct nx_error error;
    enum nx_status status;

    neff_with(changes, count, &file);
    status = parse_text(&file, neff, &error);
    nx_text_free(&file);
    if (status != NX_OK)
        fail_msg("%s", error.text);
}

static inline bool has_warning(const struct nx_neff *neff, const char *text)
{
    for (size_t i = 0; i < neff->warnings.count; i++)
        if (strstr(neff->warnings.list[i].message, text))
            return true;
    return false;
}

#endif
