/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry points that change or end the process, see process.c.
 */
#ifndef MPROF_CAPTURE_ENTRY_PROCESS_H
#define MPROF_CAPTURE_ENTRY_PROCESS_H

/*
 * Looks up the real functions. The constructor calls it: later, in a forked child, the loader's
 * lock may belong to a thread that the child does not have.
 */
void entry_process_resolve(void);

/* Do the same for dlclose.c and thread_name.c. They are not in libmprof.a. */
void entry_dlclose_resolve(void);
void entry_thread_name_resolve(void);

#endif
