/*
 * The PROCESS record: what program this is, written at the beginning of its trace.
 */
#ifndef MPROF_CAPTURE_PROCESS_RECORD_H
#define MPROF_CAPTURE_PROCESS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* In a forked child: the trace_id of the parent's trace, which the next record names. */
void process_record_set_parent(uint64_t trace_id);

/* Writes the record into `thread`'s chunk. False where there is no room. Guard held. */
bool process_record_write(struct thread *thread);

#endif
