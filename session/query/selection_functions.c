/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums up functions from the sums by stack (stack_sums.c). Self values follow from the call site of
 * each stack, totals from one pass over the frames: a function counts once in a stack, even if it
 * recurs.
 */
#include <stdlib.h>
#include <string.h>

#include "session/data/error.h"
#include "session/data/session_state.h"
#include "session/query/selection_state.h"
#include "session/query/tree_sums.h"
#include "session/scan/scan.h"
#include "session/summary/summary.h"

static void add_self(const struct stacks *stacks, const struct stack_sum *sums,
                     struct session_function_row *rows)
{
    for (uint32_t stack = 0; stack < stacks->count; stack++) {
        struct session_function_row *row = &rows[stacks->function[stack]];
        row->self_bytes += sums[stack].bytes;
        row->self_count += sums[stack].count;
        row->live_bytes += sums[stack].live_bytes;
        row->live_count += sums[stack].live_count;
        if (stacks->runtime[stack]) {
            row->kept_bytes += sums[stack].live_bytes;
            row->kept_count += sums[stack].live_count;
        }
        row->at_peak_bytes += sums[stack].at_peak_bytes;
        row->short_lived += sums[stack].short_lived;
    }
}

struct totalling {
    const struct stacks *stacks;
    struct session_function_row *rows;
    uint32_t *open; /* by function: nodes that were entered and not left yet */
};

static void enter_function(void *context, uint32_t node)
{
    const struct totalling *totalling = context;
    totalling->open[stacks_function(totalling->stacks, node)]++;
}

static void leave_function(void *context, uint32_t node, const struct stack_sum *sum)
{
    const struct totalling *totalling = context;
    const uint32_t function = stacks_function(totalling->stacks, node);
    if (--totalling->open[function] == 0) {
        totalling->rows[function].total_bytes += sum->bytes;
        totalling->rows[function].total_count += sum->count;
    }
}

static bool add_totals(const struct session *session, const struct stack_sum *sums,
                       struct session_function_row *rows, struct session_error *error)
{
    const struct stacks *stacks = &session->stacks;
    struct totalling totalling = {stacks, rows,
                                  calloc(session->names.function_count, sizeof(uint32_t))};
    const struct tree_visitor visitor = {enter_function, leave_function, &totalling};
    if (!totalling.open)
        return session_fail_memory(error, "the functions");
    const bool good = tree_sums_visit(session, sums, &visitor, error);
    free(totalling.open);
    /* Without frames the allocation still belongs to its call site, even if that is "none". */
    for (uint32_t stack = 0; stack < stacks->count; stack++) {
        if (stacks_node(stacks, stack) == 0) {
            rows[stacks->function[stack]].total_bytes += sums[stack].bytes;
            rows[stacks->function[stack]].total_count += sums[stack].count;
        }
    }
    return good;
}

/* Sums up the functions by the rows, by function id. */
static bool sum_up(struct selection *selection, struct session_function_row *all,
                   struct session_error *error)
{
    struct stacks *stacks = &selection->session->stacks;
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    if (!sums || !stacks_frames(stacks, error))
        return false;
    add_self(stacks, sums, all);
    return add_totals(selection->session, sums, all, error);
}

bool selection_functions(struct selection *selection, struct session_function_row **rows,
                         size_t *count, struct session_error *error)
{
    struct session *session = selection->session;
    uint32_t functions = session->names.function_count;
    struct session_function_row *all = calloc(functions, sizeof(*all));
    if (!all)
        return session_fail_memory(error, "the functions");
    const bool good = selection->everything && summary_answers(session)
                          ? summary_functions(session, all, functions, error)
                          : sum_up(selection, all, error);
    if (!good) {
        free(all);
        return false;
    }
    size_t used = 0;
    for (uint32_t id = 0; id < functions; id++) {
        if (all[id].total_count == 0)
            continue;
        struct session_function_row row = all[id];
        row.function = id;
        all[used++] = row;
    }
    *rows = all;
    *count = used;
    return true;
}

/* ---- callers and callees ---- */

/* Sums by the function at the other end of the edge. Each function counts once in a stack. */
struct edges {
    struct session_edge *edges; /* by function, then packed */
    uint32_t *open;             /* by function: edges that were entered and not left yet */
    size_t count;
};

static bool edges_open(struct edges *edges, uint32_t functions)
{
    edges->edges = calloc(functions, sizeof(*edges->edges));
    edges->open = calloc(functions, sizeof(*edges->open));
    return edges->edges && edges->open;
}

static void edges_leave(struct edges *edges, uint32_t function, const struct stack_sum *sum)
{
    if (--edges->open[function] == 0) {
        edges->edges[function].bytes += sum->bytes;
        edges->edges[function].count += sum->count;
    }
}

static int compare_edges(const void *left, const void *right)
{
    const struct session_edge *a = left;
    const struct session_edge *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static void edges_pack(struct edges *edges, uint32_t functions)
{
    for (uint32_t id = 0; id < functions; id++) {
        if (edges->edges[id].count == 0)
            continue;
        struct session_edge edge = edges->edges[id];
        edge.function = id;
        edges->edges[edges->count++] = edge;
    }
    qsort(edges->edges, edges->count, sizeof(*edges->edges), compare_edges);
}

struct neighbours {
    const struct stacks *stacks;
    uint32_t function;
    struct edges inward, outward; /* from the callers, to the callees */
};

static void enter_edge(void *context, uint32_t node)
{
    struct neighbours *all = context;
    const uint32_t outer = stacks_caller(all->stacks, node);
    if (outer != 0 && stacks_function(all->stacks, node) == all->function)
        all->inward.open[stacks_function(all->stacks, outer)]++;
    if (outer != 0 && stacks_function(all->stacks, outer) == all->function)
        all->outward.open[stacks_function(all->stacks, node)]++;
}

static void leave_edge(void *context, uint32_t node, const struct stack_sum *sum)
{
    struct neighbours *all = context;
    const uint32_t outer = stacks_caller(all->stacks, node);
    if (outer != 0 && stacks_function(all->stacks, node) == all->function)
        edges_leave(&all->inward, stacks_function(all->stacks, outer), sum);
    if (outer != 0 && stacks_function(all->stacks, outer) == all->function)
        edges_leave(&all->outward, stacks_function(all->stacks, node), sum);
}

bool selection_edges(struct selection *selection, uint32_t function, struct session_edge **callers,
                     size_t *caller_count, struct session_edge **callees, size_t *callee_count,
                     struct session_error *error)
{
    struct stacks *stacks = &selection->session->stacks;
    uint32_t functions = selection->session->names.function_count;
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    if (!sums || !stacks_frames(stacks, error))
        return false;
    struct neighbours all = {.stacks = stacks, .function = function};
    const struct tree_visitor visitor = {enter_edge, leave_edge, &all};
    bool good = (edges_open(&all.inward, functions) && edges_open(&all.outward, functions)) ||
                session_fail_memory(error, "the callers and callees");
    good = good && tree_sums_visit(selection->session, sums, &visitor, error);
    if (good) {
        edges_pack(&all.inward, functions);
        edges_pack(&all.outward, functions);
    }
    free(all.inward.open);
    free(all.outward.open);
    if (!good) {
        free(all.inward.edges);
        free(all.outward.edges);
        return false;
    }
    *callers = all.inward.edges;
    *caller_count = all.inward.count;
    *callees = all.outward.edges;
    *callee_count = all.outward.count;
    return true;
}
