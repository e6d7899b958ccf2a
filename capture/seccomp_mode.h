/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a seccomp filter was there before the program was.
 */
#ifndef MPROF_CAPTURE_SECCOMP_MODE_H
#define MPROF_CAPTURE_SECCOMP_MODE_H

#include <stdbool.h>

/*
 * Whether the calling thread is under a filter, or it cannot be told. Asked by nothing but opening,
 * reading and closing a file, as the loader does: prctl tells it too, but may be what is punished.
 * Where the kernel knows no filters there is none. To be called once, while there are no threads.
 */
bool seccomp_mode_is_set(void);

/* The same from a descriptor of /proc/PID/status, which is read to its end or to the answer. */
bool seccomp_mode_of(int descriptor);

#endif
