/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether libmprof_operators.so is needed beside the recorder (see cxx_operators.c).
 */
#ifndef MPROF_CAPTURE_RUN_OPERATORS_H
#define MPROF_CAPTURE_RUN_OPERATORS_H

#include <stdbool.h>

/*
 * Whether the ELF file `binary` is of C++ and is run with a library that has both malloc and C++'s
 * operators, linked or preloaded. The loader is asked what it would load; nothing of it is run.
 * False also where that cannot be told.
 */
bool run_operators_are_needed(const char *binary);

#endif
