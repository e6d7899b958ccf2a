/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry points that change or end the process, see entry_process.c.
 */
#ifndef MPROF_CAPTURE_ENTRY_PROCESS_H
#define MPROF_CAPTURE_ENTRY_PROCESS_H

/*
 * Looks up the functions behind them. Called by the constructor: later, in a forked child, the
 * loader's lock may be held by a thread that is no more.
 */
void entry_process_resolve(void);

/* The same, of entry_dlclose.c and entry_thread_name.c; not in libmprof.a. */
void entry_dlclose_resolve(void);
void entry_thread_name_resolve(void);

#endif
