/*
 * nx-generate - writes a NEFF + NTFF pair with known answers, and says them.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate.h"

static const char usage[] =
    "Usage: nx-generate --out-neff FILE --out-ntff FILE [OPTION]...\n"
    "\n"
    "Writes the package (NEFF) and the trace (NTFF) of a tiled matrix multiplication\n"
    "C[M,N] = A[K,M]^T * B[K,N], and prints what a reader must find in them.\n"
    "\n"
    "  -m N, -k N, -n N     sizes: multiples of 128, 128, 512 (default 256, 256, 1024)\n"
    "  --dtype TYPE         bf16, fp16 or fp32 (default bf16)\n"
    "  --cores N            1 or 2 (default 2; 1 with version 4)\n"
    "  --ntff-version N     4, 5 or 6 (default 6)\n"
    "  --dma KIND           static, dynamic-hw, dynamic-sw or mixed (default static)\n"
    "  --repeat N           runs of the kernel in a loop (default 1)\n"
    "  --records N          as many repeats as give at least N trace records\n"
    "  --seed N             of the uuid and of small differences\n"
    "  --clock PS           device time at the start, in picoseconds\n"
    "  --uuid-nul N         byte of the uuid that is 0\n"
    "  --debug-info LEVEL   full, lines or none (default full)\n"
    "  --defects MASK       see enum nx_generate_defect in tools/generate.h\n"
    "  --without-member M   leaves a member of the archive out\n"
    "  --quiet              prints nothing\n";

enum {
    OPT_NEFF = 256,
    OPT_NTFF,
    OPT_DTYPE,
    OPT_CORES,
    OPT_VERSION,
    OPT_DMA,
    OPT_REPEAT,
    OPT_RECORDS,
    OPT_SEED,
    OPT_CLOCK,
    OPT_NUL,
    OPT_DEBUG,
    OPT_DEFECTS,
    OPT_WITHOUT,
    OPT_QUIET
};

static const struct option long_options[] = {{"out-neff", required_argument, NULL, OPT_NEFF},
                                             {"out-ntff", required_argument, NULL, OPT_NTFF},
                                             {"dtype", required_argument, NULL, OPT_DTYPE},
                                             {"cores", required_argument, NULL, OPT_CORES},
                                             {"ntff-version", required_argument, NULL, OPT_VERSION},
                                             {"dma", required_argument, NULL, OPT_DMA},
                                             {"repeat", required_argument, NULL, OPT_REPEAT},
                                             {"records", required_argument, NULL, OPT_RECORDS},
                                             {"seed", required_argument, NULL, OPT_SEED},
                                             {"clock", required_argument, NULL, OPT_CLOCK},
                                             {"uuid-nul", required_argument, NULL, OPT_NUL},
                                             {"debug-info", required_argument, NULL, OPT_DEBUG},
                                             {"defects", required_argument, NULL, OPT_DEFECTS},
                                             {"without-member", required_argument, NULL, OPT_WITHOUT},
                                             {"quiet", no_argument, NULL, OPT_QUIET},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

static uint64_t number(const char *option, const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 0);

    if (!*text || *end || *text == '-') {
        fprintf(stderr, "nx-generate: %s: '%s' is not a number\n", option, text);
        exit(NX_USAGE);
    }
    return value;
}

static int choice(const char *option, const char *text, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(text, names[i]))
            return (int)i;
    fprintf(stderr, "nx-generate: %s: '%s' is not one of the known kinds\n", option, text);
    exit(NX_USAGE);
}

/* The number of repeats that reach `records`: every pass adds the same number. */
static enum nx_status repeats_for(struct nx_generate_options *options, uint64_t records,
                                  struct nx_error *error)
{
    struct nx_generated two, three;
    struct nx_generate_options o = *options;
    enum nx_status status;

    o.repeat = 2;
    status = nx_generate(&o, NULL, NULL, &two, error);
    o.repeat = 3;
    if (!status)
        status = nx_generate(&o, NULL, NULL, &three, error);
    if (status)
        return status;
    options->repeat = 2;
    if (records > two.records)
        options->repeat +=
            (records - two.records + three.records - two.records - 1) / (three.records - two.records);
    return NX_OK;
}

/* One "name value" a line. */
static void print_truth(const struct nx_generated *t)
{
    const struct {
        const char *name;
        uint64_t value;
    } lines[] = {
        {"records", t->records},
        {"window_ps", t->window_ps},
        {"rows", t->rows},
        {"packets", t->packets},
        {"events", t->events},
        {"throttles", t->throttles},
        {"tensor_active_ps", t->engine_active_ps[NX_PE]},
        {"scalar_active_ps", t->engine_active_ps[NX_ACT]},
        {"gpsimd_active_ps", t->engine_active_ps[NX_POOL]},
        {"vector_active_ps", t->engine_active_ps[NX_DVE]},
        {"sync_active_ps", t->engine_active_ps[NX_SP]},
        {"total_active_ps", t->total_active_ps},
        {"dma_active_ps", t->dma_active_ps},
        {"dma_bytes", t->dma_bytes},
        {"bytes_in", t->bytes_in},
        {"bytes_out", t->bytes_out},
        {"static_in", t->static_in},
        {"static_out", t->static_out},
        {"matmuls", t->matmuls},
        {"flops", t->flops},
        {"transpose_flops", t->transpose_flops},
        {"psum_read_bytes", t->psum_read},
        {"psum_write_bytes", t->psum_write},
        {"sbuf_read_bytes", t->sbuf_read},
        {"sbuf_write_bytes", t->sbuf_write},
        {"hbm_read_bytes", t->hbm_read},
        {"hbm_write_bytes", t->hbm_write},
        {"line_load_identity", NX_LINE_LOAD_IDENTITY},
        {"line_transpose", NX_LINE_TRANSPOSE},
        {"line_copy_identity", NX_LINE_COPY_IDENTITY},
        {"line_loop_m", NX_LINE_LOOP_M},
        {"line_loop_n", NX_LINE_LOOP_N},
        {"line_loop_k", NX_LINE_LOOP_K},
        {"line_load_a", NX_LINE_LOAD_A},
        {"line_load_b", NX_LINE_LOAD_B},
        {"line_multiply", NX_LINE_MULTIPLY},
        {"line_copy_out", NX_LINE_COPY_OUT},
        {"line_store_c", NX_LINE_STORE_C},
    };

    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        printf("%-20s %llu\n", lines[i].name, (unsigned long long)lines[i].value);
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"static", "dynamic-hw", "dynamic-sw", "mixed"};
    static const char *const levels[] = {"full", "lines", "none"};
    static const char *const types[] = {"bf16", "fp16", "fp32"};
    static const enum nx_generate_dtype codes[] = {NX_GEN_BF16, NX_GEN_FP16, NX_GEN_FP32};
    struct nx_generate_options o = {0};
    struct nx_generated truth;
    struct nx_error error;
    const char *neff = NULL, *ntff = NULL;
    uint64_t records = 0;
    bool quiet = false;
    enum nx_status status = NX_OK;
    int c;

    while ((c = getopt_long(argc, argv, "m:k:n:h", long_options, NULL)) != -1)
        switch (c) {
        case 'm':
            o.m = (uint32_t)number("-m", optarg);
            break;
        case 'k':
            o.k = (uint32_t)number("-k", optarg);
            break;
        case 'n':
            o.n = (uint32_t)number("-n", optarg);
            break;
        case OPT_NEFF:
            neff = optarg;
            break;
        case OPT_NTFF:
            ntff = optarg;
            break;
        case OPT_DTYPE:
            o.dtype = codes[choice("--dtype", optarg, types, 3)];
            break;
        case OPT_CORES:
            o.cores = (uint32_t)number("--cores", optarg);
            break;
        case OPT_VERSION:
            o.version = (uint32_t)number("--ntff-version", optarg);
            break;
        case OPT_DMA:
            o.dma = (enum nx_generate_dma)choice("--dma", optarg, kinds, 4);
            break;
        case OPT_REPEAT:
            o.repeat = number("--repeat", optarg);
            break;
        case OPT_RECORDS:
            records = number("--records", optarg);
            break;
        case OPT_SEED:
            o.seed = number("--seed", optarg);
            break;
        case OPT_CLOCK:
            o.clock_ps = number("--clock", optarg);
            break;
        case OPT_NUL:
            o.uuid_nul = (unsigned)number("--uuid-nul", optarg);
            break;
        case OPT_DEBUG:
            o.debug = (enum nx_generate_debug)choice("--debug-info", optarg, levels, 3);
            break;
        case OPT_DEFECTS:
            o.defects = (uint32_t)number("--defects", optarg);
            break;
        case OPT_WITHOUT:
            o.without_member = optarg;
            break;
        case OPT_QUIET:
            quiet = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return NX_OK;
        default:
            fputs(usage, stderr);
            return NX_USAGE;
        }
    if (optind < argc || !neff || !ntff) {
        fputs(usage, stderr);
        return NX_USAGE;
    }
    if (records)
        status = repeats_for(&o, records, &error);
    if (!status)
        status = nx_generate(&o, neff, ntff, quiet ? NULL : &truth, &error);
    if (status) {
        fprintf(stderr, "nx-generate: %s\n", error.text);
        return (int)status;
    }
    if (!quiet)
        print_truth(&truth);
    return NX_OK;
}
