/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The constructor and destructor of the library, see library_init.c.
 */
#ifndef MPROF_CAPTURE_ENTRY_LIBRARY_INIT_H
#define MPROF_CAPTURE_ENTRY_LIBRARY_INIT_H

#include <stdbool.h>

/* Returns true if exit() or quick_exit() have sealed the trace. */
bool library_has_ended(void);

/* Has quick_exit() seal the trace. Called once. */
void library_ends_at_quick_exit(void);

#endif
