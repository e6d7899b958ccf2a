/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The modules that went past the recorder for a while or do so still: what the trace and the line
 * at the end say of them. Any thread may add one.
 */
#ifndef MPROF_CAPTURE_BYPASS_REPORT_H
#define MPROF_CAPTURE_BYPASS_REPORT_H

#include <stdbool.h>

#include "schemas/trace_layout.h"

struct thread;

/* Notes a module; the same one under the same state is noted once. */
void bypass_report_add(const char *path, enum trace_bypass state);

/* Writes the records that are not in the trace yet. The thread holds the guard. */
void bypass_report_put(struct thread *thread);
/* Whether there is something to write. */
bool bypass_report_is_due(void);

/* A new trace begins: what was late is past, what is not recorded is to be said again. */
void bypass_report_restart(void);

/* The line at the end; none where there is nothing to say. */
void bypass_report_say(void);

#endif
