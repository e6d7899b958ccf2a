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

/* Tells whether a loop over stacks ends early. It looks now and then. */
static bool is_cancelled(const struct session *session, uint32_t stack)
{
    return stack % 4096 == 0 && scan_cancelled(session);
}

/* Adds the totals. `seen` holds, by function, the last stack + 1 that counted for it. */
static void add_total(const struct session *session, const struct stack_sum *sums, uint32_t *seen,
                      struct session_function_row *rows)
{
    const struct stacks *stacks = &session->stacks;
    for (uint32_t stack = 0; stack < stacks->count && !is_cancelled(session, stack); stack++) {
        if (sums[stack].count == 0)
            continue;
        for (uint64_t i = stacks_first(stacks, stack); i < stacks_end(stacks, stack); i++) {
            uint32_t function = stacks->frame_table[stacks_frame(stacks, i)].function;
            if (seen[function] == stack + 1)
                continue;
            seen[function] = stack + 1;
            rows[function].total_bytes += sums[stack].bytes;
            rows[function].total_count += sums[stack].count;
        }
        /* Without frames the allocation still belongs to its call site, even if that is "none". */
        uint32_t site = stacks->function[stack];
        if (seen[site] != stack + 1) {
            seen[site] = stack + 1;
            rows[site].total_bytes += sums[stack].bytes;
            rows[site].total_count += sums[stack].count;
        }
    }
}

/* Sums up the functions by the rows, by function id. */
static bool sum_up(struct selection *selection, struct session_function_row *all,
                   struct session_error *error)
{
    struct stacks *stacks = &selection->session->stacks;
    const struct stack_sum *sums = selection_stack_sums(selection, error);
    if (!sums || !stacks_frames(stacks, error))
        return false;
    uint32_t *seen = calloc(selection->session->names.function_count, sizeof(*seen));
    if (!seen)
        return session_fail_memory(error, "the functions");
    add_self(stacks, sums, all);
    add_total(selection->session, sums, seen, all);
    free(seen);
    return scan_go_on(selection->session, error);
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
    uint32_t *seen;
    size_t count;
};

static bool edges_open(struct edges *edges, uint32_t functions)
{
    edges->edges = calloc(functions, sizeof(*edges->edges));
    edges->seen = calloc(functions, sizeof(*edges->seen));
    return edges->edges && edges->seen;
}

static void edges_add(struct edges *edges, uint32_t function, uint32_t stack,
                      const struct stack_sum *sum)
{
    if (edges->seen[function] == stack + 1)
        return;
    edges->seen[function] = stack + 1;
    edges->edges[function].bytes += sum->bytes;
    edges->edges[function].count += sum->count;
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

static void edges_of_stacks(const struct session *session, const struct stack_sum *sums,
                            uint32_t function, struct edges *callers, struct edges *callees)
{
    const struct stacks *stacks = &session->stacks;
    for (uint32_t stack = 0; stack < stacks->count && !is_cancelled(session, stack); stack++) {
        if (sums[stack].count == 0)
            continue;
        uint64_t first = stacks_first(stacks, stack);
        uint64_t last = stacks_end(stacks, stack);
        for (uint64_t i = first; i < last; i++) {
            if (stacks->frame_table[stacks_frame(stacks, i)].function != function)
                continue;
            if (i + 1 < last)
                edges_add(callers, stacks->frame_table[stacks_frame(stacks, i + 1)].function, stack,
                          &sums[stack]);
            if (i > first)
                edges_add(callees, stacks->frame_table[stacks_frame(stacks, i - 1)].function, stack,
                          &sums[stack]);
        }
    }
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
    struct edges inward = {.count = 0};
    struct edges outward = {.count = 0};
    bool good = edges_open(&inward, functions) && edges_open(&outward, functions);
    if (good) {
        edges_of_stacks(selection->session, sums, function, &inward, &outward);
        edges_pack(&inward, functions);
        edges_pack(&outward, functions);
    }
    free(inward.seen);
    free(outward.seen);
    if (!good)
        session_fail_memory(error, "the callers and callees");
    if (!good || !scan_go_on(selection->session, error)) {
        free(inward.edges);
        free(outward.edges);
        return false;
    }
    *callers = inward.edges;
    *caller_count = inward.count;
    *callees = outward.edges;
    *callee_count = outward.count;
    return true;
}
