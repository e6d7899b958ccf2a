/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PROCESS record, which says what program this is. It is written at the beginning of its trace.
 */
#ifndef MPROF_CAPTURE_RECORD_PROCESS_RECORD_H
#define MPROF_CAPTURE_RECORD_PROCESS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/*
 * The origin of the process, for the next record: the trace_id of the parent's trace (0 if the
 * process was not forked), and stamps before and after the fork (0 if not known).
 */
struct process_origin {
    uint64_t trace_id, before, after;
};
void process_record_set_origin(struct process_origin origin);

/* Writes the record into `thread`'s chunk. Returns false if there is no room. The caller holds the
 * guard. */
bool process_record_write(struct thread *thread);

#endif
