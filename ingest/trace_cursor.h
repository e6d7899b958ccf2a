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

#include "ingest/trace_extended.h"
#include "ingest/trace_file.h"

struct trace_cursor {
    const struct trace_slot *slot;
    uint8_t *bytes; /* the chunk from its header on */
    const uint8_t *at, *end;
    uint32_t thread, sequence; /* of the segment */
    struct trace_coding coding;
    bool unpacked; /* false: it was packed and cannot be unpacked, so there are no records */
};

/* Reads the chunk. False where memory is exhausted. A short read ends the records earlier. */
bool trace_cursor_open(struct trace_cursor *cursor, const struct trace_file *file,
                       const struct trace_slot *slot);
void trace_cursor_close(struct trace_cursor *cursor);

/*
 * Reads what the slot has more by now, in a trace that is still being recorded; the payloads of
 * records that were given are gone. False where memory is exhausted.
 */
bool trace_cursor_extend(struct trace_cursor *cursor, const struct trace_file *file);

/*
 * The next record. TRACE_GET_END: no more (a cut file: see trace_cursor_lost()).
 * TRACE_GET_DAMAGED: what stands at trace_cursor_offset() is no record, the rest is lost.
 */
enum trace_get trace_cursor_next(struct trace_cursor *cursor, struct trace_record *record);

/* Where the next record begins, in bytes from the start of the file (while it was recorded, where
 * the chunk has been packed). */
uint64_t trace_cursor_offset(const struct trace_cursor *cursor);

/* Committed bytes that were not decoded: after the end 0, unless the chunk is cut or damaged. */
uint64_t trace_cursor_lost(const struct trace_cursor *cursor);

/* Why there are no more records, if trace_cursor_lost() says that there should be: what the last
 * trace_cursor_next() returned is `got`. */
const char *trace_cursor_explain(const struct trace_cursor *cursor, enum trace_get got);

/* Whether a sealed chunk's records have the sum that its header says; true if not sealed. */
bool trace_cursor_sum_good(const struct trace_cursor *cursor);

#endif
