/* A graph (physical core) of the NEFF: def.json names its parts (docs/format-neff.md, "def.json"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/queue_name.h"
#include "base/text.h"
#include "neff/reader.h"

/* Keys of each engine in def.json. */
static const char *const engine_keys[NX_ENGINE_COUNT] = {"pe", "act", "pool", "dve", "sp"};

#define MAX_SEMAPHORES 256 /* a core's */
#define MAX_RINGS 65536    /* of a queue; 16 in all that were seen */

struct graph_reader {
    struct nx_neff_reader *r;
    struct nx_neff_graph *graph;
    const char *definition; /* member name of def.json */
    const char *base;       /* its folder, with the '/' */
    const json_t *json;
};

static const char *member_name(const struct graph_reader *g, const char *file)
{
    return nx_arena_printf(&g->r->neff->arena, "%s%s", g->base, file);
}

/* "[128 512]"; NULL if it is not a list of integers */
static const char *shape_text(struct nx_neff_reader *r, const json_t *shape)
{
    struct nx_text text = {0};
    const char *copy;

    if (!json_is_array(shape))
        return NULL;
    for (size_t i = 0; i < json_array_size(shape); i++)
        if (!json_is_integer(json_array_get(shape, i)))
            return NULL;
    nx_text_puts(&text, "[");
    for (size_t i = 0; i < json_array_size(shape); i++)
        nx_text_printf(&text, "%s%lld", i ? " " : "",
                       (long long)json_integer_value(json_array_get(shape, i)));
    nx_text_puts(&text, "]");
    copy = nx_arena_text(&r->neff->arena, text.data, text.size);
    nx_text_free(&text);
    return copy;
}

/* A variable's entry in tensor_map.json: by its name, or by the stem of its file ("value_STEM.npy"). */
static const json_t *tensor_of(const json_t *tensor_map, const char *name, const json_t *var)
{
    static const char prefix[] = "value_", suffix[] = ".npy";
    const json_t *found = json_object_get(tensor_map, name);
    const char *file = json_string_value(json_object_get(var, "file_name"));
    size_t size = file ? strlen(file) : 0;
    char stem[256];

    if (found || size < sizeof(prefix) + sizeof(suffix) - 2 || size >= sizeof(stem) ||
        strncmp(file, prefix, sizeof(prefix) - 1) != 0 ||
        strcmp(file + size - (sizeof(suffix) - 1), suffix) != 0)
        return found;
    snprintf(stem, sizeof(stem), "%.*s", (int)(size - sizeof(prefix) - sizeof(suffix) + 2),
             file + sizeof(prefix) - 1);
    return json_object_get(tensor_map, stem);
}

static enum nx_var_kind var_kind(struct nx_neff_reader *r, const char *type)
{
    static const struct {
        const char *type;
        enum nx_var_kind kind;
    } kinds[] = {
        {"input", NX_VAR_INPUT},         {"output", NX_VAR_OUTPUT},
        {"file", NX_VAR_WEIGHT},         {"state-buffer", NX_VAR_STATE_BUFFER},
        {"dge-table", NX_VAR_DGE_TABLE}, {"virtual", NX_VAR_OTHER},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].type, type) == 0)
            return kinds[i].kind;
    nx_warn(&r->neff->warnings, NX_WARN_UNKNOWN, "variables of type \"%s\" in the NEFF are not known", type);
    return NX_VAR_OTHER;
}

/* An entry that is no integer becomes -1, which no variable has. */
static void read_dge_table(struct nx_neff_reader *r, const json_t *list, struct nx_neff_var *var)
{
    size_t count = json_array_size(list);
    int64_t *ids = nx_arena_alloc(&r->neff->arena, count, sizeof(*ids));

    for (size_t i = 0; i < count; i++)
        ids[i] = json_is_integer(json_array_get(list, i))
                     ? (int64_t)json_integer_value(json_array_get(list, i))
                     : -1;
    var->dge_list = ids;
    var->dge_count = count;
}

static int vars_by_name(const void *left, const void *right)
{
    return strcmp(((const struct nx_neff_var *)left)->name, ((const struct nx_neff_var *)right)->name);
}

static enum nx_status read_vars(struct graph_reader *g)
{
    struct nx_neff_reader *r = g->r;
    json_t *vars, *tensor_map = NULL, *value;
    enum nx_status status = nx_neff_json_part(r, g->definition, g->json, "var", JSON_OBJECT, true, &vars);
    const char *name;

    if (status == NX_OK)
        status =
            nx_neff_step(r, nx_neff_json(r, member_name(g, "tensor_map.json"), false, false, &tensor_map));
    if (status != NX_OK)
        return status;
    if (!tensor_map)
        nx_warn(&r->neff->warnings, NX_WARN_MISSING,
                "%stensor_map.json is not in the NEFF: no shapes of variables", g->base);
    g->graph->vars = nx_arena_alloc(&r->neff->arena, json_object_size(vars), sizeof(*g->graph->vars));
    json_object_foreach(vars, name, value)
    {
        struct nx_neff_var *var = &g->graph->vars[g->graph->var_count++];
        const json_t *tensor = tensor_of(tensor_map, name, value);

        var->name = nx_arena_text(&r->neff->arena, name, strlen(name));
        var->type = nx_neff_json_text(r, value, "type");
        if (!var->type)
            var->type = "";
        var->kind = var_kind(r, var->type);
        var->size = nx_neff_json_count(r, g->definition, value, "size", INT64_MAX);
        var->var_id = nx_neff_json_integer(value, "var_id", -1);
        var->shape = shape_text(r, json_object_get(tensor, "sim_shape"));
        var->format = nx_neff_json_text(r, tensor, "sim_format");
        var->dtype = nx_neff_json_text(r, tensor, "dtype");
        if (var->kind == NX_VAR_DGE_TABLE)
            read_dge_table(r, json_object_get(value, "list"), var);
    }
    json_decref(tensor_map);
    qsort(g->graph->vars, g->graph->var_count, sizeof(*g->graph->vars), vars_by_name);
    return NX_OK;
}

static int queues_by_name(const void *left, const void *right)
{
    return strcmp(((const struct nx_neff_queue *)left)->name, ((const struct nx_neff_queue *)right)->name);
}

static enum nx_status read_queues(struct graph_reader *g)
{
    struct nx_arena *arena = &g->r->neff->arena;
    json_t *queues, *value;
    const char *name;
    enum nx_status status =
        nx_neff_json_part(g->r, g->definition, g->json, "dma_queue", JSON_OBJECT, false, &queues);

    if (status != NX_OK)
        return status;
    g->graph->queues = nx_arena_alloc(arena, json_object_size(queues), sizeof(*g->graph->queues));
    json_object_foreach(queues, name, value)
    {
        struct nx_neff_queue *queue = &g->graph->queues[g->graph->queue_count++];
        const json_t *set = json_object_get(value, "semaphore_set");
        size_t count = json_array_size(set);
        uint32_t *semaphores = nx_arena_alloc(arena, count, sizeof(*semaphores));
        char display[256];

        nx_display_queue(name, display, sizeof(display));
        queue->name = nx_arena_text(arena, name, strlen(name));
        queue->display_name = nx_arena_text(arena, display, strlen(display));
        queue->type = nx_neff_json_text(g->r, value, "type");
        if (!queue->type)
            queue->type = "";
        queue->owner = nx_neff_json_text(g->r, value, "owner");
        queue->num_rings = (uint32_t)nx_neff_json_count(g->r, g->definition, value, "num_queues", MAX_RINGS);
        for (size_t i = 0; i < count; i++) {
            const json_t *semaphore = json_array_get(set, i);

            if (json_is_integer(semaphore) && json_integer_value(semaphore) >= 0 &&
                json_integer_value(semaphore) < MAX_SEMAPHORES)
                semaphores[queue->semaphore_count++] = (uint32_t)json_integer_value(semaphore);
            else
                nx_warn(&g->r->neff->warnings, NX_WARN_INCONSISTENT,
                        "%s: a queue has a semaphore that is no number from 0 to 255", g->definition);
        }
        queue->semaphores = semaphores;
    }
    qsort(g->graph->queues, g->graph->queue_count, sizeof(*g->graph->queues), queues_by_name);
    return NX_OK;
}

/* The first four behind the runtime's own belong to engines; then each queue names its set. */
static void name_semaphores(struct graph_reader *g)
{
    static const char *const engines[] = {"GpSimd", "Scalar", "Tensor", "Vector"};
    struct nx_neff_graph *graph = g->graph;

    graph->runtime_semaphore_count = nx_neff_json_integer(g->json, "runtime_semaphore_count", -1);
    if (graph->runtime_semaphore_count > 0 && graph->runtime_semaphore_count <= 252)
        for (int i = 0; i < 4; i++)
            graph->semaphore_names[graph->runtime_semaphore_count + i] = engines[i];
    for (size_t q = 0; q < graph->queue_count; q++)
        for (size_t i = 0; i < graph->queues[q].semaphore_count; i++)
            graph->semaphore_names[graph->queues[q].semaphores[i]] = graph->queues[q].display_name;
}

/* Appends the members that def.json lists under KEY (a list of file names). */
static size_t list_members(struct graph_reader *g, const char *key, const char **members, size_t limit)
{
    const json_t *files = json_object_get(g->json, key);
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(files) && count < limit; i++) {
        const char *file = json_string_value(json_array_get(files, i));

        if (file)
            members[count++] = member_name(g, file);
    }
    if (json_array_size(files) > limit)
        nx_warn(&g->r->neff->warnings, NX_WARN_UNKNOWN, "%s: \"%s\" names %zu files: only %zu were read",
                g->definition, key, json_array_size(files), limit);
    return count;
}

#define MAX_DEBUG_FILES 64 /* a key; each engine has had one */

static enum nx_status read_code(struct graph_reader *g, enum nx_engine engine)
{
    struct nx_neff_engine *out = &g->graph->engines[engine];
    const char *file;
    char key[32];
    struct nx_bytes code;
    enum nx_status status;

    snprintf(key, sizeof(key), "%s_instr", engine_keys[engine]);
    file = json_string_value(json_object_get(g->json, key));
    if (!file)
        return nx_neff_member_fail(g->r, g->definition,
                                   "\"%s\" is missing: which file holds the engine's code", key);
    status = nx_neff_need_member(g->r, member_name(g, file), &code);
    if (status == NX_OK)
        status = nx_neff_work(g->r, file, code.size);
    if (status != NX_OK)
        return status;
    out->code.data = nx_arena_alloc(&g->r->neff->arena, code.size, 1);
    out->code.size = code.size;
    if (code.size)
        memcpy((uint8_t *)(uintptr_t)out->code.data, code.data, code.size);
    if (code.size % 64)
        nx_warn(&g->r->neff->warnings, NX_WARN_INCONSISTENT, "%s%s is not a whole number of instructions",
                g->base, file);
    return NX_OK;
}

static enum nx_status read_engine_json(struct graph_reader *g, enum nx_engine engine,
                                       struct nx_block_list *blocks)
{
    const char *file = json_string_value(json_object_get(g->json, engine_keys[engine]));

    if (file)
        return nx_neff_read_blocks(g->r, member_name(g, file), engine, g->graph, blocks);
    nx_warn(&g->r->neff->warnings, NX_WARN_MISSING, "%s names no \"%s\" file: no static DMA of that engine",
            g->definition, engine_keys[engine]);
    return NX_OK;
}

static enum nx_status read_assembly(struct graph_reader *g, enum nx_engine engine)
{
    const char *members[MAX_DEBUG_FILES];
    char key[32];

    snprintf(key, sizeof(key), "%s_asm_dbg", engine_keys[engine]);
    return nx_neff_read_debug(g->r, members, list_members(g, key, members, MAX_DEBUG_FILES),
                              &g->graph->engines[engine].assembly);
}

static enum nx_status read_engine(struct graph_reader *g, enum nx_engine engine, struct nx_block_list *blocks)
{
    enum nx_status status = nx_neff_step(g->r, read_code(g, engine));

    if (status == NX_OK)
        status = nx_neff_step(g->r, read_engine_json(g, engine, blocks));
    return status == NX_OK ? nx_neff_step(g->r, read_assembly(g, engine)) : status;
}

static int blocks_by_id(const void *left, const void *right)
{
    const struct nx_neff_block *a = left, *b = right;

    if (a->queue != b->queue)
        return a->queue < b->queue ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static enum nx_status read_engines(struct graph_reader *g)
{
    struct nx_block_list blocks = {0};
    enum nx_status status = NX_OK;

    for (int e = 0; e < NX_ENGINE_COUNT && status == NX_OK; e++)
        status = read_engine(g, (enum nx_engine)e, &blocks);
    if (status == NX_OK && blocks.count) {
        qsort(blocks.list, blocks.count, sizeof(*blocks.list), blocks_by_id);
        g->graph->blocks = nx_arena_alloc(&g->r->neff->arena, blocks.count, sizeof(*blocks.list));
        memcpy(g->graph->blocks, blocks.list, blocks.count * sizeof(*blocks.list));
        g->graph->block_count = blocks.count;
        for (size_t i = 1; i < blocks.count; i++)
            if (blocks_by_id(&g->graph->blocks[i - 1], &g->graph->blocks[i]) == 0)
                nx_warn(&g->r->neff->warnings, NX_WARN_INCONSISTENT,
                        "%s: two DMA blocks of a queue have one number", g->graph->name);
    }
    free(blocks.list);
    return status;
}

static enum nx_status read_hierarchy(struct graph_reader *g)
{
    const char *members[NX_ENGINE_COUNT * MAX_DEBUG_FILES];
    char name[64];
    size_t count = 0;
    int number;
    enum nx_status status;

    for (int e = 0; e < NX_ENGINE_COUNT; e++) {
        snprintf(name, sizeof(name), "%s_dbg", engine_keys[e]);
        count += list_members(g, name, members + count, MAX_DEBUG_FILES);
    }
    status = nx_neff_step(g->r, nx_neff_read_debug(g->r, members, count, &g->graph->bir));
    if (status == NX_OK) {
        count = list_members(g, "dma_dbg", members, MAX_DEBUG_FILES);
        status = nx_neff_step(g->r, nx_neff_read_debug(g->r, members, count, &g->graph->dma_bir));
    }
    if (status != NX_OK)
        return status;
    if (sscanf(g->graph->name, "sg%9d", &number) != 1)
        number = -1;
    return nx_neff_read_levels(g->r, number, g->graph);
}

enum nx_status nx_neff_read_graph(struct nx_neff_reader *r, const char *name, const char *definition,
                                  struct nx_neff_graph *graph)
{
    struct graph_reader g = {.r = r, .graph = graph, .definition = definition};
    const char *slash = strrchr(definition, '/');
    json_t *json;
    enum nx_status status = nx_neff_json(r, definition, false, true, &json);

    graph->name = name;
    graph->runtime_semaphore_count = -1;
    graph->cc_streams = -1;
    if (status != NX_OK)
        return status;
    g.json = json;
    graph->cc_streams = nx_neff_json_integer(json_object_get(json, "cc_streams"), "num_streams", -1);
    g.base = nx_arena_text(&r->neff->arena, definition, slash ? (size_t)(slash - definition) + 1 : 0);
    status = nx_neff_step(r, read_vars(&g));
    if (status == NX_OK)
        status = nx_neff_step(r, read_queues(&g));
    if (status == NX_OK) {
        name_semaphores(&g);
        status = read_engines(&g);
    }
    if (status == NX_OK)
        status = read_hierarchy(&g);
    json_decref(json);
    return status;
}
