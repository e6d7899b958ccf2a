/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calling context tree by functions, with the sums of the stacks. A node is a function below
 * its callers, down to the functions of call sites: allocators and wrappers inside are left out.
 * Frames of one function below the same caller are one node.
 *
 * Order of calls: call_tree_stacks() adds all stacks, or for each stack that allocated
 * call_tree_child() from CALL_TREE_ROOT inwards and call_tree_add(). Then call_tree_finish(),
 * call_tree_each(), call_tree_free(). The functions return false if memory is exhausted, those that
 * go over all stacks or nodes also once `interrupted` is set. A tree takes 75 to 90 bytes for each
 * node.
 */
#ifndef MPROF_INGEST_REPLAY_CALL_TREE_H
#define MPROF_INGEST_REPLAY_CALL_TREE_H

#include <signal.h>

#include "ingest/base/array.h"
#include "ingest/replay/stack_usage.h"

struct stacks;

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

/* Stores the node of a function below another one, which is made if it is new. */
bool call_tree_child(struct call_tree *tree, uint32_t parent, uint32_t function, uint32_t *node);
/* Adds the sums of a stack, whose call site is the node. */
bool call_tree_add(struct call_tree *tree, uint32_t node, const struct stack_usage *usage);
/* Adds all stacks of a trace. Their usage is final. */
bool call_tree_stacks(struct call_tree *tree, const struct stacks *stacks,
                      const struct stack_usages *usages);

/* Sums up the totals and numbers the nodes. */
bool call_tree_finish(struct call_tree *tree);
/* Calls `each` for all nodes by id. Returns false if `each` did. */
bool call_tree_each(const struct call_tree *tree,
                    bool (*each)(void *context, const struct call_tree_row *row), void *context);
void call_tree_free(struct call_tree *tree);

#endif
