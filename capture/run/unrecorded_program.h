/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the trace of a program that runs without the recorder (trace-format.md, "Unrecorded
 * programs"). */
#ifndef MPROF_CAPTURE_RUN_UNRECORDED_PROGRAM_H
#define MPROF_CAPTURE_RUN_UNRECORDED_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Returns why the program of the trace is not recorded (enum trace_unrecorded); 0 if it is, or for
 * another file. Then writes its path (`size` bytes). *unnamed gets how many programs it has
 * executed that have no trace. Both may be NULL.
 */
uint32_t unrecorded_program_read(const char *trace, char *path, size_t size, uint32_t *unnamed);
bool unrecorded_program_is(const char *trace);

/* Returns true if the process runs the program of the open trace now. */
bool unrecorded_program_runs(int descriptor, pid_t process);

#endif
