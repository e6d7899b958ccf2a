/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library's constructor and destructor, see lifecycle.c.
 */
#ifndef MPROF_CAPTURE_LIFECYCLE_H
#define MPROF_CAPTURE_LIFECYCLE_H

#include <stdbool.h>

/* Whether the constructor has run: from then on the C library is ready for everything. */
bool lifecycle_has_begun(void);
/* Whether exit() or quick_exit() have sealed the trace. */
bool lifecycle_has_ended(void);

#endif
