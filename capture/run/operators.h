/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out whether libmprof_operators.so is needed beside the recorder (see cxx_operators.c).
 */
#ifndef MPROF_CAPTURE_RUN_OPERATORS_H
#define MPROF_CAPTURE_RUN_OPERATORS_H

#include <stdbool.h>

/*
 * Returns true if the ELF file `binary` is a C++ program that runs with a library that has both
 * malloc and C++'s operators, linked or preloaded. It asks the loader what it would load, and runs
 * none of that. Returns false also if that cannot be found out.
 */
bool run_operators_are_needed(const char *binary);

#endif
