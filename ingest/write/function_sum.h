/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up the stacks that a function is on, for a row of function_total. */
#ifndef MPROF_INGEST_WRITE_FUNCTION_SUM_H
#define MPROF_INGEST_WRITE_FUNCTION_SUM_H

#include <stdlib.h>

#include "ingest/base/array.h"
#include "ingest/replay/stack_usage.h"

/* All bytes 0: no stack is counted yet. */
struct function_sum {
    struct stack_usage self; /* of stacks whose call site is in the function; without its peak */
    uint64_t bytes, count;   /* of stacks that the function is on */
    uint32_t open;           /* nodes of the path that have the function */
};

static inline void function_sum_add(struct function_sum *sum, const struct stack_usage *usage)
{
    sum->bytes += usage->bytes;
    sum->count += usage->allocations;
}

/* Counts a stack whose call site is in the function. */
static inline void function_sum_add_self(struct function_sum *sum, const struct stack_usage *usage)
{
    struct stack_usage *self = &sum->self;
    self->bytes += usage->bytes;
    self->allocations += usage->allocations;
    self->live_bytes += usage->live_bytes;
    self->live_count += usage->live_count;
    self->at_peak_bytes += usage->at_peak_bytes;
}

/*
 * A walk over the tree of stacks, each node after its parent. It keeps the nodes from the root to
 * the present one, each with the sums of the stacks inwards of it so far. All but `sums` is 0 at
 * first.
 */
struct function_path {
    struct function_sum *sums; /* by function */
    struct function_path_node {
        uint32_t node, function;
        uint64_t bytes, count;
    } * nodes;
    size_t count, capacity;
};

/* Leaves the innermost node. The outermost node of a recursive function has all stacks, once. */
static inline void function_path_leave(struct function_path *path)
{
    struct function_path_node *left = &path->nodes[--path->count];
    struct function_sum *sum = &path->sums[left->function];
    if (--sum->open == 0) {
        sum->bytes += left->bytes;
        sum->count += left->count;
    }
    if (path->count > 0) {
        left[-1].bytes += left->bytes;
        left[-1].count += left->count;
    }
}

/* Goes to the next node. `usage` is that of the stack that ends there, or NULL. Returns false if
 * memory is exhausted. */
static inline bool function_path_enter(struct function_path *path, uint32_t node, uint32_t parent,
                                       uint32_t function, const struct stack_usage *usage)
{
    while (path->count > 0 && path->nodes[path->count - 1].node != parent)
        function_path_leave(path);
    if (!array_reserve(&path->nodes, &path->capacity, path->count + 1, sizeof(*path->nodes)))
        return false;
    path->nodes[path->count++] = (struct function_path_node){
        node, function, usage ? usage->bytes : 0, usage ? usage->allocations : 0};
    path->sums[function].open++;
    return true;
}

static inline void function_path_finish(struct function_path *path)
{
    while (path->count > 0)
        function_path_leave(path);
    free(path->nodes);
}

#endif
