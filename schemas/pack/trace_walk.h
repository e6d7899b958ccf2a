/* SPDX-License-Identifier: BSD-2-Clause */
/* Moves fields of records into columns and back, for trace_columns.c and trace_predicted.c; also
 * the records that both move in the same way. */
#pragma once

#include <string.h>

#include "schemas/pack/trace_columns.h"
#include "schemas/trace_codec.h"

/* A walk over records. `join` tells the direction: from the columns to the records. */
struct trace_walk {
    struct trace_span *records, *columns;
    bool join;
};

static inline bool move_byte(struct trace_walk *walk, unsigned column, uint8_t *byte)
{
    struct trace_span *from = walk->join ? &walk->columns[column] : walk->records;
    struct trace_span *to = walk->join ? walk->records : &walk->columns[column];
    if (from->at >= from->end || to->at >= to->end)
        return false;
    *byte = *to->at++ = *from->at++;
    return true;
}

static inline bool move_bytes(struct trace_walk *walk, unsigned column, uint64_t length)
{
    struct trace_span *from = walk->join ? &walk->columns[column] : walk->records;
    struct trace_span *to = walk->join ? walk->records : &walk->columns[column];
    if (length > (uint64_t)(from->end - from->at) || length > (uint64_t)(to->end - to->at))
        return false;
    memcpy(to->at, from->at, length);
    from->at += length;
    to->at += length;
    return true;
}

/* Moves a varint: its first byte goes into `column` and byte n into column + n, up to `last`. */
static inline bool move_varint(struct trace_walk *walk, unsigned column, unsigned last)
{
    uint8_t byte = 0;
    for (unsigned n = 0; n < 10; n++) {
        if (!move_byte(walk, column + n < last ? column + n : last, &byte))
            return false;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* Moves a varint and decodes it. */
static inline bool move_number(struct trace_walk *walk, unsigned column, uint64_t *number)
{
    uint8_t byte = 0;
    *number = 0;
    for (unsigned n = 0; n < 10; n++) {
        if (!move_byte(walk, column, &byte))
            return false;
        *number |= (uint64_t)(byte & 0x7f) << (7 * n);
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static inline bool move_stamp(struct trace_walk *walk, unsigned column)
{
    return move_varint(walk, column, column + 1);
}

static inline bool move_address(struct trace_walk *walk, unsigned column, unsigned mode)
{
    uint8_t byte;
    return mode == TRACE_ADDRESS_CACHED ? move_byte(walk, column, &byte)
                                        : move_varint(walk, column + 1, column + 3);
}

static inline bool move_size(struct trace_walk *walk, unsigned head)
{
    return (head & 32) || move_varint(walk, TRACE_COLUMN_SIZE, TRACE_COLUMN_SIZE);
}

static inline bool move_stack(struct trace_walk *walk, unsigned mode)
{
    uint8_t byte;
    switch (mode) {
    case TRACE_STACK_SAME:
        return true;
    case TRACE_STACK_CACHED:
        return move_byte(walk, TRACE_COLUMN_STACK_INDEX, &byte);
    default:
        return move_varint(walk, TRACE_COLUMN_STACK, TRACE_COLUMN_STACK);
    }
}

static inline bool move_node(struct trace_walk *walk, unsigned head)
{
    const bool code = (head >> 4 & 3) <= TRACE_FRAME_EXACT;
    unsigned numbers = (head & TRACE_NODE_NEXT ? 0u : 1u) + (head & 8 ? 0u : 1u);
    if (code)
        numbers += head & TRACE_NODE_SAME_MODULE ? 1u : 2u;
    for (; numbers > 0; numbers--)
        if (!move_varint(walk, TRACE_COLUMN_NODE, TRACE_COLUMN_NODE))
            return false;
    return true;
}

static inline bool move_arena(struct trace_walk *walk, unsigned other)
{
    return !other || move_varint(walk, TRACE_COLUMN_ATTRIBUTE, TRACE_COLUMN_ATTRIBUTE);
}

static inline bool move_arena_alloc(struct trace_walk *walk, unsigned head)
{
    uint8_t attribute;
    return move_byte(walk, TRACE_COLUMN_ATTRIBUTE, &attribute) &&
           move_arena(walk, attribute & TRACE_ARENA_OTHER) &&
           move_stamp(walk, TRACE_COLUMN_ALLOC_STAMP) &&
           move_address(walk, TRACE_COLUMN_ALLOC_ADDRESS, head >> 6) && move_size(walk, head) &&
           move_stack(walk, attribute & 3) && move_arena(walk, attribute & TRACE_ARENA_COUNT) &&
           move_arena(walk, attribute & TRACE_ARENA_KIND);
}

static inline bool move_arena_free(struct trace_walk *walk, unsigned head)
{
    return move_arena(walk, head >> 5 & 1) && move_stamp(walk, TRACE_COLUMN_FREE_STAMP) &&
           move_address(walk, TRACE_COLUMN_FREE_ADDRESS, head >> 6);
}

static inline bool move_extended(struct trace_walk *walk, unsigned head)
{
    uint64_t type, length;
    if ((head >> 3 & 3) == TRACE_FORM_ARENA_ALLOC)
        return move_arena_alloc(walk, head);
    if ((head >> 3 & 3) != TRACE_FORM_EXTENDED)
        return move_arena_free(walk, head);
    return move_number(walk, TRACE_COLUMN_EXTENDED, &type) &&
           move_number(walk, TRACE_COLUMN_EXTENDED, &length) &&
           move_bytes(walk, TRACE_COLUMN_EXTENDED, length);
}
