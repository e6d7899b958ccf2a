/* SPDX-License-Identifier: BSD-2-Clause */
/* Begins, pauses, resumes and ends recording in a trace that is open. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/record/thread.h"
#include "schemas/trace_layout.h"

/* Begins recording if it has not begun. The calling thread holds the guard. */
void recorder_begin(struct thread *thread);

/* Pauses or resumes. Returns false if nothing changes or nothing is recorded. */
bool recorder_set_paused(const void *frame, bool paused);

/* Makes each count-th allocation a snapshot, in this trace and in those of mprof_restart(). */
void recorder_set_autosave(const void *frame, uint64_t count);

/* Write the first records of each trace, also of one that goes on with another: the process, then
 * the settings in force. recorder_put_process() returns false if there is no room. The calling
 * thread holds the guard. */
bool recorder_put_process(struct thread *thread);
void recorder_put_settings(struct thread *thread, bool paused);

/* Seals the trace: END record, clock pair, sums. Events that come later are still recorded.
 * Does nothing in a vfork child, which shares its parent's memory and must not touch its trace.
 * recorder_end_undone() takes it back after an exec that failed. */
void recorder_end(const void *frame, enum trace_end_reason reason);
void recorder_end_undone(void);

/* Has mprof-run take the references of this process, and waits for it: no longer if it is gone or
 * stopped, or makes no progress for a second. Takes no lock, and a signal handler may call it. Does
 * nothing if nobody wants them. references_await_mark() does so if this is the mark for it. */
void references_await(enum trace_references_reason reason);
void references_set_mark(const char *name);
/* Asks for them also when a fault or abort() ends the process, where the program has no handler of
 * its own. The process ends by the same signal as without this. */
void references_take_faults(void);
void references_await_mark(const char *name);

/* Ends recording in this process because the program asks for it. Children do not record either. */
void recorder_stop(const void *frame);

struct thread;

/* Sets whether program_suppressions_ask() does anything. At first it does nothing. */
void program_suppressions_want(bool wanted);

/* Calls the function and writes its text, or why there is none, into the trace. Waits at most two
 * seconds for it. The calling thread must not hold the guard. */
void program_suppressions_ask(void);

/* Writes what is known by now into a trace that begins. The thread holds the guard. */
void program_suppressions_put(struct thread *thread);
