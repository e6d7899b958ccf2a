/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits the records of chunks into columns and joins them again (schemas/trace-format.md, "Packed
 * chunks"). It only moves bytes and does not interpret their values. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum trace_column {
    TRACE_COLUMN_HEAD,
    TRACE_COLUMN_ATTRIBUTE,
    TRACE_COLUMN_ALLOC_STAMP, /* two columns: first byte, later bytes */
    TRACE_COLUMN_FREE_STAMP = 4,
    TRACE_COLUMN_ALLOC_ADDRESS = 6, /* four columns, as the next two */
    TRACE_COLUMN_FREE_ADDRESS = 10,
    TRACE_COLUMN_REALLOC_ADDRESS = 14,
    TRACE_COLUMN_SIZE = 18,
    TRACE_COLUMN_STACK_INDEX,
    TRACE_COLUMN_STACK,
    TRACE_COLUMN_NODE,
    TRACE_COLUMN_EXTENDED,
    TRACE_COLUMN_COUNT
};

/* The bytes from `at` to `end`: still to be read, or still free. */
struct trace_span {
    uint8_t *at, *end;
};

/* Moves whole records from `records` into the columns until `records` is used up. Returns false if
 * they do not decode or a column is full; the moved bytes are then useless. */
bool trace_columns_split(struct trace_span *records, struct trace_span columns[TRACE_COLUMN_COUNT]);

/* Moves records back from the columns until the column of first bytes is used up. Returns false if
 * the columns do not fit together or there is too little space for the records. */
bool trace_columns_join(struct trace_span *records, struct trace_span columns[TRACE_COLUMN_COUNT]);
