/* SPDX-License-Identifier: BSD-2-Clause */
/* prctl() and syscall(), which keep the program's seccomp filters. */
#ifndef MPROF_CAPTURE_ENTRY_CONFINE_H
#define MPROF_CAPTURE_ENTRY_CONFINE_H

/* Looks up the real functions; at the library's start, since later a lookup may not be allowed. */
void entry_confine_resolve(void);

#endif
