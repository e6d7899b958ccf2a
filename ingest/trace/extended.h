/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes the payloads of extended records into fields (schemas/trace-format.md, "Extended
 * records").
 */
#ifndef MPROF_INGEST_TRACE_EXTENDED_H
#define MPROF_INGEST_TRACE_EXTENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/trace_codec.h"

/* Bytes in the chunk's buffer. They are not terminated, and any byte may occur. */
struct trace_text {
    const char *bytes;
    size_t length;
};

/* Fields that the type does not have are zero. */
struct trace_extension {
    uint64_t type; /* enum trace_extended, or unknown */
    uint64_t when; /* absolute ticks if the type has a time, otherwise the last stamp */
    uint64_t thread, tid, sequence;
    uint64_t module, load_bias, start, end, segment_count;
    uint64_t arena, parent, address, old_address, size, count, stack, symbol;
    uint64_t protection, offset, alignment;
    uint64_t block_kind, number, line, begins; /* of runtimes; begins: enum trace_collection */
    uint64_t kind, age, trace;                 /* age: ticks; trace: id of the trace before */
    uint64_t earlier;                          /* 1: the collection began before this trace */
    uint64_t resident, reason, resumed, monotonic_ns;
    uint64_t pid, parent_pid, parent_trace, flags, argument_count;
    uint64_t fork_before, fork_after; /* ticks, 0: not known */
    struct trace_text name; /* of a thread, arena, mark, snapshot; path of a module or mapped file;
                               a piece of text; name of a runtime, function or kind */
    struct trace_text file;
    struct trace_text build_id, exe, directory, host, kernel, boot_id;
    const uint8_t *rest, *rest_end; /* the strings of argv, or a module's segments */
};

/*
 * Reads the payload of `record`. `ticks` is the clock of the coding state at the record. False if
 * the payload ends early, which damages only this record. True for an unknown type, with `type` and
 * `when` as the only fields.
 */
bool trace_extension_get(const struct trace_record *record, uint64_t ticks,
                         struct trace_extension *extension);

/* Reads the next argument of argv. False at its end. `at` begins as extension->rest. */
bool trace_extension_argument(const struct trace_extension *extension, const uint8_t **at,
                              struct trace_text *argument);

#endif
