/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a parsed graph on a session: first the sets, then each step. */
#pragma once

#include "session/filter/program.h"
#include "session/filter/tree.h"
#include "session/filter/warning.h"
#include "session/groups.h"
#include "session/store/row_set.h"
#include "session/store/summary.h"

/* The rows of another session. Sessions stay open as long as the one that opened them. */
struct run_side {
    struct session *session;
    struct row_set set;
    struct run_side *next;
};

struct run_options {
    /* Opens another session, or gives the one that is open already. Returns NULL with `error` set.
     * NULL: other sessions are not allowed. */
    struct session *(*open)(void *context, const char *path, struct session_error *error);
    void *context;
    const char *text;  /* of the graph, for the files that it makes */
    bool write;        /* the step write may make files */
    bool stored_write; /* in saved filters, too */
    /* The rows that take the place of the graph's set; NULL: the graph makes its own. */
    const struct row_set *begin;
};

/* The rows that a graph gives. */
struct run_result {
    enum filter_kind kind;
    /* For ALLOCATIONS, and a MEASURE of allocations. */
    struct row_set set;
    struct run_side *sides; /* of other sessions */
    bool summed;            /* the last pass has found the totals of `set` as well */
    struct row_totals totals;
    /* For GROUPS, and a MEASURE of groups; otherwise NULL. */
    struct session_group_set *groups;
    /* For a MEASURE: the step that measures the rows. It belongs to the graph. */
    const struct filter_step *measure;
    enum session_color_by color_by; /* of the last `color by` */
    /* The filter tests processes: it selects from all, not from the selected one. */
    bool of_all;
    bool of_arenas;     /* it may select blocks of custom allocators */
    bool leaks_unknown; /* it used `leaked` of a session whose recording stopped */
    struct filter_warnings warnings;
};

/* Runs a graph. `colors` gets its color steps. Returns false with `error` set; otherwise the caller
 * frees the result with run_result_free(). */
bool run_graph(struct session *session, const struct filter_graph *graph,
               const struct run_options *options, struct filter_colors *colors,
               struct run_result *result, struct session_error *error);
void run_result_free(struct run_result *result);
/* Returns the number of rows of a side. */
uint64_t run_side_rows(const struct run_side *side);
