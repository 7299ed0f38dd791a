/*
 * framework_tree.h - the parts of framework names as a tree.
 *
 *     sg00                              the core: all that ran on it
 *       GPT2Model[model]                "GPT2Model[model]/Attention[attn]/aten.linear" is a path of three parts
 *         Attention[attn]
 *           aten.linear                 what was compiled from that operation
 *       Unknown                         compiled code of which no framework operation is known
 *
 * What the runtime added belongs to the core only.
 */
#ifndef NX_TABLES_FRAMEWORK_TREE_H
#define NX_TABLES_FRAMEWORK_TREE_H

#include "tables/rollup.h"

#define NX_FRAMEWORK_MAX_DEPTH 64 /* parts behind that many stay one, slashes and all */

struct nx_framework_node {
    const char *name; /* not NUL-terminated where it is a part of a longer name */
    size_t name_size;
    uint32_t parent; /* NX_NONE: a core */
    uint32_t depth;  /* 0: a core */
    uint32_t first_child, next_sibling, last_child; /* in the order in which the code has them; NX_NONE */
};

struct nx_framework_tree {
    struct nx_framework_node *nodes; /* cores first, in their order; a parent before its children */
    uint32_t count;
    uint32_t depth;          /* of the deepest */
    uint32_t *node_of_inst;  /* the deepest node of each instruction */
    /* Operations of each node, those below it included: ids[first_id[n] .. first_id[n + 1]) */
    size_t *first_id;
    uint64_t *ids;
    size_t capacity;
};

void nx_framework_tree_open(const struct nx_trace *trace, struct nx_framework_tree *tree);
void nx_framework_tree_close(struct nx_framework_tree *tree);
/* The ancestor at that depth (or the node itself), or NX_NONE if the node is not that deep. */
uint32_t nx_framework_ancestor(const struct nx_framework_tree *tree, uint32_t node, uint32_t depth);

#endif
