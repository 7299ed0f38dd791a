/*
 * Trace records and code that ran, of a sound pair: the bytes are laid over its raw area, then everything is
 * correlated and every table filled.  The first byte chooses the pair, the second how the bytes are dealt out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/memory.h"
#include "fuzz/fuzz.h"
#include "generate.h"
#include "tables/table.h"

enum { PAIRS = 4, ROWS = 2048 };
static struct nx_bytes neffs[PAIRS], ntffs[PAIRS];
static size_t raw_at[PAIRS]; /* where the raw area begins */

static struct nx_bytes load(const char *path)
{
    struct nx_file file;
    struct nx_error error;
    struct nx_bytes bytes;
    uint8_t *copy;

    if (nx_file_open(path, &file, &error) != NX_OK)
        abort();
    copy = nx_alloc(file.bytes.size);
    memcpy(copy, file.bytes.data, file.bytes.size);
    bytes = (struct nx_bytes){copy, file.bytes.size};
    nx_file_close(&file);
    return bytes;
}

static void make_pairs(void)
{
    char neff[] = "/tmp/nx-fuzz-neff-XXXXXX", ntff[] = "/tmp/nx-fuzz-ntff-XXXXXX";

    if (close(mkstemp(neff)) || close(mkstemp(ntff)))
        abort();
    for (int i = 0; i < PAIRS; i++) {
        struct nx_generate_options options = {.m = 128,
                                              .k = 128,
                                              .n = 512,
                                              .version = i == 1 ? 4 : i == 2 ? 5 : 6,
                                              .dma = i == 3 ? NX_DMA_MIXED : NX_DMA_STATIC};
        struct nx_error error;
        uint64_t metadata = 0;

        if (nx_generate(&options, neff, ntff, NULL, &error) != NX_OK)
            abort();
        neffs[i] = load(neff);
        ntffs[i] = load(ntff);
        memcpy(&metadata, ntffs[i].data + 1, sizeof(metadata));
        raw_at[i] = NX_NTFF_HEADER_SIZE + (size_t)metadata;
    }
    unlink(neff);
    unlink(ntff);
}

static void drop_text(struct nx_chunk *chunk, unsigned column, uint32_t row, const char *bytes, size_t size)
{
    volatile char last = size ? bytes[size - 1] : 0; /* touched, as the store would */

    (void)last;
    nx_chunk_mark(chunk, column, row);
}

static void fill_table(const struct nx_table *table, const struct nx_profile *profile)
{
    static uint64_t room[64][ROWS], valid[64][ROWS / 64];
    const struct nx_table_schema *schema = nx_schema_find(table->name, false);
    struct nx_vector vectors[64];
    struct nx_chunk chunk = {.columns = vectors, .put_text = drop_text};
    void *state = table->open(profile);
    uint64_t rows = table->count(state);

    for (size_t c = 0; c < schema->column_count && c < 64; c++)
        vectors[c] = (struct nx_vector){.data = room[c], .valid = valid[c]};
    for (uint64_t first = 0; first < rows && schema->column_count <= 64; first += ROWS) {
        chunk.rows = rows - first < ROWS ? (uint32_t)(rows - first) : ROWS;
        memset(valid, 0, sizeof(valid));
        table->fill(state, first, &chunk);
    }
    table->close(state);
}

static void correlate(struct nx_bytes neff_bytes, struct nx_bytes ntff_bytes)
{
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace = {0};
    struct nx_error error;

    if (nx_neff_parse("fuzz.neff", neff_bytes, &neff, &error) != NX_OK)
        return;
    if (nx_ntff_parse("fuzz.ntff", ntff_bytes, &ntff, &error) == NX_OK) {
        if (nx_trace_build(&neff, &ntff, NULL, NULL, &trace, &error) == NX_OK) {
            struct nx_profile profile = {.name = "fuzz", .explorer_version = "0", .neff = &neff, .ntff = &ntff,
                                         .trace = &trace, .warnings = &trace.warnings};

            for (size_t t = 0; nx_tables[t]; t++)
                fill_table(nx_tables[t], &profile);
        }
        nx_trace_free(&trace);
        nx_ntff_close(&ntff);
    }
    nx_neff_close(&neff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;
    int pair;
    size_t raw, at, step;

    if (size < 2)
        return 0;
    if (!neffs[0].data)
        make_pairs();
    pair = data[0] % PAIRS;
    raw = ntffs[pair].size - raw_at[pair];
    copy = nx_alloc(ntffs[pair].size);
    memcpy(copy, ntffs[pair].data, ntffs[pair].size);
    /* 16 bytes at a time, `step` records apart */
    step = ((size_t)data[1] * 7 + 1) * 16;
    at = 0;
    for (size_t i = 2; i < size && raw >= 16; i += 16, at = (at + step) % (raw - 15))
        memcpy(copy + raw_at[pair] + at, data + i, size - i < 16 ? size - i : 16);
    correlate(neffs[pair], (struct nx_bytes){copy, ntffs[pair].size});
    free(copy);
    return 0;
}
