/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace as text: `mprof-ingest --dump`.
 *
 * One line a record, in file order or merged by time:
 *
 *     @OFFSET thread N TICKS NAME key value key value …
 *
 * OFFSET is the record's first byte in the file, TICKS the coding state's clock behind the
 * record. Addresses are hexadecimal, strings quoted with \xNN for what is not printable ASCII.
 * In file order a `file` line stands first, a `chunk` line before each chunk's records, and a
 * `damage` line wherever bytes are lost.
 */
#ifndef MPROF_INGEST_TRACE_DUMP_H
#define MPROF_INGEST_TRACE_DUMP_H

#include <stdio.h>

#include "ingest/trace_file.h"

/* The `file` line. */
void trace_dump_header(FILE *out, const struct trace_file *file);

/* The whole trace in file order. False with `status` set where memory is exhausted. */
bool trace_dump_file(FILE *out, const struct trace_file *file, struct ingest_status *status);

/*
 * Only the events, merged by time as replay sees them: a realloc is two lines, each with the part
 * of it that happens then. TICKS is the event's own time.
 */
bool trace_dump_by_time(FILE *out, const struct trace_file *file, struct ingest_status *status);

#endif
