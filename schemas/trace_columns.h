/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of chunks, taken apart into columns and put together again (schemas/trace-format.md,
 * "Packed chunks"). Bytes only change their place: what was said in them is not looked at.
 */
#ifndef MPROF_SCHEMAS_TRACE_COLUMNS_H
#define MPROF_SCHEMAS_TRACE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_column {
    TRACE_COLUMN_HEAD,
    TRACE_COLUMN_ATTRIBUTE,
    TRACE_COLUMN_ALLOC_STAMP, /* and the next one */
    TRACE_COLUMN_FREE_STAMP = 4,
    TRACE_COLUMN_ALLOC_ADDRESS = 6, /* and the three behind it, as the next two */
    TRACE_COLUMN_FREE_ADDRESS = 10,
    TRACE_COLUMN_REALLOC_ADDRESS = 14,
    TRACE_COLUMN_SIZE = 18,
    TRACE_COLUMN_STACK_INDEX,
    TRACE_COLUMN_STACK,
    TRACE_COLUMN_NODE,
    TRACE_COLUMN_EXTENDED,
    TRACE_COLUMN_COUNT
};

/* Bytes from `at` to `end`: what is still to be read, or the room that is left. */
struct trace_span {
    uint8_t *at, *end;
};

/*
 * Moves whole records from `records` to the columns' room until `records` is used up. False where
 * they do not decode, or some column is full; what was moved is then of no use.
 */
bool trace_columns_split(struct trace_span *records, struct trace_span columns[TRACE_COLUMN_COUNT]);

/* The way back, until the column of first bytes is used up. False where the columns do not fit
 * together or the room for the records is too small. */
bool trace_columns_join(struct trace_span *records, struct trace_span columns[TRACE_COLUMN_COUNT]);

#endif
