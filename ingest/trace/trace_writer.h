/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a trace of one thread into a file without a name, for ingest to read like any other.
 *
 * Order of calls: trace_writer_new(), the records in the order of time, trace_writer_finish(),
 * trace_writer_free(). Times are nanoseconds since the start; a record without one has the time of
 * the event before it. Every function returns false if the file cannot be written;
 * trace_writer_finish() says why. Memory holds one chunk. */
#pragma once

#include <stdint.h>

#include "ingest/base/status.h"

/* Longer names and command lines cannot be written. */
#define TRACE_WRITER_TEXT_MAX 4096u

struct trace_writer;

/* `session`: the file lies in this file's folder. NULL with `status` set. */
struct trace_writer *trace_writer_new(const char *session, struct ingest_status *status);
void trace_writer_free(struct trace_writer *writer);

/* Writes a frame at the return address `value` (relative to the module's `bias`, absolute for
 * module 0). Numbers of nodes count up from 1; `parent` 0: the outermost frame. */
bool trace_writer_node(struct trace_writer *writer, uint32_t id, uint32_t parent, uint32_t module,
                       uint64_t value);
bool trace_writer_alloc(struct trace_writer *writer, uint64_t ns, uint64_t address, uint64_t size,
                        uint32_t stack);
bool trace_writer_free_block(struct trace_writer *writer, uint64_t ns, uint64_t address);

bool trace_writer_module(struct trace_writer *writer, uint32_t id, const char *path, uint64_t bias,
                         uint64_t start, uint64_t end);
bool trace_writer_module_end(struct trace_writer *writer, uint32_t id);
bool trace_writer_resident(struct trace_writer *writer, uint64_t ns, uint64_t bytes);

/* Writes the process: its command line, in which spaces separate arguments, and its executable.
 * Either may be "". Longer ones are cut. */
bool trace_writer_process(struct trace_writer *writer, const char *command, const char *executable);

/* Ends the trace `ns` after its start. Returns its descriptor to close, or -1 with `status` set. */
int trace_writer_finish(struct trace_writer *writer, uint64_t ns, uint32_t page_size,
                        struct ingest_status *status);
