/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of the view of types: a table of types, and a pane about the selected one, which shows
 * its members, the functions that allocate it, the owners of its containers, or the names that
 * would fit blocks of unknown type. types.c changes it, data.c asks the engine, rows.c and pane.c
 * give the tables their cells, render.c draws.
 */
#ifndef MPROF_TUI_VIEW_TYPES_TYPES_H
#define MPROF_TUI_VIEW_TYPES_TYPES_H

#include "session/types.h"
#include "tui/explore/explore.h"
#include "tui/view/common/breakdown.h"
#include "tui/view/common/pair.h"

struct type_rows_data {
    uint64_t selections; /* the request */
    struct session_type_sums *rows;
    size_t count;
    uint64_t bytes, at_peak_bytes; /* of all */
    bool complete;
};

/* The facts that need passes over the rows. They come later. */
struct type_courses_data {
    struct {
        uint64_t selections, from_ns, to_ns, peaks; /* the request */
    } request;
    struct session_type_course *rows; /* by type */
    size_t count;
    bool complete;
};

#define TYPE_MEMBERS 512
/* A member, or the padding before one (no name, no type). */
struct type_member_row {
    struct session_member member;
    bool padding;
};
struct type_members_data {
    struct type_members_request {
        uint64_t renewals, type;
    } request;
    struct type_member_row rows[2 * TYPE_MEMBERS + 1];
    size_t count, members; /* rows; members, all of them */
    uint64_t size, padding;
};

struct type_candidates_data {
    uint64_t selections; /* the request */
    struct session_type_candidates *rows;
    size_t count;
    uint64_t bytes;
    bool complete;
};

enum type_pane { TYPE_MEMBERS_PANE, TYPE_FUNCTIONS_PANE, TYPE_OWNERS_PANE, TYPE_PANES };

struct types {
    struct load rows_load, courses_load, members_load, candidates_load;
    struct type_rows_data *data; /* NULL: not there yet, as the next ones */
    struct type_courses_data *courses;
    struct type_members_data *members;
    struct type_candidates_data *candidates;
    struct breakdown breakdown;
    uint32_t *order;      /* rows of the table to rows of the data */
    uint64_t ordered;     /* selections of the order; 0: none */
    bool ordered_courses; /* the order knew them */
    enum type_pane pane;
    uint64_t shown; /* the pane is about this type, and pane; UINT64_MAX: about none yet */
    const struct session *session;
    bool has_range, estimated;
    uint64_t from_ns, to_ns;
    struct pair pair;
};

/* ---- data.c ---- */

void types_load(struct types *types, struct exploration *exploration, bool with_pane);
/* Returns the selected row, NULL if there is none. */
const struct session_type_sums *types_selected(const struct types *types);
/* Returns the course of a type, NULL if it is not known yet. */
const struct session_type_course *types_course(const struct types *types, uint32_t type);
/* Writes the step that selects the blocks of a type. Returns false if its name is too long. */
bool types_step(const struct types *types, uint32_t type, char *out, size_t size);
/* Returns true if the pane shows candidates: those of blocks of unknown type. */
bool types_shows_candidates(const struct types *types);

/* ---- rows.c, pane.c ---- */

struct table_source types_source(const struct types *types);
void types_sort(struct types *types);
const char *types_name(const struct types *types, uint32_t type);
/* Writes "exact", "inferred", "unknown", or how much of the bytes is exact. */
#define TYPE_CONFIDENCE_TEXT 24
char *types_confidence(char *out, const struct session_type_sums *row);
/* Returns the growth of a type in bytes: over the run, or over the marked range. */
int64_t types_growth(const struct types *types, const struct session_type_course *course);
struct table_source types_pane_source(const struct types *types);
void types_pane_sort(struct types *types);

/* ---- render.c ---- */

struct pair_tables types_tables(const struct types *types, int width, int height);
void types_render(const void *view, const struct exploration *exploration, const struct area *area);
/* Keeps the order of the rows, as view_ops.order. */
bool types_keep_order(void *view, struct table_order *order, bool set);

#endif
