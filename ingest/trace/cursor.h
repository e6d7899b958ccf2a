/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks the records of one chunk in order, through its segments.
 *
 * Order of calls: trace_cursor_open() on a slot without damage, trace_cursor_next() until it
 * does not return a record, trace_cursor_close(). SWITCH records are followed here and also
 * returned. The record's payload points into the cursor and lives until it is closed.
 */
#ifndef MPROF_INGEST_TRACE_CURSOR_H
#define MPROF_INGEST_TRACE_CURSOR_H

#include "ingest/trace/extended.h"
#include "ingest/trace/file.h"

struct trace_cursor {
    const struct trace_slot *slot;
    uint8_t *bytes; /* the chunk from its header on */
    const uint8_t *at, *end;
    uint32_t thread, sequence; /* of the segment */
    struct trace_coding coding;
    bool unpacked; /* false: it was packed and cannot be unpacked, so there are no records */
};

/* Reads the chunk. False if memory is exhausted. A short read ends the records earlier. */
bool trace_cursor_open(struct trace_cursor *cursor, const struct trace_file *file,
                       const struct trace_slot *slot);
void trace_cursor_close(struct trace_cursor *cursor);

/*
 * Reads the bytes that the slot has gained, in a trace that is still being recorded. Payloads of
 * records that were returned before become invalid. False if memory is exhausted.
 */
bool trace_cursor_extend(struct trace_cursor *cursor, const struct trace_file *file);

/*
 * Reads the next record. TRACE_GET_END: there are no more (in a cut file: see trace_cursor_lost()).
 * TRACE_GET_DAMAGED: the bytes at trace_cursor_offset() are not a record, and the rest is lost.
 */
enum trace_get trace_cursor_next(struct trace_cursor *cursor, struct trace_record *record);

/* Returns where the next record begins, in bytes from the start of the file. For a packed chunk it
 * is the place that the record had while it was recorded. */
uint64_t trace_cursor_offset(const struct trace_cursor *cursor);

/* Returns the committed bytes that are not decoded. After the end this is 0, unless the chunk is
 * cut or damaged. */
uint64_t trace_cursor_lost(const struct trace_cursor *cursor);

/* Explains why there are no more records although trace_cursor_lost() is not 0. `got` is the result
 * of the last trace_cursor_next(). */
const char *trace_cursor_explain(const struct trace_cursor *cursor, enum trace_get got);

/* Returns true if a sealed chunk's records have the sum that is in its header. True if the chunk is
 * not sealed. */
bool trace_cursor_sum_good(const struct trace_cursor *cursor);

#endif
