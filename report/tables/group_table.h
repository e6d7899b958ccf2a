/* SPDX-License-Identifier: BSD-2-Clause */
/* A table of groups of allocations: keys and measures. */
#pragma once

#include "report/tables/reports.h"

struct group_plan {
    const char *name, *title;                   /* of the table */
    const char *set, *steps;                    /* limits of the sentence, or NULL */
    const enum session_group_measure *measures; /* the first one orders the rows */
    size_t measure_count;
    enum report_by by;
    bool share; /* a column with the part of the first measure in its sum, after it */
};

/* Adds the table to the document. Returns false with `error` set. */
bool group_table(const struct report_request *request, const struct group_plan *plan,
                 struct document *document, struct session_error *error);

/* ---- parts of it, for other tables ------------------------------------------------------ */

/* Returns the keys of a `join` for a way to group. */
const char *group_join_step(enum report_by by);
/* Stores the columns of the keys. Returns their number. */
size_t group_key_columns(enum report_by by, struct document_column *columns);
/* Adds the values of these columns for a row of groups, whose keys begin with `first`. */
void group_key_values(struct document *document, struct session *session, enum report_by by,
                      const struct session_group_set *set, size_t row, size_t first);
/* Adds the frames of a stack, from the call site outward. */
void group_stack_values(struct document *document, struct session *session, uint32_t stack);
