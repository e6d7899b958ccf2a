/* SPDX-License-Identifier: BSD-2-Clause */
/* The constructor and destructor of the library (library_init.c), and the steps of the constructor
 * that the files of the entry points do. */
#pragma once

#include <stdbool.h>

/* Sets the pointer of every loaded program and library that includes mprof.h. By now everything
 * that the program starts with is loaded. */
void api_bind(void);

/* Prints one line if C++ operators are not recorded and C++ code is loaded. */
void operator_new_warn(void);

/* Look up the real functions behind entry points that also run in signal handlers, in forked
 * children or under a seccomp filter. Later the filter may forbid it, or the loader's lock may
 * belong to a thread that a forked child does not have. In libmprof.so entry_process_resolve()
 * calls the last three. */
void entry_process_resolve(void);
void entry_confine_resolve(void);
void entry_close_resolve(void);
void entry_dlclose_resolve(void);
void entry_thread_name_resolve(void);

/* Returns true if exit() or quick_exit() have sealed the trace. */
bool library_has_ended(void);

/* Has quick_exit() seal the trace. Called once. */
void library_ends_at_quick_exit(void);
