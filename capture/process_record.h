/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The PROCESS record: what program this is, written at the beginning of its trace.
 */
#ifndef MPROF_CAPTURE_PROCESS_RECORD_H
#define MPROF_CAPTURE_PROCESS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/*
 * What the next record says of where the process comes from: the trace_id of the parent's trace (0:
 * it was not forked), and stamps before and after the fork; 0 where one is not known.
 */
struct process_origin {
    uint64_t trace_id, before, after;
};
void process_record_set_origin(struct process_origin origin);

/* Writes the record into `thread`'s chunk. False where there is no room. Guard held. */
bool process_record_write(struct thread *thread);

#endif
