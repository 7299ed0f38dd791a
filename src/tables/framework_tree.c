#include "tables/framework_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tables/level.h"

static uint32_t add_node(struct nx_framework_tree *tree, uint32_t parent, const char *name, size_t size)
{
    uint32_t number = tree->count++;
    struct nx_framework_node *node;

    tree->nodes = nx_grow(tree->nodes, number, &tree->capacity, sizeof(*tree->nodes));
    node = &tree->nodes[number];
    *node = (struct nx_framework_node){.name = name,
                                       .name_size = size,
                                       .parent = parent,
                                       .first_child = NX_NONE,
                                       .next_sibling = NX_NONE,
                                       .last_child = NX_NONE};
    if (parent == NX_NONE)
        return number;
    node->depth = tree->nodes[parent].depth + 1;
    if (node->depth > tree->depth)
        tree->depth = node->depth;
    if (tree->nodes[parent].last_child == NX_NONE)
        tree->nodes[parent].first_child = number;
    else
        tree->nodes[tree->nodes[parent].last_child].next_sibling = number;
    tree->nodes[parent].last_child = number;
    return number;
}

/* Nodes by what they are below and their name; number = node, as cores are put in too. */
struct known {
    struct nx_dict dict;
    struct nx_text key;
};

/* Of that parent, or of no other: what a node is found by. */
static uint32_t number_of(struct known *known, uint32_t parent, const char *name, size_t size)
{
    nx_text_clear(&known->key);
    nx_text_append(&known->key, (const char *)&parent, sizeof(parent));
    nx_text_append(&known->key, name, size);
    return nx_dict_add(&known->dict, known->key.data, known->key.size);
}

static uint32_t child_of(struct nx_framework_tree *tree, struct known *known, uint32_t parent, const char *name,
                         size_t size)
{
    uint32_t number = number_of(known, parent, name, size);

    return number < tree->count ? number : add_node(tree, parent, name, size);
}

static uint32_t node_of_path(struct nx_framework_tree *tree, struct known *known, uint32_t core, const char *path)
{
    uint32_t node = core;

    for (;;) {
        const char *slash = tree->nodes[node].depth + 1 < NX_FRAMEWORK_MAX_DEPTH ? strchr(path, '/') : NULL;

        node = child_of(tree, known, node, path, slash ? (size_t)(slash - path) : strlen(path));
        if (!slash)
            return node;
        path = slash + 1;
    }
}

static void add_cores(const struct nx_trace *trace, struct nx_framework_tree *tree, struct known *known)
{
    for (uint32_t c = 0; c < trace->core_count; c++) {
        const char *name = trace->cores[c].name;

        number_of(known, NX_NONE - 1 - c, name, strlen(name)); /* a parent that no node has: numbers stay in step */
        add_node(tree, NX_NONE, name, strlen(name));
    }
}

/* Every operation's id to its node and all above it: counted, then filled in. */
static void list_ids(struct nx_framework_tree *tree, const struct nx_origin *const *origins, const uint32_t *leaves,
                     uint32_t operations)
{
    size_t *next;

    tree->first_id = nx_zalloc((size_t)tree->count + 1, sizeof(*tree->first_id));
    for (uint32_t o = 0; o < operations; o++)
        for (uint32_t n = leaves[o]; n != NX_NONE; n = tree->nodes[n].parent)
            tree->first_id[n + 1]++;
    for (uint32_t n = 0; n < tree->count; n++)
        tree->first_id[n + 1] += tree->first_id[n];
    tree->ids = nx_alloc(tree->first_id[tree->count] * sizeof(*tree->ids));
    next = nx_alloc(((size_t)tree->count + 1) * sizeof(*next));
    memcpy(next, tree->first_id, ((size_t)tree->count + 1) * sizeof(*next));
    for (uint32_t o = 0; o < operations; o++)
        for (uint32_t n = leaves[o]; n != NX_NONE; n = tree->nodes[n].parent)
            tree->ids[next[n]++] = origins[o]->framework->id;
    free(next);
}

void nx_framework_tree_open(const struct nx_trace *trace, struct nx_framework_tree *tree)
{
    static const char unknown[] = "Unknown"; /* the closed tool's word */
    const struct nx_origin **origins;
    struct known known = {0};
    uint32_t operations, *leaves;

    *tree = (struct nx_framework_tree){0};
    tree->node_of_inst = nx_level_groups(trace, NX_LEVEL_FRAMEWORK, &origins, &operations);
    leaves = nx_alloc(operations * sizeof(*leaves));
    for (uint32_t o = 0; o < operations; o++)
        leaves[o] = NX_NONE;
    add_cores(trace, tree, &known);
    for (uint32_t i = 0; i < trace->inst_count; i++) {
        const struct nx_code_inst *inst = &trace->insts[i];
        uint32_t operation = tree->node_of_inst[i];

        if (operation == NX_NONE) {
            tree->node_of_inst[i] =
                inst->bir ? child_of(tree, &known, inst->core, unknown, sizeof(unknown) - 1) : inst->core;
            continue;
        }
        if (leaves[operation] == NX_NONE)
            leaves[operation] = node_of_path(tree, &known, inst->core, origins[operation]->framework->name);
        tree->node_of_inst[i] = leaves[operation];
    }
    list_ids(tree, origins, leaves, operations);
    nx_dict_free(&known.dict);
    nx_text_free(&known.key);
    free(origins);
    free(leaves);
}

void nx_framework_tree_close(struct nx_framework_tree *tree)
{
    free(tree->nodes);
    free(tree->node_of_inst);
    free(tree->first_id);
    free(tree->ids);
    *tree = (struct nx_framework_tree){0};
}

uint32_t nx_framework_ancestor(const struct nx_framework_tree *tree, uint32_t node, uint32_t depth)
{
    if (tree->nodes[node].depth < depth)
        return NX_NONE;
    while (tree->nodes[node].depth > depth)
        node = tree->nodes[node].parent;
    return node;
}
