/*
 * Writes the NEFF: 1024-byte header and a gzip'ed tar (SPEC 1, 2).  No time,
 * user or host gets into it: the same options give the same bytes.
 */
#include <archive_entry.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "generate_package.h"

#define HEADER 1024
#define COMPILER "2.23.6484.0+3b612583"
#define COMPILER_TRN1 "2.18.121.0+9e31e41a"

const char *const gen_member_of[] = {"PE", "Activation", "Pool", "DVE", "SP"};
/* Key of an engine in def.json. */
static const char *const key_of[] = {"pe", "act", "pool", "dve", "sp"};

static la_ssize_t keep(struct archive *archive, void *context, const void *bytes, size_t size)
{
    (void)archive;
    nx_text_append(context, bytes, size);
    return (la_ssize_t)size;
}

void gen_member(struct gen_package *p, struct nx_text *content, const char *format, ...)
{
    const char *without = p->plan->options.without_member;
    struct archive_entry *entry = archive_entry_new();
    char name[96];
    va_list args;
    bool debug;

    va_start(args, format);
    vsnprintf(name, sizeof(name), format, args);
    va_end(args);
    debug = strstr(name, ".dbg") || strstr(name, "debug_info.json");
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (la_int64_t)content->size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0664);
    archive_entry_set_mtime(entry, 0, 0);
    if (!(without && !strcmp(without, name)) &&
        !(debug && p->plan->options.defects & NX_DEFECT_NO_DEBUG_INFO)) {
        if (archive_write_header(p->archive, entry) != ARCHIVE_OK ||
            archive_write_data(p->archive, nx_text_string(content), content->size) !=
                (la_ssize_t)content->size)
            p->failed = true;
    }
    archive_entry_free(entry);
    nx_text_clear(content);
}

const char *gen_dtype_word(const struct gen_plan *plan)
{
    switch (plan->options.dtype) {
    case NX_GEN_FP16:
        return "float16";
    case NX_GEN_FP32:
        return "float32";
    default:
        return "bfloat16";
    }
}

/* ------------------------------------------------------------------ a core's definition */
static void dma_side(struct nx_text *out, const char *name, const char *dtype, const struct gen_side *side)
{
    nx_text_printf(out,
                   "\"%s\":\"%s\",\"%s_dtype\":\"%s\",\"%s_off\":%llu,\"%s_sizes\":[%u,%u],"
                   "\"%s_steps\":[1,%u],",
                   name, side->var, name, dtype, name, (unsigned long long)side->offset, name,
                   side->row_bytes, GEN_PARTITIONS, name, side->step);
}

static void put_blocks(const struct gen_plan *plan, const struct gen_core *core, enum nx_engine engine,
                       struct nx_text *out)
{
    const char *comma = "";

    for (size_t i = 0; i < core->transfer_count; i++) {
        const struct gen_transfer *t = &core->transfers[i];
        const struct gen_queue *queue = &core->queues[t->queue];

        if (queue->kind != GEN_STATIC || queue->engine != engine)
            continue;
        nx_text_printf(out, "%s{\"#comment\":\"%s\",\"desc\":[{", comma, core->bir[t->bir - 1].name);
        dma_side(out, "from", gen_dtype_word(plan), &t->from);
        dma_side(out, "to", gen_dtype_word(plan), &t->to);
        nx_text_printf(out,
                       "\"num_tiling_dimensions\":1,\"op\":\"copy\"}],\"id\":%u,\"queue\":\"%s\","
                       "\"semaphore\":%u}",
                       t->id, queue->name, t->semaphore);
        comma = ",";
    }
}

static void put_engines(struct gen_package *p, const struct gen_core *core)
{
    struct nx_text out = {0};

    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++) {
        const struct gen_program *program = &core->programs[e];

        for (size_t i = 0; i < program->inst_count; i++) {
            const struct gen_inst *inst = &program->insts[i];

            if (inst->compiled)
                nx_text_append(&out, (const char *)(inst->label ? inst->ran : inst->neff), GEN_INST);
        }
        gen_member(p, &out, "%s/%s.bin", core->name, gen_member_of[e]);
        nx_text_puts(&out, "{");
        if (e == NX_ACT)
            nx_text_puts(&out, "\"act_info\":\"act_info.json\",\"act_semaphore\":12,"
                               "\"activation_function_sets\":[\"exp_and_others\"],");
        nx_text_puts(&out, "\"dma\":[");
        put_blocks(p->plan, core, e, &out);
        nx_text_printf(&out, "],\"instr\":\"%s.bin\",\"name\":\"%s.json\"}", gen_member_of[e], gen_member_of[e]);
        gen_member(p, &out, "%s/%s.json", core->name, gen_member_of[e]);
    }
    nx_text_puts(&out, "{\"act_func_sets\":[{\"name\":\"exp_and_others\",\"act\":{\"exp\":400,"
                       "\"identity\":1,\"copy\":1}}]}");
    gen_member(p, &out, "%s/act_info.json", core->name);
    nx_text_free(&out);
}

static void put_queues(const struct gen_core *core, struct nx_text *out)
{
    nx_text_puts(out, "\"dma_queue\":{");
    for (uint32_t q = 0; q < core->neff_queue_count; q++) {
        const struct gen_queue *queue = &core->queues[q];

        nx_text_printf(
            out,
            "%s\"%s\":{\"fabric_path\":\"main\",\"num_queues\":%d,\"owner\":\"%s\",\"type\":\"%s\","
            "\"semaphore_set\":[",
            q ? "," : "", queue->name, GEN_RINGS, queue->owner, queue->type);
        for (unsigned i = 0; i < GEN_RINGS; i++)
            nx_text_printf(out, "%s%u", i ? "," : "", queue->semaphore + i);
        nx_text_puts(out, "]}");
    }
    nx_text_puts(out, "},");
}

static void put_vars(const struct gen_plan *plan, const struct gen_core *core, struct nx_text *out)
{
    const struct nx_generate_options *o = &plan->options;
    unsigned long long e = plan->element;

    nx_text_puts(out, "\"var\":{");
    if (o->dma != NX_DMA_STATIC)
        nx_text_puts(out, "\"DGETable0\":{\"list\":[1,2,3],\"type\":\"dge-table\",\"var_id\":9},");
    nx_text_printf(
        out,
        "\"SB\":{\"type\":\"state-buffer\",\"var_id\":0},"
        "\"a\":{\"ops\":[],\"size\":%llu,\"type\":\"input\",\"var_id\":1},"
        "\"b\":{\"ops\":[],\"size\":%llu,\"type\":\"input\",\"var_id\":2},"
        "\"c\":{\"ops\":[],\"size\":%llu,\"type\":\"output\",\"var_id\":3},"
        "\"identity_sg0000\":{\"alignment\":32768,\"file_name\":\"value_sg0000_identity_CRSM.npy\","
        "\"ops\":[],\"size\":%llu,\"type\":\"file\",\"var_id\":4}",
        o->m * (unsigned long long)o->k * e, o->k * (unsigned long long)o->n * e,
        o->m * (unsigned long long)o->n * e, GEN_TILE_K * GEN_TILE_K * e);
    if (o->defects & NX_DEFECT_UNKNOWN_VAR_TYPE && core->number == 0)
        nx_text_puts(out, ",\"mystery\":{\"ops\":[],\"size\":64,\"type\":\"wormhole\",\"var_id\":7}");
    nx_text_puts(out, "},");
}

static void put_definition(struct gen_package *p, const struct gen_core *core)
{
    struct nx_text out = {0};

    nx_text_puts(&out, "{");
    for (unsigned e = 0; e < NX_ENGINE_COUNT; e++)
        nx_text_printf(&out,
                       "\"%s\":\"%s.json\",\"%s_asm_dbg\":[\"debug_info_asm_%s.dbg\"],"
                       "\"%s_dbg\":[\"debug_info_backend_%s.dbg\"],\"%s_instr\":\"%s.bin\",",
                       key_of[e], gen_member_of[e], key_of[e], gen_member_of[e], key_of[e], gen_member_of[e], key_of[e],
                       gen_member_of[e]);
    nx_text_puts(&out, "\"dma_dbg\":[\"debug_info_backend_DMA.dbg\"],");
    put_queues(core, &out);
    put_vars(p->plan, core, &out);
    if (p->plan->core_count == 2)
        nx_text_puts(&out, "\"neff_features\":[\"neff_feature_vnc\"],");
    nx_text_puts(&out, "\"debug_info\":{},\"name\":\"definition\",\"runtime_event_count\":12,"
                       "\"runtime_semaphore_count\":3,\"version\":\"0.6\"}");
    gen_member(p, &out, "%s/def.json", core->name);
    nx_text_free(&out);
}

static void tensor(struct nx_text *out, const char *name, const char *dtype, const char *format,
                   const char *shape, bool constant)
{
    nx_text_printf(out,
                   "%s\"%s\":{\"dtype\":\"%s\",\"is_const\":%s,\"layer_name\":\"%s\",\"sim_format\":\"%s\","
                   "\"sim_shape\":[%s],\"tf_file\":\"value_%s.npy\",\"tf_format\":\"%s\",\"tf_shape\":[%s]}",
                   out->size > 1 ? "," : "", name, dtype, constant ? "true" : "false", name, format, shape,
                   name, format, shape);
}

static void put_tensor_map(struct gen_package *p, const struct gen_core *core)
{
    const struct nx_generate_options *o = &p->plan->options;
    const char *dtype = gen_dtype_word(p->plan);
    struct nx_text out = {0};
    char shape[48];

    nx_text_puts(&out, "{");
    snprintf(shape, sizeof(shape), "%u,%u", o->k, o->m);
    tensor(&out, "a", dtype, "NC", shape, false);
    snprintf(shape, sizeof(shape), "%u,%u", o->k, o->n);
    tensor(&out, "b", dtype, "NC", shape, false);
    snprintf(shape, sizeof(shape), "%u,%u", o->m, o->n);
    tensor(&out, "c", dtype, "NC", shape, false);
    tensor(&out, "sg0000_identity_CRSM", dtype, "CRSM", "128,128,1,1", true);
    nx_text_puts(&out, "}");
    gen_member(p, &out, "%s/tensor_map.json", core->name);
    nx_text_free(&out);
}

static void put_identity(struct gen_package *p, const struct gen_core *core)
{
    static const uint32_t one_of[] = {
        [NX_GEN_BF16] = 0x3f80, [NX_GEN_FP16] = 0x3c00, [NX_GEN_FP32] = 0x3f800000};
    uint32_t one = one_of[p->plan->options.dtype];
    struct nx_text out = {0};
    char header[129];
    uint8_t value[4] = {0};

    snprintf(header, sizeof(header), "{'descr': '<%c%u', 'fortran_order': False, 'shape': (128, 128), }",
             p->plan->element == 4 ? 'f' : 'u', p->plan->element);
    nx_text_append(&out, "\x93NUMPY\x01\x00\x76\x00", 10);
    nx_text_printf(&out, "%-117s\n", header);
    for (unsigned i = 0; i < GEN_TILE_K * GEN_TILE_K; i++) {
        gen_put_u32(value, i % (GEN_TILE_K + 1) ? 0 : one);
        nx_text_append(&out, (const char *)value, p->plan->element);
    }
    gen_member(p, &out, "%s/value_sg0000_identity_CRSM.npy", core->name);
    nx_text_free(&out);
}

/* ------------------------------------------------------------------ the package */
static void put_info(struct gen_package *p)
{
    struct nx_text out = {0};

    nx_text_printf(&out,
                   "{\"tool_version\":\"%s\",\"kelp_version\":\"Dynamic\",\"name\":\"matmul.neff\","
                   "\"num_tpb\":1,\"num_tpb_requested\":1,\"num_tpb_per_node\":[1",
                   p->plan->trn1 ? COMPILER_TRN1 : COMPILER);
    for (unsigned i = 1; i < 64; i++)
        nx_text_puts(&out, ",0");
    nx_text_puts(&out, "]}");
    gen_member(p, &out, "info.json");

    nx_text_puts(&out, "{\"graphs\":[");
    for (uint32_t c = 0; c < p->plan->core_count; c++)
        nx_text_printf(&out, "%s{\"definition\":\"%s/def.json\",\"name\":\"%s\"}", c ? "," : "",
                       p->plan->cores[c].name, p->plan->cores[c].name);
    nx_text_printf(&out, "],\"version\":\"0.5\",\"target\":\"%s\"}\n",
                   p->plan->options.defects & NX_DEFECT_UNKNOWN_TARGET ? "atlantis"
                   : p->plan->trn1                                     ? "sunda"
                                                                       : "cayman");
    gen_member(p, &out, "kelf-0.json");
    nx_text_free(&out);
}

static void put_graph(struct gen_package *p)
{
    const struct nx_generate_options *o = &p->plan->options;
    const char *dtype = gen_dtype_word(p->plan);
    struct nx_text out = {0};

    for (unsigned i = 0; i < 2; i++)
        nx_text_printf(&out,
                       "%s{\"op\":\"null\",\"name\":\"%c\",\"inputs\":[],\"output_names\":[\"%c\"],"
                       "\"is_param\":\"0\"}",
                       i ? "," : "{\"nodes\":[", "ab"[i], "ab"[i]);
    nx_text_printf(&out,
                   ",{\"op\":\"tvm_op\",\"name\":\"sg_coreV10\",\"attrs\":{\"func_name\":\"__kelf\","
                   "\"flatten_data\":\"0\",\"num_inputs\":\"2\",\"kelf\":\"kelf-0.json\","
                   "\"num_outputs\":\"1\"},\"inputs\":[[0,0,0],[1,0,0]],\"output_names\":[\"c\"]}],"
                   "\"arg_nodes\":[0,1],\"heads\":[[2,0,0]],\"attrs\":{\"shape\":[\"list_shape\","
                   "[[%u,%u],[%u,%u],[%u,%u]]],\"storage_id\":[\"list_int\",[0,1,2]],"
                   "\"dltype\":[\"list_str\",[\"%s\",\"%s\",\"%s\"]]},\"node_row_ptr\":[0,1,2,3]}",
                   o->k, o->m, o->k, o->n, o->m, o->n, dtype, dtype, dtype);
    gen_member(p, &out, "neff.json");
    nx_text_free(&out);
}

static void make_header(const struct gen_plan *plan, uint64_t data_size, uint8_t *header)
{
    memset(header, 0, HEADER);
    gen_put_u64(header, 2);
    gen_put_u64(header + 8, HEADER);
    gen_put_u64(header + 16, data_size);
    gen_put_u64(header + 24, plan->core_count);
    gen_put_u32(header + 168, 1);
    for (unsigned i = 0; i < 16; i++)
        header[172 + i] = (uint8_t)gen_random(plan->options.seed, 2000 + i);
    memcpy(header + 204, plan->uuid, 16);
    memcpy(header + 220, "matmul.neff", 11);
    gen_put_u32(header + 476, 1);
    header[480] = 1;
    gen_put_u64(header + 544, plan->trn1 ? 0 : 0xc00);
    gen_put_u32(header + 552, plan->core_count);
}

enum nx_status gen_neff_write(const struct gen_plan *plan, const char *path, struct nx_error *error)
{
    struct gen_package p = {.plan = plan, .archive = archive_write_new()};
    uint8_t header[HEADER];
    FILE *stream;

    archive_write_set_format_ustar(p.archive);
    archive_write_add_filter_gzip(p.archive);
    archive_write_set_options(p.archive, "gzip:!timestamp");
    archive_write_open(p.archive, &p.payload, NULL, keep, NULL);
    gen_debug_levels(&p);
    put_info(&p);
    for (uint32_t c = 0; c < plan->core_count; c++) {
        const struct gen_core *core = &plan->cores[c];

        put_engines(&p, core);
        gen_debug_core(&p, core);
        put_definition(&p, core);
        put_tensor_map(&p, core);
        put_identity(&p, core);
    }
    put_graph(&p);
    if (archive_write_close(p.archive) != ARCHIVE_OK)
        p.failed = true;
    archive_write_free(p.archive);

    make_header(plan, p.payload.size, header);
    stream = p.failed ? NULL : fopen(path, "wb");
    if (!stream || fwrite(header, 1, HEADER, stream) != HEADER ||
        fwrite(nx_text_string(&p.payload), 1, p.payload.size, stream) != p.payload.size)
        p.failed = true;
    if (stream && fclose(stream))
        p.failed = true;
    nx_text_free(&p.payload);
    if (p.failed)
        return nx_fail(error, NX_FAILED, "cannot write %s: %s", path, strerror(errno));
    return NX_OK;
}
