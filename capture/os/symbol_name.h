/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out whether a symbol of an ELF file is the function that a user names.
 */
#ifndef MPROF_CAPTURE_OS_SYMBOL_NAME_H
#define MPROF_CAPTURE_OS_SYMBOL_NAME_H

#include <stdbool.h>

/*
 * Returns true if `symbol` is the function `wanted`. That is a symbol's name as the file has it, or
 * the name of a C++ function without its parameters: `Cache::load` stands for all overloads. Parts
 * that the compiler split off (name.part.0, name.cold) and versions (name@@V) are the function too.
 * Templates, constructors and operators must be named as in the file.
 */
bool symbol_name_is(const char *wanted, const char *symbol);

#endif
