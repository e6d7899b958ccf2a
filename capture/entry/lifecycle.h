/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The constructor and destructor of the library, see lifecycle.c.
 */
#ifndef MPROF_CAPTURE_ENTRY_LIFECYCLE_H
#define MPROF_CAPTURE_ENTRY_LIFECYCLE_H

#include <stdbool.h>

/* Tells whether exit() or quick_exit() have sealed the trace. */
bool lifecycle_has_ended(void);

#endif
