/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks the records of one chunk in order, through its segments.
 *
 * Order of calls: trace_cursor_open() on a slot without damage, trace_cursor_next() until it
 * does not return a record, trace_cursor_close(). SWITCH records are followed here and also
 * returned. The record's payload points into the cursor and lives until it is closed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ingest/trace/file.h"
#include "schemas/trace_codec.h"

/* Decodes the payloads of extended records into fields (schemas/trace-format.md, "Extended
 * records"). */

/* Bytes in the chunk's buffer. They are not terminated, and any byte may occur. */
struct trace_text {
    const char *bytes;
    size_t length;
};

/* Fields that the type does not have are zero. */
struct trace_extension {
    uint64_t type; /* enum trace_extended, or unknown */
    uint64_t when; /* absolute ticks if the type has a time, otherwise the last stamp */
    uint64_t thread, tid, sequence, module, load_bias, start, end, segment_count;
    uint64_t arena, parent, address, old_address, size, count, stack, symbol;
    uint64_t protection, offset, alignment;
    uint64_t block_kind, number, line, begins; /* of runtimes; begins: enum trace_collection */
    uint64_t kind, age, trace;                 /* age: ticks; trace: id of the trace before */
    uint64_t earlier;                          /* 1: the collection began before this trace */
    uint64_t resident, reason, resumed, monotonic_ns;
    uint64_t pid, parent_pid, parent_trace, flags, argument_count;
    uint64_t fork_before, fork_after; /* ticks, 0: not known */
    /* RESIDENT has ticks before and after `when`; from pss on, bytes plus 1, 0: not known. */
    uint64_t earlier_ticks, later_ticks, rss_after, coarse, pss, lazy_free, cgroup, cgroup_limit;
    uint64_t stack_low, stack_high; /* of a thread; 0: not known */
    struct trace_text name; /* of a thread, arena, mark, snapshot; path of a module or mapped file;
                               a piece of text; name of a runtime, function or kind */
    struct trace_text file, build_id, exe, directory, host, kernel, boot_id;
    const uint8_t *rest, *rest_end; /* the strings of argv, or a module's segments */
};

/* Reads the payload of `record`. `ticks` is the clock of the coding state at the record. False if
 * the payload ends early, which damages only this record. True for an unknown type, with `type` and
 * `when` as the only fields. */
bool trace_extension_get(const struct trace_record *record, uint64_t ticks,
                         struct trace_extension *extension);

/* A field of a type that begins with a time: how to read and to show it. */
struct trace_extension_field {
    uint16_t how;      /* enum trace_field_how, or'ed; 0: there are no more fields */
    uint16_t place;    /* in struct trace_extension: a uint64_t, or a struct trace_text */
    const char *label; /* NULL: it is not shown like the others */
};
enum trace_field_how {
    TRACE_FIELD_NUMBER = 1,
    TRACE_FIELD_TEXT = 2,
    TRACE_FIELD_HEX = 4,         /* shown in hexadecimal */
    TRACE_FIELD_UNLESS_END = 8,  /* older records may end before it */
    TRACE_FIELD_UNLESS_ZERO = 16 /* shown unless it is 0 */
};
/* Returns the fields of a type after its time, in the order of the record: of any type from THREAD
 * to the last one. MODULE and COLLECTION have none here, because theirs depend on each other. */
const struct trace_extension_field *trace_extension_fields(uint64_t type);

/* Reads the next argument of argv. False at its end. `at` begins as extension->rest. */
bool trace_extension_argument(const struct trace_extension *extension, const uint8_t **at,
                              struct trace_text *argument);

/* ---- cursor -------------------------------------------------------------------------------- */

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

/* Reads the bytes that the slot has gained, in a trace that is still being recorded. Payloads of
 * records that were returned before become invalid. False if memory is exhausted. */
bool trace_cursor_extend(struct trace_cursor *cursor, const struct trace_file *file);

/* Reads the next record. TRACE_GET_END: there are no more (in a cut file: see trace_cursor_lost()).
 * TRACE_GET_DAMAGED: the bytes at trace_cursor_offset() are not a record, and the rest is lost. */
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

/* Returns true if the chunk's records have the sum in its header, or it is not sealed. */
bool trace_cursor_sum_good(const struct trace_cursor *cursor);
