/* SPDX-License-Identifier: BSD-2-Clause */
/* Says where mprof-run puts a trace. */
#ifndef MPROF_CAPTURE_RUN_TRACE_PLACE_H
#define MPROF_CAPTURE_RUN_TRACE_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Writes the trace's absolute path (PATH_MAX bytes): `requested`, or if that is NULL the first free
 * mprof.PROGRAM.PID.bin in the working directory. Returns false if it is too long.
 */
bool trace_place_name(const char *requested, const char *program, pid_t process, char *trace);

#endif
