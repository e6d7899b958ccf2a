/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calling context tree of a trace: what the ids of stacks mean.
 *
 * Order of calls: context_tree_add() for every NODE record in any order, context_tree_resolve()
 * once, then the lookups. A node is named by its place, an index from 0; two definitions of the
 * same frame under the same parent are one context and have one place.
 */
#ifndef MPROF_INGEST_CONTEXT_TREE_H
#define MPROF_INGEST_CONTEXT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/array.h"

#define CONTEXT_ROOT UINT32_MAX       /* parent of an outermost frame */
#define CONTEXT_LOST (UINT32_MAX - 1) /* not defined in what could be read of the trace */

struct context_node {
    uint64_t value; /* as in the NODE record */
    uint32_t id;
    uint32_t parent; /* place; CONTEXT_ROOT, CONTEXT_LOST */
    uint32_t module;
    uint8_t frame; /* enum trace_node_frame */
    uint8_t state; /* of context_tree_resolve() */
};

struct context_tree {
    struct context_node *nodes;
    size_t count, capacity, resolved; /* resolved: the first so many nodes are linked */
    struct index_map by_id;
    uint32_t *same_as;  /* place of the first node that is the same context */
    uint64_t redefined; /* ids that were defined again, otherwise than before */
};

/* False where memory is exhausted. A second definition of an id is counted and ignored. */
bool context_tree_add(struct context_tree *tree, uint32_t id, uint32_t parent, unsigned frame,
                      uint32_t module, uint64_t value);

/* Links parents, folds equal contexts, cuts cycles (as lost). False: memory is exhausted. */
bool context_tree_resolve(struct context_tree *tree);

/*
 * The same of a tree that still grows: the nodes that were added first, `count` of them, and are
 * not linked yet; called again when there are more. Nodes beyond are lost to context_tree_find().
 */
bool context_tree_resolve_first(struct context_tree *tree, size_t count);

/* Place of the node `id`, CONTEXT_LOST where it was not defined. */
uint32_t context_tree_find(const struct context_tree *tree, uint32_t id);

void context_tree_free(struct context_tree *tree);

#endif
