/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out whether a seccomp filter was installed before the program started.
 */
#ifndef MPROF_CAPTURE_OS_SECCOMP_MODE_H
#define MPROF_CAPTURE_OS_SECCOMP_MODE_H

#include <stdbool.h>

/*
 * Tells whether the calling thread is under a filter, or that cannot be found out. It only opens,
 * reads and closes a file, as the loader does. prctl gives the answer too, but a filter may punish
 * that call. If the kernel knows no filters, there is none. Call it once, while there are no
 * threads.
 */
bool seccomp_mode_is_set(void);

/* Does the same with a descriptor of /proc/PID/status, which it reads up to the answer. */
bool seccomp_mode_of(int descriptor);

#endif
