/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry points prctl() and syscall(), which keep the program's seccomp filters. */
#ifndef MPROF_CAPTURE_ENTRY_CONFINE_H
#define MPROF_CAPTURE_ENTRY_CONFINE_H

/* Looks up the real functions. Called when the library starts, since later the filter may forbid
 * it. */
void entry_confine_resolve(void);

#endif
