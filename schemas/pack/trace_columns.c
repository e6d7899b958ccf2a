/* SPDX-License-Identifier: BSD-2-Clause */
#include "schemas/pack/trace_columns.h"

#include "schemas/pack/trace_walk.h"

static inline bool move_alloc(struct trace_walk *walk, unsigned head)
{
    uint8_t byte;
    if ((head & 7) == TRACE_ALLOC_ATTR &&
        (!move_byte(walk, TRACE_COLUMN_ATTRIBUTE, &byte) ||
         (byte >= TRACE_KIND_POSIX_MEMALIGN && !move_byte(walk, TRACE_COLUMN_ATTRIBUTE, &byte))))
        return false;
    return move_stamp(walk, TRACE_COLUMN_ALLOC_STAMP) &&
           move_address(walk, TRACE_COLUMN_ALLOC_ADDRESS, head >> 6) && move_size(walk, head) &&
           move_stack(walk, head >> 3 & 3);
}

static inline bool move_free(struct trace_walk *walk, unsigned head)
{
    return move_stamp(walk, TRACE_COLUMN_FREE_STAMP) &&
           move_address(walk, TRACE_COLUMN_FREE_ADDRESS, head >> 6) &&
           ((head & 7) == TRACE_FREE || move_stack(walk, head >> 3 & 3));
}

static bool move_realloc(struct trace_walk *walk, unsigned head)
{
    uint8_t attribute;
    return move_byte(walk, TRACE_COLUMN_ATTRIBUTE, &attribute) &&
           move_stamp(walk, TRACE_COLUMN_FREE_STAMP) &&
           move_stamp(walk, TRACE_COLUMN_ALLOC_STAMP) &&
           move_address(walk, TRACE_COLUMN_REALLOC_ADDRESS, head >> 6) &&
           ((attribute & 3) != TRACE_REALLOC_MOVED ||
            move_address(walk, TRACE_COLUMN_REALLOC_ADDRESS, attribute >> 2 & 3)) &&
           move_size(walk, head) && move_stack(walk, head >> 3 & 3);
}

static inline bool walk_records(struct trace_walk *walk)
{
    const struct trace_span *heads = walk->join ? &walk->columns[TRACE_COLUMN_HEAD] : walk->records;
    bool good = true;
    while (good && heads->at < heads->end) {
        uint8_t head = 0;
        if (!move_byte(walk, TRACE_COLUMN_HEAD, &head))
            return false;
        switch (head & 7) {
        case TRACE_ALLOC:
        case TRACE_ALLOC_ATTR:
            good = move_alloc(walk, head);
            break;
        case TRACE_FREE:
        case TRACE_FREE_STACK:
            good = move_free(walk, head);
            break;
        case TRACE_REALLOC:
            good = move_realloc(walk, head);
            break;
        case TRACE_NODE:
            good = move_node(walk, head);
            break;
        case TRACE_EXTENDED:
            good = move_extended(walk, head);
            break;
        default:
            return false;
        }
    }
    return good;
}

bool trace_columns_split(struct trace_span *records, struct trace_span columns[TRACE_COLUMN_COUNT])
{
    struct trace_walk walk = {records, columns, false};
    return walk_records(&walk);
}

bool trace_columns_join(struct trace_span *records, struct trace_span columns[TRACE_COLUMN_COUNT])
{
    struct trace_walk walk = {records, columns, true};
    return walk_records(&walk);
}
