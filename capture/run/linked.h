/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out whether a program brings a runtime along. */
#ifndef MPROF_CAPTURE_RUN_LINKED_H
#define MPROF_CAPTURE_RUN_LINKED_H

#include <stdbool.h>

/* Tells whether the ELF file `binary` exports the function, or is linked with a library whose name
 * begins so. Not if it loads the library while it runs. */
bool run_is_linked(const char *binary, const char *function, const char *library);

#endif
