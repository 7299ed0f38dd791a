/*
 * Where the time of an ingestion goes, on one pair of files:
 *
 *     nx-bench-ingest NEFF NTFF DATA_PATH [RUNS]
 *
 *   open        both files: archive, metadata
 *   correlate   all records decoded, paired, sorted: nx_trace_build
 *   fill        all tables into vectors that are dropped
 *   store       tables to Parquet on disk, published
 *   total       from two files on disk to the published profile
 *   duckdb      the same tables written from vectors in memory: what no reader of ours can beat
 *
 * Prints one line of JSON: the median of RUNS (3) runs in seconds (and of CPU time, NAME_cpu), and what was read and written.
 * Figures of one process: `total` and `duckdb` are measured in turns, so both see the same machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/jobs.h"
#include "base/memory.h"
#include "cli/ingest.h"
#include "recording.h"
#include "store/parquet.h"

enum phase { OPEN, CORRELATE, FILL, STORE, TOTAL, DUCKDB, PHASE_COUNT };
static const char *const names[PHASE_COUNT] = {"open", "correlate", "fill", "store", "total", "duckdb"};

#define MAX_RUNS 25

struct bench {
    const char *neff, *ntff, *data;
    double seconds[PHASE_COUNT][MAX_RUNS], cpu[PHASE_COUNT][MAX_RUNS];
    uint64_t records, rows, vector_bytes, rss_trace_kb, rss_total_kb;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of all threads, user and system: what other work on the machine does not lengthen. */
static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss;
}

static void stop(const char *what, const struct nx_error *error)
{
    fprintf(stderr, "nx-bench-ingest: %s: %s\n", what, error->text);
    exit(1);
}

static void ingest_once(struct bench *b, int run)
{
    struct nx_store store;
    struct nx_loaded loaded = {0};
    struct nx_error error;
    double start = now(), opened, correlated, cpu = cpu_now(), cpu_opened, cpu_correlated;

    if (nx_store_open(b->data, true, &store, &error) != NX_OK || nx_neff_open(b->neff, &loaded.neff, &error) != NX_OK ||
        nx_ntff_open(b->ntff, &loaded.ntff, &error) != NX_OK)
        stop("open", &error);
    opened = now();
    cpu_opened = cpu_now();
    if (nx_trace_build(&loaded.neff, &loaded.ntff, NULL, NULL, &loaded.trace, &error) != NX_OK)
        stop("correlate", &error);
    correlated = now();
    cpu_correlated = cpu_now();
    if (b->rss_trace_kb == 0)
        b->rss_trace_kb = peak_kb();
    loaded.profile = (struct nx_profile){.name = "bench",
                                         .explorer_version = NX_VERSION,
                                         .neff = &loaded.neff,
                                         .ntff = &loaded.ntff,
                                         .trace = &loaded.trace,
                                         .warnings = &loaded.warnings};
    b->records = loaded.trace.records;
    if (nx_store_profile(&store, &loaded, true, NULL, NULL, &error) != NX_OK)
        stop("store", &error);
    b->seconds[OPEN][run] = opened - start;
    b->seconds[CORRELATE][run] = correlated - opened;
    b->seconds[STORE][run] = now() - correlated;
    b->seconds[TOTAL][run] = now() - start;
    b->cpu[OPEN][run] = cpu_opened - cpu;
    b->cpu[CORRELATE][run] = cpu_correlated - cpu_opened;
    b->cpu[STORE][run] = cpu_now() - cpu_correlated;
    b->cpu[TOTAL][run] = cpu_now() - cpu;
    if (b->rss_total_kb == 0)
        b->rss_total_kb = peak_kb();
    nx_loaded_free(&loaded);
    nx_store_close(&store);
}

static void duckdb_once(struct bench *b, struct nx_recording *const *recordings, size_t count, int run)
{
    const struct nx_table *tables[NX_RECORDINGS_MAX + 1] = {0};
    struct nx_profile profile = {.name = "bench"};
    struct nx_store store;
    struct nx_ingest ingest;
    struct nx_error error;
    double start, cpu;

    for (size_t i = 0; i < count; i++)
        tables[i] = nx_recording_table(recordings[i]);
    if (nx_store_open(b->data, true, &store, &error) != NX_OK)
        stop("open", &error);
    start = now();
    cpu = cpu_now();
    if (nx_ingest_begin(&store, "bench", true, &ingest, &error) != NX_OK ||
        nx_parquet_write(ingest.dir_path, tables, &profile, nx_jobs_threads(), NULL, NULL, &error) != NX_OK ||
        nx_ingest_commit(&ingest, &error) != NX_OK)
        stop("duckdb", &error);
    b->seconds[DUCKDB][run] = now() - start;
    b->cpu[DUCKDB][run] = cpu_now() - cpu;
    nx_store_close(&store);
}

static size_t record(struct bench *b, const struct nx_loaded *loaded, bool keep, struct nx_recording **recordings)
{
    size_t count = 0;

    b->rows = b->vector_bytes = 0;
    for (size_t i = 0; nx_tables[i] && count < NX_RECORDINGS_MAX; i++)
        recordings[count++] = nx_recording_make(nx_tables[i], &loaded->profile, keep, &b->rows, &b->vector_bytes);
    return count;
}

static void release(struct nx_recording **recordings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        nx_recording_free(recordings[i]);
}

static int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), ascending);
    return values[count / 2];
}

int main(int argc, char **argv)
{
    struct nx_recording *recordings[NX_RECORDINGS_MAX];
    struct nx_loaded loaded;
    struct nx_error error;
    struct bench b = {0};
    int runs = argc > 4 ? atoi(argv[4]) : 3;
    size_t count;

    if (argc < 4 || runs < 1 || runs > MAX_RUNS) {
        fprintf(stderr, "Usage: nx-bench-ingest NEFF NTFF DATA_PATH [RUNS]\n");
        return 2;
    }
    b.neff = argv[1], b.ntff = argv[2], b.data = argv[3];
    ingest_once(&b, 0); /* alone first: the peak of memory is that of an ingestion */
    if (nx_load(b.neff, b.ntff, "bench", NULL, NULL, &loaded, &error) != NX_OK)
        stop("load", &error);
    for (int run = 0; run < runs; run++) {
        double start = now(), cpu = cpu_now();

        count = record(&b, &loaded, false, recordings);
        b.seconds[FILL][run] = now() - start;
        b.cpu[FILL][run] = cpu_now() - cpu;
        release(recordings, count);
    }
    count = record(&b, &loaded, true, recordings);
    for (int run = 0; run < runs; run++) {
        ingest_once(&b, run);
        duckdb_once(&b, recordings, count, run);
    }
    release(recordings, count);
    nx_loaded_free(&loaded);
    printf("{\"records\": %llu, \"rows\": %llu, \"vector_bytes\": %llu, \"peak_kb_correlated\": %llu, \"peak_kb\": %llu",
           (unsigned long long)b.records, (unsigned long long)b.rows, (unsigned long long)b.vector_bytes,
           (unsigned long long)b.rss_trace_kb, (unsigned long long)b.rss_total_kb);
    for (int p = 0; p < PHASE_COUNT; p++)
        printf(", \"%s\": %.4f, \"%s_cpu\": %.4f", names[p], median(b.seconds[p], runs), names[p], median(b.cpu[p], runs));
    printf("}\n");
    return 0;
}
