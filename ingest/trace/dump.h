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

#include <stdio.h>

#include "ingest/trace/file.h"

/* Writes the whole trace in file order. False with `status` set if memory is exhausted. */
bool trace_dump_file(FILE *out, const struct trace_file *file, struct ingest_status *status);

/* Writes only the events, merged by time as replay sees them. A realloc is two lines, one for each
 * half. TICKS is the event's own time. */
bool trace_dump_by_time(FILE *out, const struct trace_file *file, struct ingest_status *status);
