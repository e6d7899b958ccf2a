/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gives the rows of v_allocation one after another: those that may meet some tests, as they are
 * stored, or with equal values of some columns beside each other.
 *
 * Order of calls: allocation_rows_new(), allocation_rows_test() for each test,
 * allocation_rows_start(), then allocation_rows_next() until `at_end`.
 *
 * Without groups the rows come from batches of the column chunks. With groups a pass counts the
 * rows of each group, and further ones gather of the rows of the next groups what the query reads,
 * as many as fit into allocation_gathered_max values (allocation_groups.h). A group that is larger
 * than that comes from a pass of its own. If all that the query reads is the same in a group, no
 * pass is needed after the first.
 */
#ifndef MPROF_SESSION_SQLITE_ALLOCATION_ROWS_H
#define MPROF_SESSION_SQLITE_ALLOCATION_ROWS_H

#include "session/sqlite/allocation_columns.h"

struct allocation_rows;

/* A test of one column. Rows that fail it may still come: the caller tests all again. */
struct allocation_test {
    int column;
    enum allocation_test_how {
        TEST_EQUAL,
        TEST_LESS,
        TEST_LESS_EQUAL,
        TEST_MORE,
        TEST_MORE_EQUAL,
        TEST_LIKE,
        TEST_GLOB,
        TEST_NULL,
        TEST_NOT_NULL
    } how;
    /* Not of the last two. TEST_EQUAL may have several, of which one must be equal. */
    const struct allocation_value *values;
    size_t count;
};

/* The rows that come, and their order. */
struct allocation_order {
    int columns[4];      /* with shared ids: rows of equal values come together, in their order */
    size_t count;        /* 0: any order */
    unsigned descending; /* a bit for each */
    bool one; /* only one row of each group, as long as nobody asks for ids: nothing else is read */
};

/* Makes the rows. `columns` outlives them. NULL with `error` set. */
struct allocation_rows *allocation_rows_new(struct session *session,
                                            struct allocation_columns *columns,
                                            struct session_error *error);
void allocation_rows_free(struct allocation_rows *rows);
/* Returns false with `error` set. */
bool allocation_rows_test(struct allocation_rows *rows, const struct allocation_test *test,
                          struct session_error *error);
/* Goes to the first row. `used` has a bit for each column that will be read. Returns false with
 * `error` set. */
bool allocation_rows_start(struct allocation_rows *rows, uint64_t used,
                           const struct allocation_order *order, struct session_error *error);
bool allocation_rows_next(struct allocation_rows *rows, struct session_error *error);
bool allocation_rows_at_end(const struct allocation_rows *rows);
/* Gives a value of the present row. It is valid as long as the columns. */
void allocation_rows_value(const struct allocation_rows *rows, int column,
                           struct allocation_value *value);
/* Stores the id of the present row. With `one` all rows of its group and of those after it come
 * from now on. Returns false with `error` set. */
bool allocation_rows_id(struct allocation_rows *rows, uint64_t *id, struct session_error *error);

/* Values of 8 bytes in memory at most. Tests make it small. */
extern size_t allocation_gathered_max;

#endif
