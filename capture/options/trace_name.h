/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of trace files: the base that was asked for, and the names for the other processes of a
 * run, which lie in one folder beside it.
 */
#ifndef MPROF_CAPTURE_OPTIONS_TRACE_NAME_H
#define MPROF_CAPTURE_OPTIONS_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define TRACE_NAME_SIZE 4096u

/*
 * Makes `path` absolute in `name` (TRACE_NAME_SIZE bytes), because the program may change its
 * directory. NULL or "" gives mprof.PROGRAM.PID.bin in the working directory. Returns false if the
 * name is too long or the directory is unknown.
 */
bool trace_name_base(const char *path, char *name);

/* Names the folder of the other processes' traces. Returns false if the name does not fit. */
bool trace_name_folder(const char *base, char *name);

/*
 * Names the file for one attempt: 0 is the base itself, 1 is BASE.d/PID, 2 and up BASE.d/PID.2, ….
 * Without `in_folder`, if the folder cannot be made: BASE.PID, BASE.PID.2, …. Returns false if the
 * name does not fit.
 */
bool trace_name_attempt(const char *base, int pid, unsigned attempt, bool in_folder, char *name);

#endif
