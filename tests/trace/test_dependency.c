/*
 * What waited for what, in generated pairs.  The truth comes from the data:
 * who last wrote the memory that an instruction or a DMA block reads.  No
 * dependency of the files is looked at for it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "generate.h"
#include "trace/build.h"

struct pair {
    struct nx_neff neff;
    struct nx_ntff ntff;
    struct nx_trace trace;
};

static void open_pair(struct pair *pair, struct nx_generate_options options)
{
    struct nx_error error;
    char neff_path[64], ntff_path[64];

    snprintf(neff_path, sizeof(neff_path), "dependency-%ld.neff", (long)getpid());
    snprintf(ntff_path, sizeof(ntff_path), "dependency-%ld.ntff", (long)getpid());
    if (nx_generate(&options, neff_path, ntff_path, NULL, &error) ||
        nx_neff_open(neff_path, &pair->neff, &error) || nx_ntff_open(ntff_path, &pair->ntff, &error) ||
        nx_trace_build(&pair->neff, &pair->ntff, NULL, NULL, &pair->trace, &error))
        fail_msg("%s", error.text);
    unlink(neff_path);
    unlink(ntff_path);
}

static void close_pair(struct pair *pair)
{
    nx_trace_free(&pair->trace);
    nx_ntff_close(&pair->ntff);
    nx_neff_close(&pair->neff);
}

/* ------------------------------------------------------------------ the truth */
#define SBUF_OFFSET 0x3ffffu /* of a DMA_DIRECT2D's address in SBUF: its place in the first partition */

static struct nx_inst decoded(const struct nx_trace *t, uint32_t exec)
{
    const struct nx_code_inst *inst = nx_exec_inst(t, &t->execs[exec]);
    struct nx_inst out = {0};

    if (inst)
        nx_isa_decode(t->cores[inst->core].ntff->code[inst->engine].bytes.data + (size_t)inst->index * 64,
                      &out);
    return out;
}

static bool is_sbuf(uint64_t address)
{
    return address >> 36 == 0x802;
}

/* Memory of a partition that an execution writes: PSUM is told from SBUF by its address. */
static bool writes(const struct nx_trace *t, uint32_t exec, uint32_t address)
{
    struct nx_inst inst = decoded(t, exec);

    if (inst.opcode == NX_OP_DMA_DIRECT2D)
        return is_sbuf(inst.dge_dst.address) && (inst.dge_dst.address & SBUF_OFFSET) == address;
    return inst.dst.rank && inst.dst.address == address;
}

static const struct nx_dma_desc *desc_of(const struct nx_trace *t, const struct nx_block_run *run)
{
    return &t->cores[run->core].neff->blocks[run->block].descs[0];
}

/* Who wrote the address last by that time: an execution or a run. */
static bool last_writer(const struct nx_trace *t, unsigned core, uint32_t address, int64_t by, uint32_t *who,
                        bool *is_run)
{
    int64_t latest = -1;

    for (uint32_t e = 0; e < t->exec_count; e++)
        if (t->execs[e].core == core && t->execs[e].end <= by && t->execs[e].end > latest &&
            writes(t, e, address)) {
            latest = t->execs[e].end;
            *who = e;
            *is_run = false;
        }
    for (uint32_t r = 0; r < t->run_count; r++) {
        const struct nx_block_run *run = &t->runs[r];

        if (run->core == core && run->packets && run->end <= by && run->end > latest &&
            strcmp(desc_of(t, run)->to.var, "SB") == 0 && desc_of(t, run)->to.offset == address) {
            latest = run->end;
            *who = r;
            *is_run = true;
        }
    }
    return latest >= 0;
}

/* ------------------------------------------------------------------ what was found */
static const struct nx_dependency *find_edge(const struct nx_trace *t, uint32_t in, bool in_is_run,
                                             uint32_t out, bool out_is_run)
{
    for (size_t i = 0; i < t->dependency_count; i++) {
        const struct nx_dependency *d = &t->dependencies[i];

        if (d->in == in && d->in_is_run == in_is_run && d->out == out && d->out_is_run == out_is_run)
            return d;
    }
    return NULL;
}

/* The edge from the writer to its reader; or, as an engine runs in order, to what it ran before the reader.
 */
static const struct nx_dependency *find_wait(const struct nx_trace *t, uint32_t in, bool in_is_run,
                                             uint32_t reader)
{
    const struct nx_exec *last = &t->execs[reader];
    const struct nx_dependency *edge = find_edge(t, in, in_is_run, reader, false);

    for (uint32_t e = reader; !edge && e-- > 0;)
        if (t->execs[e].core == last->core && t->execs[e].engine == last->engine)
            edge = find_edge(t, in, in_is_run, e, false);
    return edge;
}

struct found {
    unsigned loads, results, stores, triggers; /* edges that were looked for, and are there */
};

static void check_read(const struct nx_trace *t, uint32_t reader, uint32_t address, uint8_t type,
                       struct found *found)
{
    const struct nx_exec *exec = &t->execs[reader];
    const struct nx_dependency *edge;
    uint32_t writer;
    bool is_run;

    if (!last_writer(t, exec->core, address, exec->start, &writer, &is_run))
        return;
    edge = find_wait(t, writer, is_run, reader);
    if (!edge)
        fail_msg("execution %u (engine %u, at %lld ps) reads 0x%x of %s %u: no edge", reader, exec->engine,
                 (long long)exec->start, address, is_run ? "run" : "execution", writer);
    assert_int_equal(edge->type, type);
    if (is_run || decoded(t, writer).opcode == NX_OP_DMA_DIRECT2D)
        found->loads++;
    else
        found->results++;
}

/* Each instruction depends on who wrote what it reads. */
static void check_reads(const struct nx_trace *t, uint8_t type, struct found *found)
{
    for (uint32_t e = 0; e < t->exec_count; e++) {
        struct nx_inst inst = decoded(t, e);

        switch (inst.opcode) {
        case NX_OP_LDWEIGHTS:
        case NX_OP_MATMUL:
        case NX_OP_COPY:
        case NX_OP_ACTIVATE: check_read(t, e, inst.src[0].address, type, found); break;
        case NX_OP_DMA_DIRECT2D:
            if (is_sbuf(inst.dge_src.address))
                check_read(t, e, (uint32_t)(inst.dge_src.address & SBUF_OFFSET), type, found);
            break;
        default: break;
        }
    }
}

/* Each block run depends on its trigger, and the trigger of a store on who wrote what is stored. */
static void check_runs(const struct nx_trace *t, uint8_t type, struct found *found)
{
    for (uint32_t r = 0; r < t->run_count; r++) {
        const struct nx_block_run *run = &t->runs[r];
        const struct nx_dma_desc *desc = desc_of(t, run);
        const struct nx_dependency *edge;
        uint32_t writer;
        bool is_run;

        if (run->trigger == NX_NONE || !run->packets)
            continue;
        edge = find_edge(t, run->trigger, false, r, true);
        assert_non_null(edge);
        assert_int_equal(edge->type, NX_DEPENDS_TRIGGER);
        found->triggers++;
        if (strcmp(desc->from.var, "SB") != 0)
            continue;
        assert_true(last_writer(t, run->core, (uint32_t)desc->from.offset, t->execs[run->trigger].start,
                                &writer, &is_run));
        assert_false(is_run);
        edge = find_wait(t, writer, false, run->trigger);
        assert_non_null(edge);
        assert_int_equal(edge->type, type);
        found->stores++;
    }
}

/* Nothing depends on what comes later; one edge of a type a pair; in the order that trace.h promises. */
static void check_all(const struct nx_trace *t, bool loops)
{
    for (size_t i = 0; i < t->dependency_count; i++) {
        const struct nx_dependency *d = &t->dependencies[i], *last = i ? d - 1 : NULL;
        int64_t end = d->in_is_run ? t->runs[d->in].end : t->execs[d->in].end;
        int64_t start = d->out_is_run ? t->runs[d->out].start : t->execs[d->out].start;

        if (last)
            assert_true(last->out_is_run == d->out_is_run ? last->out <= d->out : !last->out_is_run);
        /* EVENT_SEMAPHORE's second condition holds when it ends. */
        if (d->type == NX_DEPENDS_SEMAPHORE && !d->out_is_run &&
            decoded(t, d->out).opcode == NX_OP_EVENT_SEMAPHORE)
            start = t->execs[d->out].end;
        if (end > start)
            fail_msg("edge %zu of type %u: the earlier one ends at %lld, the later one starts at %lld", i,
                     d->type, (long long)end, (long long)start);
        for (size_t k = i; k-- > 0 && t->dependencies[k].out == d->out && !loops;)
            assert_false(t->dependencies[k].in == d->in && t->dependencies[k].in_is_run == d->in_is_run &&
                         t->dependencies[k].out_is_run == d->out_is_run &&
                         t->dependencies[k].type == d->type);
    }
}

static unsigned runs_before(const struct nx_trace *t, uint32_t exec)
{
    unsigned count = 0;

    for (size_t i = 0; i < t->dependency_count; i++)
        count +=
            t->dependencies[i].out == exec && !t->dependencies[i].out_is_run && t->dependencies[i].in_is_run;
    return count;
}

static struct found check(struct nx_generate_options options)
{
    uint8_t type = options.defects & NX_DEFECT_NO_DEBUG_INFO ? NX_DEPENDS_SEMAPHORE : NX_DEPENDS_FLOW;
    struct found found = {0};
    struct pair pair;

    open_pair(&pair, options);
    check_reads(&pair.trace, type, &found);
    check_runs(&pair.trace, type, &found);
    check_all(&pair.trace, options.repeat > 1);
    assert_int_equal(pair.trace.dependencies_cut, 0);
    close_pair(&pair);
    return found;
}

/* The default kernel: two tiles of 128 x 512 in each of two rows, two steps of 128 each. */
static void static_dma(void **state)
{
    static const uint32_t defects[] = {0, NX_DEFECT_NO_DEBUG_INFO};

    (void)state;
    for (unsigned d = 0; d < 2; d++)
        for (uint32_t version = 4; version <= 6; version++) {
            struct found found =
                check((struct nx_generate_options){.version = version, .defects = defects[d]});
            unsigned cores = version == 4 ? 1 : 2, tiles = 4, steps = 2 * tiles;

            /* A for LDWEIGHTS, B for MATMUL; the identity of each core for both */
            assert_int_equal(found.loads, 2 * steps + 2 * cores);
            assert_int_equal(found.results, tiles + cores); /* the copies of PSUM */
            assert_int_equal(found.stores, tiles);
            assert_int_equal(found.triggers, 2 * steps + tiles + cores);
        }
}

static void loops(void **state)
{
    static const uint32_t defects[] = {0, NX_DEFECT_NO_DEBUG_INFO};

    (void)state;
    for (unsigned d = 0; d < 2; d++) {
        struct found found =
            check((struct nx_generate_options){.version = 6, .cores = 1, .repeat = 5, .defects = defects[d]});

        assert_int_equal(found.loads, 5 * 2 * 8 + 2); /* the identity comes before the loop */
        assert_int_equal(found.stores, 5 * 4);
        assert_int_equal(found.triggers, 5 * (2 * 8 + 4) + 1);
    }
}

/* More tiles than buffers: semaphores go round and their values rise. */
static void many_tiles(void **state)
{
    struct found found = check((struct nx_generate_options){
        .m = 512, .k = 384, .n = 2048, .cores = 1, .dtype = NX_GEN_FP32, .defects = NX_DEFECT_NO_DEBUG_INFO});

    (void)state;
    assert_int_equal(found.stores, 16);
    assert_true(found.loads >= 2 * 48);
    found = check((struct nx_generate_options){.m = 512, .k = 384, .n = 2048, .cores = 1});
    assert_int_equal(found.stores, 16);
}

/* No packet can be told to be of an instruction: what waits depends on the DMA_DIRECT2D. */
static void dynamic_dma(void **state)
{
    static const uint32_t defects[] = {0, NX_DEFECT_NO_DEBUG_INFO};

    (void)state;
    for (unsigned d = 0; d < 2; d++)
        for (int dma = NX_DMA_DYNAMIC_HW; dma <= NX_DMA_MIXED; dma++) {
            struct found found = check((struct nx_generate_options){
                .version = 6, .cores = 1, .dma = (enum nx_generate_dma)dma, .defects = defects[d]});
            unsigned blocks = dma == NX_DMA_MIXED ? 8 : 0; /* those of A */

            assert_true(found.triggers >= blocks && found.triggers <= blocks + 1); /* and of the identity */
            assert_int_equal(found.loads, 2 * 8 + 2);
            assert_int_equal(found.results, 4 + 1 + 4); /* copies, and stores of them */
        }
}

/* Each MATMUL depends on the two tiles of its step and on no other block, in each pass of a loop. */
static void no_other_block(void **state)
{
    struct pair pair;
    unsigned matmuls = 0;

    (void)state;
    open_pair(&pair, (struct nx_generate_options){.cores = 1, .repeat = 3});
    for (uint32_t e = 0; e < pair.trace.exec_count; e++)
        if (decoded(&pair.trace, e).opcode == NX_OP_MATMUL) {
            bool transposes = pair.trace.insts[pair.trace.execs[e].inst].bir->kind == NX_DBG_TRANSPOSE;

            assert_int_equal(runs_before(&pair.trace, e), transposes ? 1 : 2);
            matmuls++;
        }
    assert_int_equal(matmuls, 3 * 8 + 1);
    close_pair(&pair);
}

/* Forgets one event of `every`, which ones by `turn`: as if the hardware had lost their records. */
static void lose_events(struct nx_trace *t, uint32_t every, uint32_t turn)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->event_count; i++)
        if ((i * 2654435761u >> 8) % every != turn)
            t->events[kept++] = t->events[i];
    t->event_count = kept;
}

/* Records of events that are lost make fewer answers, and no other ones. */
static void lost_events(void **state)
{
    static const struct nx_generate_options options[] = {{.version = 6},
                                                         {.version = 5, .cores = 1, .dma = NX_DMA_DYNAMIC_HW},
                                                         {.version = 6, .cores = 1, .repeat = 6},
                                                         {.m = 512, .k = 384, .n = 2048, .cores = 1}};

    (void)state;
    for (size_t o = 0; o < sizeof(options) / sizeof(options[0]); o++)
        for (uint32_t turn = 0; turn < 9; turn++) {
            struct pair pair;
            struct nx_release *all, *left;
            size_t all_count, left_count, at = 0, found = 0;

            open_pair(&pair, options[o]);
            all = nx_build_releases(&pair.trace, &all_count);
            lose_events(&pair.trace, 9, turn);
            left = nx_build_releases(&pair.trace, &left_count);
            assert_true(left_count < all_count);
            assert_true(left_count > all_count / 2);
            for (size_t i = 0; i < left_count; i++) {
                bool same = false;

                while (all[at].exec < left[i].exec)
                    at++;
                for (size_t k = at; k < all_count && all[k].exec == left[i].exec; k++)
                    same |= all[k].by == left[i].by && all[k].by_run == left[i].by_run;
                found += same;
                if (!same)
                    print_message("options %zu, turn %u: execution %u by %s %u\n", o, turn,
                                  (unsigned)left[i].exec, left[i].by_run ? "run" : "execution", left[i].by);
            }
            assert_int_equal(found, left_count);
            free(all);
            free(left);
            close_pair(&pair);
        }
}

/* Instructions that name a million others, over and over: reading goes on, and says what it left out. */
static void too_many_dependencies(void **state)
{
    const size_t many = 1 << 20;
    struct nx_dbg_dep *deps = malloc(many * sizeof(*deps));
    struct pair pair;
    struct nx_error error;
    struct nx_dbg *bir;
    bool warned = false;

    (void)state;
    open_pair(&pair, (struct nx_generate_options){.repeat = 4});
    assert_int_equal(pair.trace.dependencies_cut, 0);
    nx_trace_free(&pair.trace);
    bir = &pair.neff.graphs[0].bir;
    for (size_t i = 0; i < many; i++)
        deps[i] = (struct nx_dbg_dep){bir->entries[i % bir->count].id, NX_DEP_FLOW};
    for (size_t i = 0; i < bir->count; i++) {
        bir->entries[i].deps = deps;
        bir->entries[i].dep_count = many / bir->count;
    }
    bir->entries[bir->count / 2].dep_count = many;
    assert_int_equal(nx_trace_build(&pair.neff, &pair.ntff, NULL, NULL, &pair.trace, &error), NX_OK);
    assert_true(pair.trace.dependencies_cut > 0);
    assert_true(pair.trace.dependency_count < (1 << 23));
    for (size_t i = 0; i < pair.trace.warnings.count; i++)
        warned |= strstr(pair.trace.warnings.list[i].message, "Flow") != NULL;
    assert_true(warned);
    close_pair(&pair);
    free(deps);
}

/* Where both the debug information and the semaphores tell what an execution waited for, they tell the same.
 */
static void agree(const char *profile)
{
    char neff_path[512], ntff_path[512];
    struct nx_release *releases;
    struct nx_error error;
    struct pair pair;
    size_t count, agreed = 0;

    snprintf(neff_path, sizeof(neff_path), NX_SHARED_DIR "/profiles/%s/kernel.neff", profile);
    snprintf(ntff_path, sizeof(ntff_path), NX_SHARED_DIR "/profiles/%s/profile.ntff", profile);
    if (nx_neff_open(neff_path, &pair.neff, &error) || nx_ntff_open(ntff_path, &pair.ntff, &error) ||
        nx_trace_build(&pair.neff, &pair.ntff, NULL, NULL, &pair.trace, &error))
        fail_msg("%s", error.text);
    releases = nx_build_releases(&pair.trace, &count);
    for (size_t i = 0, d = 0; i < count; i++) {
        bool stated = false, same = false;

        while (!pair.trace.dependencies[d].out_is_run && pair.trace.dependencies[d].out < releases[i].exec)
            d++;
        for (size_t k = d; k < pair.trace.dependency_count; k++) {
            const struct nx_dependency *edge = &pair.trace.dependencies[k];

            if (edge->out_is_run || edge->out != releases[i].exec)
                break;
            stated |= edge->type != NX_DEPENDS_SEMAPHORE;
            same |= edge->type != NX_DEPENDS_SEMAPHORE && edge->in == releases[i].by &&
                    edge->in_is_run == releases[i].by_run;
        }
        if (stated && !same)
            fail_msg("%s: execution %u was let go by %s %u", profile, (unsigned)releases[i].exec,
                     releases[i].by_run ? "run" : "execution", releases[i].by);
        agreed += same;
    }
    print_message("%s: %zu waits agree\n", profile, agreed);
    assert_true(agreed >= 6);
    free(releases);
    close_pair(&pair);
}

static void real_profiles(void **state)
{
    static const char *const names[] = {
        "attention-baseline-bf16-s512", "attention-fused-bf16-s512", "attention-fused-bf16-s1024",
        "attention-fused-fp32-s512",    "conv2d-fp16-trn2",          "conv2d-fp16-trn2-small",
        "transpose-1024-trn2",          "vector-add-trn1-fd1k",      "vector-add-trn2-fd1k",
    };

    (void)state;
    if (access(NX_SHARED_DIR "/profiles", R_OK) != 0) {
        print_message("skipped: the real profiles are not here (%s)\n", NX_SHARED_DIR);
        skip();
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        agree(names[i]);
}

/* A damaged pair gives edges that hold together. */
static void defects(void **state)
{
    (void)state;
    for (uint32_t bit = NX_DEFECT_UNKNOWN_OPCODE; bit <= NX_DEFECT_UNFINISHED_PACKET; bit <<= 1)
        if (bit != NX_DEFECT_WRONG_UUID) {
            struct pair pair;

            open_pair(&pair, (struct nx_generate_options){.defects = bit});
            check_all(&pair.trace, false);
            close_pair(&pair);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_dma),     cmocka_unit_test(loops),
        cmocka_unit_test(many_tiles),     cmocka_unit_test(dynamic_dma),
        cmocka_unit_test(no_other_block), cmocka_unit_test(lost_events),
        cmocka_unit_test(defects),        cmocka_unit_test(too_many_dependencies),
        cmocka_unit_test(real_profiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
