/* dump neff: the structure of a compiled kernel. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/dump.h"
#include "isa/isa.h"
#include "neff/neff.h"

static json_t *dump_header(const struct nx_neff_header *h)
{
    char features[256];

    nx_neff_feature_names(h->feature_bits, features, sizeof(features));
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:s,s:I}", "package_version",
                     (json_int_t)h->package_version, "header_size", (json_int_t)h->header_size, "data_size",
                     (json_int_t)h->data_size, "major_version", (json_int_t)h->major_version, "minor_version",
                     (json_int_t)h->minor_version, "build_version", nx_dump_text(h->build_version), "name",
                     nx_dump_text(h->name), "uuid", nx_dump_hex(h->uuid, sizeof(h->uuid)), "hash",
                     nx_dump_hex(h->hash, sizeof(h->hash)), "num_tpb", (json_int_t)h->num_tpb, "requested_tpb",
                     (json_int_t)h->requested_tpb, "feature_bits", (json_int_t)h->feature_bits, "features", features,
                     "lnc_size", (json_int_t)h->lnc_size);
}

static json_t *dump_members(const struct nx_neff *neff)
{
    json_t *list = json_array();

    for (size_t i = 0; i < neff->member_count; i++)
        json_array_append_new(list, json_pack("{s:o,s:I,s:I}", "name", nx_dump_text(neff->members[i].name), "size",
                                              (json_int_t)neff->members[i].size, "offset",
                                              (json_int_t)neff->members[i].offset));
    return list;
}

static json_t *dump_vars(const struct nx_neff_graph *graph)
{
    json_t *list = json_array();

    for (size_t i = 0; i < graph->var_count; i++) {
        const struct nx_neff_var *v = &graph->vars[i];

        json_array_append_new(list, json_pack("{s:o,s:o,s:I,s:I,s:o,s:o,s:o}", "name", nx_dump_text(v->name), "type",
                                              nx_dump_text(v->type), "size", (json_int_t)v->size, "var_id",
                                              (json_int_t)v->var_id, "shape", nx_dump_text(v->shape), "format",
                                              nx_dump_text(v->format), "dtype", nx_dump_text(v->dtype)));
    }
    return list;
}

static json_t *dump_queues(const struct nx_neff_graph *graph)
{
    json_t *list = json_array();

    for (size_t q = 0; q < graph->queue_count; q++) {
        const struct nx_neff_queue *queue = &graph->queues[q];
        json_int_t blocks = 0, bytes = 0;

        for (size_t b = 0; b < graph->block_count; b++)
            if (graph->blocks[b].queue == q) {
                blocks++;
                bytes += (json_int_t)graph->blocks[b].write_bytes;
            }
        json_array_append_new(
            list, json_pack("{s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:I}", "name", nx_dump_text(queue->name), "display_name",
                            nx_dump_text(queue->display_name), "type", nx_dump_text(queue->type), "owner",
                            nx_dump_text(queue->owner), "rings", (json_int_t)queue->num_rings, "semaphores",
                            (json_int_t)queue->semaphore_count, "blocks", blocks, "block_bytes", bytes));
    }
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
            json_object_set_new(opcodes, nx_isa_opcode_name((uint8_t)op, buffer), json_integer((json_int_t)by_opcode[op]));
    return json_pack("{s:s,s:I,s:I,s:o}", "engine", nx_engine_title(which), "instructions", (json_int_t)count,
                     "assembly_entries", (json_int_t)engine->assembly.count, "opcodes", opcodes);
}

static json_t *dump_graph(const struct nx_neff_graph *graph)
{
    json_t *engines = json_array();

    for (int e = 0; e < NX_ENGINE_COUNT; e++)
        json_array_append_new(engines, dump_engine(&graph->engines[e], (enum nx_engine)e));
    return json_pack("{s:o,s:o,s:o,s:I,s:o,s:I,s:I,s:I}", "name", nx_dump_text(graph->name), "variables",
                     dump_vars(graph), "queues", dump_queues(graph), "dma_blocks", (json_int_t)graph->block_count,
                     "engines", engines, "bir_entries", (json_int_t)graph->bir.count, "dma_entries",
                     (json_int_t)graph->dma_bir.count, "penguin_entries", (json_int_t)graph->penguin.count);
}

int nx_dump_neff(const char *path, const struct nx_dump_options *options)
{
    struct nx_neff neff;
    struct nx_error error;
    enum nx_status status = nx_neff_open(path, &neff, &error);
    json_t *graphs = json_array(), *document;

    for (size_t i = 0; i < neff.graph_count; i++)
        json_array_append_new(graphs, dump_graph(&neff.graphs[i]));
    document = json_pack("{s:o,s:o,s:o,s:o,s:I,s:b,s:o,s:o,s:o}", "file", nx_dump_text(path), "header",
                         dump_header(&neff.header), "compiler_version", nx_dump_text(neff.compiler_version), "target",
                         nx_dump_text(neff.target), "kernel_node", (json_int_t)neff.kernel_node, "has_metrics",
                         neff.has_metrics, "members", dump_members(&neff), "graphs", graphs, "warnings",
                         nx_dump_warnings(&neff.warnings));
    nx_neff_close(&neff);
    return nx_dump_print(document, options->json, status == NX_OK ? NULL : &error);
}
