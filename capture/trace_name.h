/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of trace files: the base that was asked for, and those of the other processes of a run,
 * which lie in one folder beside it.
 */
#ifndef MPROF_CAPTURE_TRACE_NAME_H
#define MPROF_CAPTURE_TRACE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define TRACE_NAME_SIZE 4096u

/*
 * Makes `path` absolute in `name` (TRACE_NAME_SIZE bytes), since the program may change its
 * directory; NULL or "" gives mprof.PROGRAM.PID.bin in the working directory. False where the
 * name is too long or the directory unknown.
 */
bool trace_name_base(const char *path, char *name);

/* The folder of the other processes' traces. False where its name does not fit. */
bool trace_name_folder(const char *base, char *name);

/*
 * The name to try: attempt 0 is the base itself, 1 is BASE.d/PID, 2 and up BASE.d/PID.2, ….
 * Without `in_folder`, where that cannot be made: BASE.PID, BASE.PID.2, …. False where it does not
 * fit.
 */
bool trace_name_attempt(const char *base, int pid, unsigned attempt, bool in_folder, char *name);

#endif
