/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a trace as text: `mprof-ingest --dump`.
 *
 * Each record is one line, in file order or merged by time:
 *
 *     @OFFSET thread N TICKS NAME key value key value …
 *
 * OFFSET is the record's first byte in the file, TICKS the coding state's clock after the record.
 * Addresses are hexadecimal. Strings are quoted, with \xNN for bytes that are not printable ASCII.
 * In file order the first line is a `file` line, a `chunk` line comes before each chunk's records,
 * and a `damage` line is wherever bytes are lost. */
#pragma once

#include <signal.h>
#include <stdio.h>

#include "ingest/trace/file.h"

/* Writes the whole trace in file order. False with `status` set if memory is exhausted. */
bool trace_dump_file(FILE *out, const struct trace_file *file, struct ingest_status *status);

/* Writes only the events, merged by time as replay sees them. A realloc is two lines, one for each
 * half. TICKS is the event's own time. */
bool trace_dump_by_time(FILE *out, const struct trace_file *file, struct ingest_status *status);

struct trace_compress_result {
    uint64_t bytes; /* of the new file */
};

/* Writes `target`, which may be the trace itself. With `force` a file of that name is replaced when
 * the new one is whole and has been read back. The caller makes sure that a trace that is replaced
 * is not being recorded. False with `status` set, and nothing changed, if the trace is damaged or
 * the file cannot be written. */
bool trace_compress(const struct trace_file *file, const char *target, bool force,
                    const volatile sig_atomic_t *interrupted, struct trace_compress_result *result,
                    struct ingest_status *status);
