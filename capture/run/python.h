/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds out whether a program brings CPython along. */
#ifndef MPROF_CAPTURE_RUN_PYTHON_H
#define MPROF_CAPTURE_RUN_PYTHON_H

#include <stdbool.h>

/* Tells whether the ELF file `binary` exports CPython's functions, or is linked with its library.
 * Not if it loads the library while it runs. */
bool run_python_is_linked(const char *binary);

#endif
