/* SPDX-License-Identifier: BSD-2-Clause */
/* The calling context tree by functions, with the sums of the stacks. A node is a function below
 * its callers, down to the functions of call sites: allocators and wrappers inside are left out.
 * Frames of one function below the same caller are one node.
 *
 * Order of calls: call_tree_stacks() adds all stacks of a trace. Or call_tree_enter() goes to each
 * node of stacks, call_tree_add_path() adds the stack that ends there, and call_tree_add_bare()
 * those without frames. Then call_tree_finish(), call_tree_each(), call_tree_free(). The functions
 * return false if memory is exhausted, those that go over all stacks or nodes also once
 * `interrupted` is set. A tree takes 75 to 90 bytes for each node. */
#pragma once

#include <signal.h>

#include "ingest/base/array.h"
#include "ingest/replay/stack_nodes.h"
#include "ingest/replay/totals.h"

#define CALL_TREE_ROOT 0 /* above the outermost functions; no node of its own */

enum call_tree_sum {
    CALL_TREE_BYTES,
    CALL_TREE_COUNT,
    CALL_TREE_LIVE_BYTES,
    CALL_TREE_LIVE_COUNT,
    CALL_TREE_AT_PEAK_BYTES,
    CALL_TREE_AT_PEAK_COUNT,
    CALL_TREE_SUMS
};

/* A node as a row of call_node. */
struct call_tree_row {
    uint32_t id, parent; /* ids from 1, level by level; parent 0: outermost */
    uint32_t function;   /* id of the session; 0: stacks without a call site */
    uint64_t total[CALL_TREE_SUMS], self[CALL_TREE_SUMS]; /* self: the call site is the node */
};

/* An all-zero tree is empty. */
struct call_tree {
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
    struct call_tree_node *nodes;             /* [0] is the root */
    size_t count, capacity;
    struct call_tree_sums *selves; /* of nodes that are call sites */
    size_t self_count, self_capacity;
    struct index_map by_place;
    /* After the finish: */
    struct call_tree_sums *totals;
    uint32_t *first_child; /* count + 1 places in `children` */
    uint32_t *children;
    uint32_t *order; /* nodes by their ids in the session */
    uint32_t *ids;
};

/* The nodes of stacks (stack_nodes.h) from the root to the present one. All zero is empty; the
 * caller frees `steps`. */
struct call_tree_path {
    struct call_tree_step {
        uint32_t node, frame, function; /* ids of the session */
        uint32_t call;                  /* its node of the tree; CALL_TREE_ROOT: not made yet */
    } * steps;
    size_t count, capacity;
};

/* Goes to a node of stacks, below its parent, to which the path went before. */
bool call_tree_enter(struct call_tree_path *path, const struct call_tree_step *step,
                     uint32_t parent);
/* Adds the stack that ends at the present node. `call_site` is its frame: nothing inward of it
 * counts. If the frame recurs, the innermost one is the call site. */
bool call_tree_add_path(struct call_tree *tree, struct call_tree_path *path, uint32_t call_site,
                        const struct stack_usage *usage);
/* Adds a stack that has no frames. */
bool call_tree_add_bare(struct call_tree *tree, const struct stack_usage *usage);
/* Adds all stacks of a trace, whose nodes are numbered. Their usage is final. */
bool call_tree_stacks(struct call_tree *tree, const struct stack_nodes *nodes,
                      const struct stacks *stacks, const struct stack_usages *usages);

/* Sums up the totals and numbers the nodes. */
bool call_tree_finish(struct call_tree *tree);
/* Calls `each` for all nodes by id. Returns false if `each` did. */
bool call_tree_each(const struct call_tree *tree,
                    bool (*each)(void *context, const struct call_tree_row *row), void *context);
void call_tree_free(struct call_tree *tree);
