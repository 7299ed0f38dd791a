/* dump neff: the structure of a compiled kernel, as far as it can be read. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cli/cli.h"
#include "cli/dump.h"
#include "isa/isa.h"
#include "neff/neff.h"

/* Sums over the blocks of one queue. */
struct queue_total {
    uint64_t blocks, read_bytes, write_bytes;
};

/* Where -1 stands for "not given". */
static json_t *number_or_null(int64_t value)
{
    return value < 0 ? json_null() : json_integer((json_int_t)value);
}

static json_t *dump_header(const struct nx_neff_header *h)
{
    char features[1024];
    size_t nodes = sizeof(h->tpb_per_node);
    json_t *per_node = json_array();

    nx_neff_feature_names(h->feature_bits, features, sizeof(features));
    while (nodes && !h->tpb_per_node[nodes - 1])
        nodes--;
    for (size_t i = 0; i < nodes; i++)
        json_array_append_new(per_node, json_integer(h->tpb_per_node[i]));
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:o}", "package_version",
                     nx_dump_number(h->package_version), "header_size", nx_dump_number(h->header_size),
                     "data_size", nx_dump_number(h->data_size), "major_version",
                     nx_dump_number(h->major_version), "minor_version", nx_dump_number(h->minor_version),
                     "build_version", nx_dump_text(h->build_version), "name", nx_dump_text(h->name), "uuid",
                     nx_dump_hex(h->uuid, sizeof(h->uuid)), "hash", nx_dump_hex(h->hash, sizeof(h->hash)),
                     "num_tpb", nx_dump_number(h->num_tpb), "requested_tpb", nx_dump_number(h->requested_tpb),
                     "tpb_per_node", per_node, "feature_bits", nx_dump_number(h->feature_bits), "features",
                     features, "lnc_size", nx_dump_number(h->lnc_size));
}

/* A file of less than 1024 bytes has none; one that starts with nothing but zeros says nothing either. */
static bool has_header(const struct nx_neff_header *h)
{
    return h->package_version || h->header_size || h->data_size;
}

static json_t *dump_members(const struct nx_neff *neff)
{
    json_t *list = json_array();

    for (size_t i = 0; i < neff->member_count; i++)
        json_array_append_new(list, json_pack("{s:o,s:o,s:o}", "name", nx_dump_text(neff->members[i].name),
                                              "size", nx_dump_number(neff->members[i].size), "offset",
                                              nx_dump_number(neff->members[i].offset)));
    return list;
}

/* The var_id of each index of a DGE table, on one line; NULL for other variables. */
static json_t *dump_dge_table(const struct nx_neff_var *v)
{
    struct nx_text text = {0};
    json_t *value;

    if (v->kind != NX_VAR_DGE_TABLE)
        return json_null();
    for (size_t i = 0; i < v->dge_count; i++)
        nx_text_printf(&text, "%s%" PRId64, i ? " " : "", v->dge_list[i]);
    value = json_string(nx_text_string(&text));
    nx_text_free(&text);
    return value;
}

static json_t *dump_vars(const struct nx_neff_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < graph->var_count; i++) {
        const struct nx_neff_var *v = &graph->vars[i];

        json_array_append_new(list,
                              json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", nx_dump_text(v->name),
                                        "type", nx_dump_text(v->type), "size", nx_dump_number(v->size),
                                        "var_id", number_or_null(v->var_id), "shape", nx_dump_text(v->shape),
                                        "format", nx_dump_text(v->format), "dtype", nx_dump_text(v->dtype),
                                        "var_ids", dump_dge_table(v)));
    }
    return list;
}

/* "8-23", "40-55,60": sets are runs in all files that were seen. */
static json_t *dump_semaphores(const struct nx_neff_queue *queue)
{
    struct nx_text text = {0};
    json_t *value;

    for (size_t i = 0; i < queue->semaphore_count;) {
        size_t last = i;

        while (last + 1 < queue->semaphore_count &&
               queue->semaphores[last + 1] == queue->semaphores[last] + 1)
            last++;
        nx_text_printf(&text, "%s%" PRIu32, i ? "," : "", queue->semaphores[i]);
        if (last > i)
            nx_text_printf(&text, "-%" PRIu32, queue->semaphores[last]);
        i = last + 1;
    }
    value = json_string(nx_text_string(&text));
    nx_text_free(&text);
    return value;
}

static json_t *dump_queues(const struct nx_neff_graph *graph)
{
    struct queue_total *totals = nx_zalloc(graph->queue_count, sizeof(*totals));
    json_t *list = json_array();

    for (size_t b = 0; b < graph->block_count; b++) {
        struct queue_total *total = &totals[graph->blocks[b].queue];

        total->blocks++;
        total->read_bytes += graph->blocks[b].read_bytes;
        total->write_bytes += graph->blocks[b].write_bytes;
    }
    for (size_t q = 0; q < graph->queue_count; q++) {
        const struct nx_neff_queue *queue = &graph->queues[q];

        json_array_append_new(
            list,
            json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", nx_dump_text(queue->name),
                      "display_name", nx_dump_text(queue->display_name), "type", nx_dump_text(queue->type),
                      "owner", nx_dump_text(queue->owner), "rings", nx_dump_number(queue->num_rings),
                      "semaphores", dump_semaphores(queue), "blocks", nx_dump_number(totals[q].blocks),
                      "read_bytes", nx_dump_number(totals[q].read_bytes), "write_bytes",
                      nx_dump_number(totals[q].write_bytes)));
    }
    free(totals);
    return list;
}

static json_t *dump_engine(const struct nx_neff_engine *engine, enum nx_engine which)
{
    size_t count = engine->code.size / NX_ISA_SIZE, by_opcode[256] = {0};
    json_t *opcodes = json_object();
    char buffer[16];

    for (size_t i = 0; i < count; i++)
        by_opcode[engine->code.data[i * NX_ISA_SIZE]]++;
    for (unsigned op = 0; op < 256; op++)
        if (by_opcode[op])
            json_object_set_new(opcodes, nx_isa_opcode_name((uint8_t)op, buffer),
                                nx_dump_number(by_opcode[op]));
    return json_pack("{s:s,s:o,s:o,s:o}", "engine", nx_engine_title(which), "instructions",
                     nx_dump_number(count), "assembly_entries", nx_dump_number(engine->assembly.count),
                     "opcodes", opcodes);
}

static json_t *dump_texts(const char *const *texts, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, nx_dump_text(texts[i]));
    return list;
}

/* Files of one level of debug information, and what of its entries is not the same in every NEFF. */
static json_t *dump_level(const struct nx_dbg *dbg)
{
    uint64_t kinds[NX_DBG_TRANSPOSE + 1] = {0}, with_parent = 0, with_line = 0, with_frame = 0;
    json_t *files = json_array();

    for (size_t i = 0; i < dbg->file_count; i++)
        json_array_append_new(files, json_pack("{s:o,s:o}", "member", nx_dump_text(dbg->files[i].member),
                                               "parent", nx_dump_text(dbg->files[i].parent)));
    for (size_t i = 0; i < dbg->count; i++) {
        const struct nx_dbg_entry *entry = &dbg->entries[i];
        const char *file;
        int64_t line;

        if (entry->kind <= NX_DBG_TRANSPOSE)
            kinds[entry->kind]++;
        with_parent += entry->parent_count > 0;
        with_line += nx_dbg_source(dbg, entry, &file, &line);
        with_frame += entry->stack_frame_id > 0;
    }
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "entries", nx_dump_number(dbg->count), "spills",
                     nx_dump_number(kinds[NX_DBG_SPILL]), "transposes",
                     nx_dump_number(kinds[NX_DBG_TRANSPOSE]), "with_parent", nx_dump_number(with_parent),
                     "with_source_line", nx_dump_number(with_line), "with_stack_frame",
                     nx_dump_number(with_frame), "source_files",
                     dump_texts(dbg->source_files, dbg->source_file_count), "kernel_names",
                     dump_texts(dbg->kernel_names, dbg->kernel_name_count), "files", files);
}

static json_t *dump_graph(const struct nx_neff_graph *graph)
{
    json_t *engines = json_array();

    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        json_array_append_new(engines, dump_engine(&graph->engines[e], (enum nx_engine)e));
    return json_pack(
        "{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", nx_dump_text(graph->name), "variables", dump_vars(graph),
        "queues", dump_queues(graph), "dma_blocks", nx_dump_number(graph->block_count),
        "runtime_semaphore_count", number_or_null(graph->runtime_semaphore_count), "engines", engines,
        "debug_information",
        json_pack("{s:o,s:o,s:o,s:o,s:o}", "bir", dump_level(&graph->bir), "dma_bir",
                  dump_level(&graph->dma_bir), "penguin", dump_level(&graph->penguin), "hlo",
                  dump_level(&graph->hlo), "framework", dump_level(&graph->framework)));
}

static json_t *dump_stack(const struct nx_stack_index *stack)
{
    return json_pack("{s:o,s:o,s:o,s:o}", "frames", nx_dump_number(stack->frame_count), "locations",
                     nx_dump_number(stack->location_count), "file_names",
                     dump_texts(stack->file_names, stack->file_name_count), "function_names",
                     nx_dump_number(stack->function_name_count));
}

int nx_dump_neff(const char *path, const struct nx_dump_options *options)
{
    struct nx_neff neff;
    struct nx_error error;
    enum nx_status status = nx_neff_open_partly(path, &neff, &error);
    json_t *graphs = json_array(), *document;

    for (size_t i = 0; i < neff.graph_count; i++)
        json_array_append_new(graphs, dump_graph(&neff.graphs[i]));
    document = json_pack("{s:o,s:o,s:o,s:o,s:o,s:b,s:b,s:o,s:o,s:o,s:o}", "file", nx_dump_text(path), "header",
                         has_header(&neff.header) ? dump_header(&neff.header) : json_null(),
                         "compiler_version", nx_dump_text(neff.compiler_version), "target",
                         nx_dump_text(neff.target), "kernel_node", number_or_null(neff.kernel_node),
                         "has_metrics", neff.has_metrics, "has_hlo_stats", neff.has_hlo_stats, "members",
                         dump_members(&neff), "graphs", graphs, "stack_frames",
                         dump_stack(&neff.stack), "warnings", nx_dump_warnings(&neff.warnings));
    nx_neff_close(&neff);
    return nx_dump_print(document, NULL, options->json, status == NX_OK ? NULL : &error);
}
