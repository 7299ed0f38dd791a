#include "neff/neff.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "neff/reader.h"

#define MAX_GRAPHS 256

/* neff.json: the node that is the kernel, and not one of its inputs. */
static enum nx_status read_nodes(struct nx_neff_reader *r)
{
    json_t *json;
    const json_t *nodes;
    enum nx_status status = nx_neff_json(r, "neff.json", false, false, &json);

    r->neff->kernel_node = -1;
    nodes = json_object_get(json, "nodes");
    for (size_t i = 0; i < json_array_size(nodes) && r->neff->kernel_node < 0; i++) {
        const char *op = json_string_value(json_object_get(json_array_get(nodes, i), "op"));

        if (op && strcmp(op, "null") != 0)
            r->neff->kernel_node = (int64_t)i;
    }
    json_decref(json);
    return status;
}

static enum nx_status read_info(struct nx_neff_reader *r)
{
    json_t *json;
    enum nx_status status = nx_neff_json(r, "info.json", false, false, &json);
    struct nx_bytes metrics;

    r->neff->compiler_version = nx_neff_json_text(r, json, "tool_version");
    json_decref(json);
    r->neff->has_metrics = nx_neff_member(r, "metrics.json", &metrics);
    return status;
}

static enum nx_status read_graphs(struct nx_neff_reader *r)
{
    static const char member[] = "kelf-0.json";
    json_t *json;
    const json_t *graphs;
    enum nx_status status = nx_neff_json(r, member, false, true, &json);

    if (status != NX_OK)
        return status;
    r->neff->target = nx_neff_json_text(r, json, "target");
    graphs = json_object_get(json, "graphs");
    if (json_array_size(graphs) == 0 || json_array_size(graphs) > MAX_GRAPHS)
        status = nx_neff_json_fail(r, member, "\"graphs\" has %zu entries: expected 1 to %d", json_array_size(graphs),
                                   MAX_GRAPHS);
    else
        r->neff->graphs = nx_arena_alloc(&r->neff->arena, json_array_size(graphs), sizeof(*r->neff->graphs));
    for (size_t i = 0; i < json_array_size(graphs) && status == NX_OK; i++) {
        const char *name = nx_neff_json_text(r, json_array_get(graphs, i), "name");
        const char *definition = nx_neff_json_text(r, json_array_get(graphs, i), "definition");

        if (!name || !definition)
            status = nx_neff_json_fail(r, member, "graph %zu lacks its name or its definition", i);
        else
            status = nx_neff_read_graph(r, name, definition, &r->neff->graphs[r->neff->graph_count++]);
    }
    json_decref(json);
    return status;
}

enum nx_status nx_neff_parse(const char *path, struct nx_bytes bytes, struct nx_neff *neff, struct nx_error *error)
{
    struct nx_neff_reader reader = {.neff = neff, .path = path, .error = error};
    enum nx_status status;

    *neff = (struct nx_neff){.kernel_node = -1};
    neff->path = nx_arena_text(&neff->arena, path, strlen(path));
    status = nx_neff_read_header(&reader, bytes);
    if (status == NX_OK)
        status = nx_neff_read_archive(&reader, bytes);
    if (status == NX_OK)
        status = read_info(&reader);
    if (status == NX_OK)
        status = read_nodes(&reader);
    if (status == NX_OK)
        status = read_graphs(&reader);
    nx_neff_drop_archive(&reader);
    if (status != NX_OK)
        nx_neff_close(neff);
    return status;
}

enum nx_status nx_neff_open(const char *path, struct nx_neff *neff, struct nx_error *error)
{
    struct nx_file file;
    enum nx_status status = nx_file_open(path, &file, error);

    *neff = (struct nx_neff){0};
    if (status != NX_OK)
        return status;
    status = nx_neff_parse(path, file.bytes, neff, error);
    nx_file_close(&file);
    return status;
}

void nx_neff_close(struct nx_neff *neff)
{
    free(neff->members);
    nx_warnings_free(&neff->warnings);
    nx_arena_free(&neff->arena);
    *neff = (struct nx_neff){0};
}

const struct nx_neff_graph *nx_neff_find_graph(const struct nx_neff *neff, const char *name)
{
    for (size_t i = 0; i < neff->graph_count; i++)
        if (strcmp(neff->graphs[i].name, name) == 0)
            return &neff->graphs[i];
    return NULL;
}
