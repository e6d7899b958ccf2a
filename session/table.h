/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables: the allocations of a selection in groups, a row for each, with what is asked of them.
 *
 * The rules of session.h hold: selection_table() blocks (jobs.h asks without waiting), sums are
 * estimates if the session is sampled. If the selection has all allocations, sums by size, type or
 * anything that the stack tells come from what ingest stored, without a pass. Otherwise all cores
 * take part in one pass, and in some more for peak_bytes and turnover.
 *
 * A list that shows a table asks for it once. It sorts and cuts the rows itself, or asks again. */
#pragma once

#include "session/groups.h"

struct selection_table_query {
    const char *steps; /* filter steps before the grouping, as "where live"; NULL: none */
    const char *keys;  /* fields, as a `join` has them: "type", "thread, free_thread" */
    unsigned measures; /* bits: 1u << enum session_group_measure */
    unsigned order;    /* the measure by which the rows are sorted, the largest first */
    bool by_keys;      /* sorted by their keys instead */
    size_t limit;      /* of the rows; 0: none */
    uint64_t *moments; /* NULL, or ns since the trace began: the bytes live at each of them */
    size_t moment_count;
};

struct selection_table_column {
    const char *name; /* as in the language: "live_bytes"; NULL: a moment */
    enum session_unit unit;
    bool estimated; /* the session is sampled */
};

struct selection_table {
    const struct session_key_column *keys;
    size_t key_count;
    struct selection_table_column *columns; /* the measures in the order of their enum, then the
                                               moments */
    size_t column_count;
    size_t count, made;            /* rows; rows without the limit */
    struct session_group_key *key; /* of row 0, then of row 1, … */
    uint64_t *values;              /* the same */
    double *errors; /* the same: standard errors, below 0 if not known. NULL: the session is not
                       sampled */
    struct session_group_set *groups;
};

/* Makes a table; the caller calls selection_table_free(). Texts of keys live as long as the
 * session. Returns NULL with `error` set: no such field (`error->column` counts in `keys`), a
 * damaged chunk, no memory, cancelled, too many groups. */
struct selection_table *selection_table(struct selection *selection,
                                        const struct selection_table_query *query,
                                        struct session_error *error);
/* Frees it; NULL is allowed. */
void selection_table_free(struct selection_table *table);

/* Returns the values of a row, one for each column. */
static inline const uint64_t *selection_table_values(const struct selection_table *table,
                                                     size_t row)
{
    return table->values + row * table->column_count;
}

/* Returns a filter step that selects exactly the allocations of a row, if it follows those that
 * made the selection and the `steps` of the query: "where type == \"node\" and thread == 3". The
 * caller free()s it. NULL: there is no memory. */
char *selection_table_step(const struct selection_table *table, size_t row);
