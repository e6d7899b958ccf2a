/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of v_allocation, with the values that the view of the same name gives. A column that
 * depends only on the stack, type, thread or kind of an allocation is an array by their ids, made
 * when a query first reads the column.
 */
#ifndef MPROF_SESSION_SQLITE_ALLOCATION_COLUMNS_H
#define MPROF_SESSION_SQLITE_ALLOCATION_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/column_codec.h"
#include "session/session.h"

/* In the order of the view, and of sql/allocation_table.sql. */
enum allocation_column {
    ALLOCATION_ID,
    ALLOCATION_ADDRESS,
    ALLOCATION_SIZE,
    ALLOCATION_COUNT,
    ALLOCATION_KIND,
    ALLOCATION_ALIGNMENT,
    ALLOCATION_ARENA_ID,
    ALLOCATION_THREAD_ID,
    ALLOCATION_STACK_ID,
    ALLOCATION_TYPE_ID,
    ALLOCATION_ALLOC_NS,
    ALLOCATION_FREE_NS,
    ALLOCATION_FREE_THREAD_ID,
    ALLOCATION_FREE_STACK_ID,
    ALLOCATION_REALLOC_OF,
    ALLOCATION_FUNCTION,
    ALLOCATION_FILE,
    ALLOCATION_LINE,
    ALLOCATION_MODULE,
    ALLOCATION_TYPE,
    ALLOCATION_CONFIDENCE,
    ALLOCATION_THREAD,
    ALLOCATION_LIFETIME_NS,
    ALLOCATION_EXTRA_BYTES,
    ALLOCATION_PROCESS_ID,
    ALLOCATION_PID,
    ALLOCATION_PROCESS,
    ALLOCATION_OWNER,
    ALLOCATION_USER,
    ALLOCATION_FREED_BY,
    ALLOCATION_KEPT,
    ALLOCATION_COLUMNS
};

/* The base of a column: the row itself, or an id that many rows share. */
enum allocation_by { BY_ROW, BY_STACK, BY_TYPE, BY_THREAD, BY_KIND, BY_TOTAL };
enum allocation_by allocation_column_by(int column);
/* Returns the column of chunks that has the id. */
enum column allocation_by_column(enum allocation_by by);
/* Returns the columns of chunks that a column is made of, a bit for each. ALLOCATION_ID: none. */
unsigned allocation_column_needs(int column);

enum allocation_form { VALUE_NULL, VALUE_NUMBER, VALUE_TEXT };
struct allocation_value {
    union {
        const char *text; /* lives as long as the columns and the session */
        int64_t number;
    };
    uint32_t length; /* of the text */
    uint8_t form;    /* enum allocation_form */
};

/* Returns true if a column's value is the number that a column of chunks has. */
bool allocation_column_is_plain(int column);

/* The values of one row of each column of chunks that was asked for. */
struct allocation_row {
    uint64_t id;
    uint64_t of[COLUMN_TOTAL];
};

struct allocation_columns;

/* Makes the columns of an open session, which outlives them. NULL with `error` set. */
struct allocation_columns *allocation_columns_new(struct session *session,
                                                  struct session_error *error);
void allocation_columns_free(struct allocation_columns *columns);
/* Makes what the columns in `used` (a bit for each) need. Returns false with `error` set. */
bool allocation_columns_use(struct allocation_columns *columns, uint64_t used,
                            struct session_error *error);
/* Returns the number of ids: all are below it. */
size_t allocation_ids(const struct allocation_columns *columns, enum allocation_by by);
/* Returns a column's values by id. The column is in use and not BY_ROW. */
const struct allocation_value *allocation_values(const struct allocation_columns *columns,
                                                 int column);
/* Gives the value of a column that is in use, BY_ROW and not plain. */
void allocation_value_of_row(const struct allocation_columns *columns, int column,
                             const struct allocation_row *row, struct allocation_value *value);
/* Returns true if one of these columns, a bit for each, needs the id of the row. They are in use.
 */
bool allocation_columns_need_id(const struct allocation_columns *columns, uint64_t used);
/* Returns the time until which a block lives that was never freed. */
int64_t allocation_end_ns(const struct allocation_columns *columns);

/* Compares as SQLite does: null first, then numbers, then texts byte by byte. */
int allocation_compare(const struct allocation_value *left, const struct allocation_value *right);

/*
 * Ranks the ids by the values of columns that share them: equal values have one rank, and ranks
 * count from 0 in the order of the values, reversed for a column with a bit in `descending`. Stores
 * the rank of each id; free() it. Returns the number of ranks, 0 with `error` set.
 */
size_t allocation_ranks(const struct allocation_columns *columns, const int *of, size_t count,
                        unsigned descending, uint32_t **ranks, struct session_error *error);

#endif
