/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks up the real functions behind the entry points that also run in signal handlers, in forked
 * children or under a seccomp filter. The constructor does it. Later the filter may forbid it, or
 * the loader's lock may belong to a thread that a forked child does not have.
 */
#ifndef MPROF_CAPTURE_ENTRY_RESOLVE_H
#define MPROF_CAPTURE_ENTRY_RESOLVE_H

/* For process.c, and in libmprof.so also for the three files below. */
void entry_process_resolve(void);

/* For prctl() and syscall(), which keep the program's seccomp filters. */
void entry_confine_resolve(void);

/* For close.c, dlclose.c and thread_name.c. */
void entry_close_resolve(void);
void entry_dlclose_resolve(void);
void entry_thread_name_resolve(void);

#endif
