/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the processes of the run in which no recorder is: executed by a system call that the
 * recorder does not see, or by a program that has none. Each gets a trace that says so
 * (trace_name.h).
 *
 * The kernel tells of each program that is executed, and of its files with code, where perf events
 * are allowed. Nothing stops for that. Elsewhere mprof-run looks at the processes now and then, and
 * programs that run for less than a second may be missed. */
#pragma once

#include <sys/types.h>

struct run_escapes;

/* Begins to listen, just before the fork of the run's first process. NULL without memory. */
struct run_escapes *run_escapes_new(void);

/* Names the run's first process. */
void run_escapes_begin(struct run_escapes *escapes, pid_t process);

/* Returns a descriptor to poll for reading, or -1. */
int run_escapes_descriptor(const struct run_escapes *escapes);

/* Notes programs that have ended, and looks at others if it is time. `trace`: the absolute name of
 * the first trace. Returns the milliseconds until the next look. */
int run_escapes_step(struct run_escapes *escapes, const char *trace);

/* Notes the programs that have ended since then, and releases all. Accepts NULL. */
void run_escapes_free(struct run_escapes *escapes, const char *trace);
