/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports the modules that bypassed the recorder for a while or still do so, in the trace and in
 * the line at the end. Any thread may add one.
 */
#ifndef MPROF_CAPTURE_RECORD_UNHOOKED_REPORT_H
#define MPROF_CAPTURE_RECORD_UNHOOKED_REPORT_H

#include <stdbool.h>

#include "schemas/trace_layout.h"

struct thread;

/* Notes a module, once for each state and function. `function` is "", except for
 * TRACE_BYPASS_FUNCTION. */
void unhooked_report_add(const char *path, enum trace_bypass state, const char *function);

/* Writes the records that are not in the trace yet. Needs the guard held. */
void unhooked_report_put(struct thread *thread);
/* Returns true if there is something to write. */
bool unhooked_report_is_due(void);

/* Prepares a new trace: notes about modules that are not recorded are due again, those about
 * modules that were only late are not. */
void unhooked_report_new_trace(void);

/* Prints the line at the end, if there is something to say. */
void unhooked_report_say(void);

#endif
