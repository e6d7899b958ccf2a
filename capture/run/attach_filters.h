/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out what the filters of system calls (seccomp) of a running process do to the loader and to
 * the recorder.
 */
#ifndef MPROF_CAPTURE_RUN_ATTACH_FILTERS_H
#define MPROF_CAPTURE_RUN_ATTACH_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads the filters of the process. `held` is a thread of it that this process has stopped. Writes
 * into `without` (`size` bytes, at least REQUIRED_CALLS_TEXT) which calls the recorder must leave
 * out; "" if there is no filter. False if nothing can be recorded: `why` holds one line. Call it
 * once in a process.
 */
bool attach_filters_read(pid_t process, pid_t held, char *without, size_t size, char *why,
                         size_t why_size);

#endif
