/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * csv and ndjson: the rows of a filter graph. Allocations come in the order of time; groups have
 * their keys and all measures; a measure is one row. Against a base, groups have the differences of
 * their sums, and allocations are those that one side has more of.
 */
#ifndef MPROF_REPORT_EXPORT_ROWS_H
#define MPROF_REPORT_EXPORT_ROWS_H

#include "report/export/export.h"
#include "report/export/row_writer.h"
#include "session/groups.h"

enum { ROWS_KEYS_MOST = 32 };

/* Begins a file of allocations; `change`: their first column is "change". */
void rows_begin_allocations(struct row_writer *rows, const struct export *export, bool ndjson,
                            bool change);
/* Writes the allocations of a selection of `session` in the order of time. `change` is the value of
 * the first column, 0: there is none. Returns false with the error set. */
bool rows_put_allocations(struct row_writer *rows, const struct export *export,
                          struct session *session, struct selection *selection, int change);

/* Writes a key of a group. */
void rows_put_key(struct row_writer *rows, const struct session_group_set *set, size_t row,
                  size_t key, enum session_key_type type);

/* Writes what the result of the filter has more or less than the same filter in the base. Returns
 * false with the error set. */
bool rows_put_difference(struct export *export, const struct graph_result *own, bool ndjson);

#endif
