/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks and snapshots: names that the program, or another process for it, puts into the trace.
 */
#ifndef MPROF_CAPTURE_RECORD_MARKS_H
#define MPROF_CAPTURE_RECORD_MARKS_H

#include <stdbool.h>

/* Sets the names of the marks at which recording begins and ends; "": none. Copies them. */
void marks_set(const char *start, const char *stop);

/* Puts a mark into the trace for the entry point of that frame, and begins or ends recording if
 * the mark is set to do so. Returns false if nothing is recorded. */
bool marks_put(const void *frame, const char *name);

/* Calls the program's callback, then puts a snapshot into the trace for the entry point of that
 * frame. Returns false if nothing is recorded. The caller must not hold the guard. */
bool marks_put_snapshot(const void *frame, const char *name);

/* Sets the callback that runs before each snapshot (mprof_on_snapshot()). It may be NULL. */
void marks_on_snapshot(void (*callback)(void *data), void *data);

#endif
