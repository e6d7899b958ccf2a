/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling context tree of a trace, which gives the ids of stacks their meaning.
 *
 * Order of calls: context_tree_add() for every NODE record in any order, context_tree_resolve()
 * once, then the lookups. A node's place is its index from 0. Two definitions of the same frame
 * under the same parent are one context and have one place. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/base/array.h"

#define CONTEXT_ROOT UINT32_MAX       /* parent of an outermost frame */
#define CONTEXT_LOST (UINT32_MAX - 1) /* not defined in the readable parts of the trace */

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
    size_t count, capacity, resolved; /* resolved: this many nodes, the first ones, are linked */
    uint32_t *near; /* place + 1 by id, 0: none. For ids that are not far above the count */
    size_t near_capacity;
    struct index_map far; /* of the other ids */
    uint32_t *same_as;    /* place of the first node that is the same context */
};

/* Adds a node. Ignores a second definition of an id. False if memory is exhausted. */
bool context_tree_add(struct context_tree *tree, uint32_t id, uint32_t parent, unsigned frame,
                      uint32_t module, uint64_t value);

/* Links parents, folds equal contexts and cuts cycles (as lost). False if memory is exhausted. */
bool context_tree_resolve(struct context_tree *tree);

/* Does the same for a tree that still grows: links those of the first `count` nodes that are not
 * linked yet. Call it again when there are more. context_tree_find() takes later nodes for lost. */
bool context_tree_resolve_first(struct context_tree *tree, size_t count);

/* Returns the place of the node `id`, or CONTEXT_LOST if it is not defined. */
uint32_t context_tree_find(const struct context_tree *tree, uint32_t id);

void context_tree_free(struct context_tree *tree);
