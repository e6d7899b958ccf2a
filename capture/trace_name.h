/*
 * Names of trace files: the base that was asked for, and the free names beside it.
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

/*
 * The name to try: attempt 0 is the base itself, 1 is BASE.PID, 2 and up BASE.PID.2, ….
 * False where it does not fit.
 */
bool trace_name_attempt(const char *base, int pid, unsigned attempt, char *name);

#endif
