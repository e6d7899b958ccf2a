/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of functions, of the calling context tree, and of threads and processes, from the sums of
 * the stacks and their frames, or from the rows of a session. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "ingest/base/array.h"
#include "ingest/replay/call_tree.h"
#include "ingest/write/database.h"

/* Fills the empty tables function_total and call_node from the sums of stacks and functions in
 * `totals`. `call_sites` has the function id of each of the `stack_count` stacks' call sites, 0:
 * none. False with the database's status set, also if ids of functions or frames have gaps. */
bool writer_functions_put(struct writer_database *database, const uint32_t *call_sites,
                          size_t stack_count, const struct totals *totals);

/* Sums up the stacks that a function is on, for a row of function_total. */

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

/* Counts a stack for its call site's function, or for 0 if it has none. */
static inline void function_sum_add_stack(struct function_sum *sums, uint32_t function,
                                          const struct stack_usage *usage)
{
    if (function == 0)
        function_sum_add(&sums[0], usage);
    function_sum_add_self(&sums[function], usage);
}

/* A walk over the tree of stacks, each node after its parent. It keeps the nodes from the root to
 * the present one, each with the sums of the stacks inwards of it so far. All but `sums` is 0 at
 * first. */
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
    if (!ARRAY_RESERVE(path->nodes, path->count, path->capacity))
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

/* The same walk, which also makes the calling context tree. */
struct stack_tree {
    struct function_path path;
    struct call_tree_path calls;
    struct call_tree *tree;
};

/* Goes to the next node. `usage` and the frame `call_site` are of the stack that ends there. NULL:
 * none does. Returns false if memory is exhausted. */
static inline bool stack_tree_enter(struct stack_tree *to, const struct call_tree_step *step,
                                    uint32_t parent, const struct stack_usage *usage,
                                    uint32_t call_site)
{
    return function_path_enter(&to->path, step->node, parent, step->function, usage) &&
           call_tree_enter(&to->calls, step, parent) &&
           (!usage || usage->allocations == 0 ||
            call_tree_add_path(to->tree, &to->calls, call_site, usage));
}

static inline void stack_tree_leave(struct stack_tree *to)
{
    function_path_finish(&to->path);
    free(to->calls.steps);
}

/* Counts what each thread and process allocated and freed, while the rows of a session are replayed
 * in the order of time. Only the process heap counts.
 *
 * Order of calls: writer_thread_totals_read(), writer_thread_totals_allocate() and
 * writer_thread_totals_free() for each event, writer_thread_totals_put(), always
 * writer_thread_totals_close(). A zero-initialized struct is empty. */

struct writer_thread_totals {
    struct thread_total *threads;    /* by id, ascending */
    struct process_total *processes; /* the same */
    size_t thread_count, thread_capacity, process_count, process_capacity;
};

/* Reads the threads and processes of the session. Returns SQLite's code. */
int writer_thread_totals_read(struct writer_thread_totals *totals, sqlite3 *database);

/* Counts an allocation for `thread` and its process. Unknown threads have no sum. */
void writer_thread_totals_allocate(struct writer_thread_totals *totals, int64_t thread,
                                   uint64_t size, uint64_t ns);

/* Counts the end of a block of `thread`. `freed_by` is the thread that freed it, or 0. */
void writer_thread_totals_free(struct writer_thread_totals *totals, int64_t thread, uint64_t size,
                               int64_t freed_by);

/* Writes the sums of threads and, if `processes`, those of processes. Returns SQLite's code. */
int writer_thread_totals_put(const struct writer_thread_totals *totals, sqlite3 *database,
                             bool processes);
void writer_thread_totals_close(struct writer_thread_totals *totals);
