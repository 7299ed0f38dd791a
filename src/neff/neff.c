#include "neff/neff.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "neff/reader.h"

#define MAX_GRAPHS 256
#define KELF "kelf-0.json"

enum nx_status nx_neff_member_fail(struct nx_neff_reader *r, const char *member, const char *format, ...)
{
    char text[512];
    va_list args;
    enum nx_status status;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    status = nx_fail(r->error, NX_BAD_INPUT, "%s: member %s: %s", r->path, member, text);
    for (char *p = r->error->text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    return status;
}

enum nx_status nx_neff_step(struct nx_neff_reader *r, enum nx_status status)
{
    if (status == NX_OK || !r->first)
        return status;
    if (r->first->status == NX_OK)
        *r->first = *r->error;
    else
        nx_warn(&r->neff->warnings, NX_WARN_INCONSISTENT, "%s", r->error->text);
    return NX_OK;
}

/* neff.json: the node that is the kernel, and not one of its inputs. */
static enum nx_status read_nodes(struct nx_neff_reader *r)
{
    static const char member[] = "neff.json";
    json_t *json, *nodes = NULL;
    enum nx_status status = nx_neff_json(r, member, false, false, &json);

    if (status == NX_OK && json)
        status = nx_neff_json_part(r, member, json, "nodes", JSON_ARRAY, false, &nodes);
    for (size_t i = 0; status == NX_OK && i < json_array_size(nodes) && r->neff->kernel_node < 0; i++) {
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

    r->neff->compiler_version = nx_neff_json_text(r, json, "tool_version");
    json_decref(json);
    return status;
}

/* metrics.json is a list of {"MetricName", "Value", "Unit"}. It only adds to what is known: never a failure.
 */
static void read_metrics(struct nx_neff_reader *r)
{
    static const char member[] = "metrics.json";
    struct nx_error why, *error = r->error;
    json_t *json;
    enum nx_status status;

    r->neff->has_metrics = nx_neff_has_member(r, member);
    r->error = &why; /* the caller's is untouched when all goes well */
    status = nx_neff_json(r, member, true, false, &json);
    r->error = error;
    if (status != NX_OK)
        nx_warn(&r->neff->warnings, NX_WARN_UNKNOWN, "%s", why.text);
    for (size_t i = 0; i < json_array_size(json); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(json, i), "MetricName"));

        if (name && strcmp(name, "HloMacCount") == 0)
            r->neff->has_hlo_stats = true;
    }
    json_decref(json);
}

static enum nx_status read_graph(struct nx_neff_reader *r, const json_t *json, size_t number)
{
    const char *name = nx_neff_json_text(r, json, "name");
    const char *definition = nx_neff_json_text(r, json, "definition");

    if (!name || !definition)
        return nx_neff_member_fail(r, KELF, "graph %zu lacks its name or its definition", number);
    if (nx_neff_find_graph(r->neff, name))
        return nx_neff_member_fail(r, KELF, "two graphs are named \"%s\"", name);
    return nx_neff_read_graph(r, name, definition, &r->neff->graphs[r->neff->graph_count++]);
}

static enum nx_status read_graphs(struct nx_neff_reader *r)
{
    json_t *json, *graphs = NULL;
    enum nx_status status = nx_neff_json(r, KELF, false, true, &json);

    if (status != NX_OK)
        return status;
    r->neff->target = nx_neff_json_text(r, json, "target");
    status = nx_neff_json_part(r, KELF, json, "graphs", JSON_ARRAY, true, &graphs);
    if (status == NX_OK && (json_array_size(graphs) == 0 || json_array_size(graphs) > MAX_GRAPHS))
        status = nx_neff_member_fail(r, KELF, "\"graphs\" has %zu entries: expected 1 to %d",
                                     json_array_size(graphs), MAX_GRAPHS);
    if (status == NX_OK)
        r->neff->graphs = nx_arena_alloc(&r->neff->arena, json_array_size(graphs), sizeof(*r->neff->graphs));
    for (size_t i = 0; i < json_array_size(graphs) && status == NX_OK; i++)
        status = nx_neff_step(r, read_graph(r, json_array_get(graphs, i), i));
    json_decref(json);
    return status;
}

static enum nx_status read_all(struct nx_neff_reader *r, struct nx_bytes bytes)
{
    enum nx_status status = nx_neff_step(r, nx_neff_read_header(r, bytes));

    if (status == NX_OK && !nx_neff_header_is_usable(&r->neff->header, bytes))
        return NX_OK; /* read as far as it goes */
    if (status == NX_OK)
        status = nx_neff_step(r, nx_neff_read_archive(r, bytes));
    nx_neff_find_levels(r);
    if (r->first && r->kept_count == 0)
        return status; /* to say of each part that it is missing would not help */
    if (status == NX_OK)
        status = nx_neff_step(r, read_info(r));
    if (status == NX_OK)
        read_metrics(r);
    if (status == NX_OK)
        status = nx_neff_step(r, read_nodes(r));
    if (status == NX_OK)
        status = nx_neff_step(r, read_graphs(r));
    if (status == NX_OK)
        nx_neff_read_kernel_debug(r);
    if (r->unknown_fields)
        nx_warn(&r->neff->warnings, NX_WARN_UNKNOWN,
                "%" PRIu64 " fields of the debug information are not known to this reader (the first: field "
                "%u of %s in %s)",
                r->unknown_fields, r->unknown_number, r->unknown_part, r->unknown_member);
    return status;
}

static struct nx_neff_reader new_reader(struct nx_neff *neff, const char *path, struct nx_error *error)
{
    *neff = (struct nx_neff){.kernel_node = -1};
    neff->path = nx_arena_text(&neff->arena, path, strlen(path));
    return (struct nx_neff_reader){.neff = neff,
                                   .path = path,
                                   .error = error,
                                   .max_unpacked = NX_NEFF_MAX_UNPACKED,
                                   .max_work = NX_NEFF_MAX_WORK};
}

enum nx_status nx_neff_parse(const char *path, struct nx_bytes bytes, struct nx_neff *neff,
                             struct nx_error *error)
{
    struct nx_neff_reader reader = new_reader(neff, path, error);
    enum nx_status status = read_all(&reader, bytes);
    nx_neff_drop_archive(&reader);
    if (status != NX_OK)
        nx_neff_close(neff);
    return status;
}

enum nx_status nx_neff_parse_partly(const char *path, struct nx_bytes bytes, struct nx_neff *neff,
                                    struct nx_error *error)
{
    struct nx_error first = {.status = NX_OK}, latest;
    struct nx_neff_reader reader = new_reader(neff, path, &latest);

    reader.first = &first;
    read_all(&reader, bytes);
    nx_neff_drop_archive(&reader);
    if (first.status != NX_OK)
        *error = first;
    return first.status;
}

typedef enum nx_status parser(const char *path, struct nx_bytes bytes, struct nx_neff *neff,
                              struct nx_error *error);

static enum nx_status open_by(parser *parse, const char *path, struct nx_neff *neff, struct nx_error *error)
{
    struct nx_file file;
    enum nx_status status = nx_file_open(path, &file, error);

    *neff = (struct nx_neff){0};
    if (status != NX_OK)
        return status;
    status = parse(path, file.bytes, neff, error);
    nx_file_close(&file);
    return status;
}

enum nx_status nx_neff_open(const char *path, struct nx_neff *neff, struct nx_error *error)
{
    return open_by(nx_neff_parse, path, neff, error);
}

enum nx_status nx_neff_open_partly(const char *path, struct nx_neff *neff, struct nx_error *error)
{
    return open_by(nx_neff_parse_partly, path, neff, error);
}

void nx_neff_close(struct nx_neff *neff)
{
    free(neff->members);
    free(neff->stack.file_names);
    free(neff->stack.function_names);
    free(neff->stack.locations);
    free(neff->stack.frames);
    free(neff->kernel.insts);
    free(neff->kernel.frames);
    free(neff->kernel.loops);
    free(neff->kernel.by_name);
    nx_dict_free(&neff->kernel.texts);
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
