/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of all stacks as nodes of one tree, which the tables stack_node and stack_run hold. A
 * node is a frame, inlined ones included, with its callers, so frames that stacks share are stored
 * once.
 *
 * The ids make a stack readable in a few steps. From each node the walk inwards goes on to the
 * child with most stacks, and such a run of nodes has consecutive ids, the innermost the lowest
 * one. Each step to another run at least halves the stacks that are left, so a stack of any depth
 * has at most log2(stacks) + 1 runs. Runs are numbered in preorder: all nodes inwards of a node
 * have the ids below it.
 *
 * Order of calls: stack_nodes_number(), the rest, stack_nodes_free(). All zero is empty. The
 * functions return false if memory is exhausted, or if the function that they call did. */
#pragma once

#include "ingest/replay/stacks.h"

struct stack_nodes {
    /* By context, 0: it has no number yet. */
    uint32_t *node; /* its innermost frame's id, or if it has no frames, the next outer one's */
    uint32_t *top;  /* place + 1 of the outermost context of its run */
    size_t room;
    uint32_t lowest; /* the ids from here on are in use */
    /* The innermost context of each run that the last call has numbered, outermost runs first. */
    uint32_t *runs;
    size_t run_count;
};

/* Rows of the tables. Ids of frames count from 1. */
struct stack_node_row {
    uint32_t id, parent, frame;
    uint32_t stack; /* that ends here; 0: none */
};

struct stack_run_row {
    uint32_t stack, depth, node, frames;
};

typedef bool stack_node_function(void *context, const struct stack_node_row *row);
typedef bool stack_run_function(void *context, const struct stack_run_row *row);

/* Numbers the frames of the stacks from `first` on, with the ids from 1 on. When more stacks come
 * later: the ids continue downwards from the lowest one, if `more` is true at every call. Then only
 * the runs of one call are the fewest. */
bool stack_nodes_number(struct stack_nodes *nodes, const struct stacks *stacks, size_t first,
                        bool more);
/* Calls `each` for the nodes that the last call has numbered, by ascending id. */
bool stack_nodes_each(const struct stack_nodes *nodes, const struct stacks *stacks,
                      stack_node_function *each, void *context);
/* Does the same by descending id: each node after its parent, then all inwards of it. */
bool stack_nodes_inwards(const struct stack_nodes *nodes, const struct stacks *stacks,
                         stack_node_function *each, void *context);
/* Calls `each` for the runs of the stacks from `first` on, by stack and from the innermost on. */
bool stack_nodes_runs(const struct stack_nodes *nodes, const struct stacks *stacks, size_t first,
                      stack_run_function *each, void *context);
/* Returns the node of a stack's innermost frame, 0 if it has no frames. */
uint32_t stack_nodes_of(const struct stack_nodes *nodes, const struct stack_row *row);
void stack_nodes_free(struct stack_nodes *nodes);
