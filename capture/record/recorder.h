/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts recording: at the program's start, in a forked child, again after a stop. */
#pragma once

#include <stdbool.h>

/* Notes that the constructor has run: from here on the C library is ready for everything. */
void recorder_loaded(void);

/* Starts recording, unless it has been started or is off. The constructor and the first event call
 * it; the first of them starts. */
void recorder_start(void);

/* Starts in a process that runs already, whose calls do not come here yet (real_is_apart()). The
 * texts are those of MPROF_OPTIONS and MPROF_OUTPUT and must stay. The recording waits: the caller
 * changes the slots of modules first, then ends the wait (recorder_set_paused()). After a stop, or
 * an attempt that failed, it starts again. False, after one message, if nothing can be recorded;
 * false without a message if something is recorded already. */
bool recorder_start_apart(const void *frame, const char *options, const char *output);

/* Continues in a new trace after a stop: `path`, or the usual name if `path` is NULL. Waits for
 * threads that are recording an event. Does nothing if recording was never on. */
void recorder_restart(const void *frame, const char *path);

/* Marks and snapshots: names that the program, or another process for it, puts into the trace. */

/* Puts a mark into the trace for the entry point of that frame, and begins or ends recording if
 * the mark is set to do so. Returns false if nothing is recorded. */
bool marks_put(const void *frame, const char *name);

/* Calls the program's callback, then puts a snapshot into the trace for the entry point of that
 * frame. Returns false if nothing is recorded. The caller must not hold the guard. */
bool marks_put_snapshot(const void *frame, const char *name);

/* Sets the callback that runs before each snapshot (mprof_on_snapshot()). It may be NULL. */
void marks_on_snapshot(void (*callback)(void *data), void *data);
