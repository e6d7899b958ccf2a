/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums along the tree of stacks: one step for each node, however deep the stacks are. */
#ifndef MPROF_SESSION_QUERY_TREE_SUMS_H
#define MPROF_SESSION_QUERY_TREE_SUMS_H

#include "session/data/session_state.h"
#include "session/query/selection_state.h"

/*
 * Functions that are called for the nodes. `enter` comes before all nodes inwards of the node,
 * `leave` after them, with the sums of the stacks that go through it. To count a stack once, where
 * a function or the like occurs several times on it: count the nodes that were entered and not left
 * yet; when that becomes 0 again, the node that is left has all its stacks.
 */
struct tree_visitor {
    void (*enter)(void *context, uint32_t node);
    void (*leave)(void *context, uint32_t node, const struct stack_sum *sum);
    void *context;
};

/*
 * Visits all nodes. `sums` are by stack. Call stacks_frames() before. Returns false with `error`
 * set: cancelled, or no memory.
 */
bool tree_sums_visit(const struct session *session, const struct stack_sum *sums,
                     const struct tree_visitor *visitor, struct session_error *error);

#endif
