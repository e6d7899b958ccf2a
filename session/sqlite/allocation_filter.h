/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests of v_allocation's columns, turned into tests of the column chunks. Conditions that it
 * cannot test let all rows pass: SQLite tests every row again.
 */
#ifndef MPROF_SESSION_SQLITE_ALLOCATION_FILTER_H
#define MPROF_SESSION_SQLITE_ALLOCATION_FILTER_H

#include "session/data/column_store.h"
#include "session/scan/row_set.h"
#include "session/sqlite/allocation_columns.h"

struct allocation_filter;
struct allocation_test;

/* Makes a filter that all rows pass. `columns` outlives it. NULL with `error` set. */
struct allocation_filter *allocation_filter_new(struct session *session,
                                                struct allocation_columns *columns,
                                                struct session_error *error);
void allocation_filter_free(struct allocation_filter *filter);
/* Returns false with `error` set. */
bool allocation_filter_add(struct allocation_filter *filter, const struct allocation_test *test,
                           struct session_error *error);
/* Return the first chunk that can have a row that passes, and the one after the last. */
uint32_t allocation_filter_first_chunk(const struct allocation_filter *filter);
uint32_t allocation_filter_behind_chunk(const struct allocation_filter *filter);

/* The rows of a chunk that pass, a bit for each, and some of its columns. */
struct allocation_chunk {
    uint64_t words[ROW_SET_WORDS];
    struct column_view views[COLUMN_TOTAL];
};
/*
 * Finds the rows of a chunk that pass, and reads the columns in `needs` (a bit for each) if there
 * is one. Threads with readers of their own may do it at once. Returns false with `error` set, also
 * if the session's questions are cancelled.
 */
bool allocation_filter_open(const struct allocation_filter *filter, struct column_reader *reader,
                            uint32_t chunk, unsigned needs, struct allocation_chunk *opened,
                            struct session_error *error);

#endif
