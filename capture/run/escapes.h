/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks now and then for processes of the run in which no recorder is: executed by a system call
 * that the recorder does not see, or by a program that has none. Each gets a trace that says so
 * (unrecorded.h).
 *
 * A process counts if it runs the same program in two looks and maps neither the recorder nor a
 * trace. So programs that run for less than a second may be missed.
 */
#ifndef MPROF_CAPTURE_RUN_ESCAPES_H
#define MPROF_CAPTURE_RUN_ESCAPES_H

#include <sys/types.h>

struct run_escapes;

/* Begins with the run's first process. NULL if there is no memory. */
struct run_escapes *run_escapes_new(pid_t process);

/* Looks if it is time. `trace`: the absolute name of the first trace. Returns the milliseconds
 * until the next look. */
int run_escapes_step(struct run_escapes *escapes, const char *trace);

void run_escapes_free(struct run_escapes *escapes);

#endif
