/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a symbol of an ELF file is the function that a user names.
 */
#ifndef MPROF_CAPTURE_SYMBOL_NAME_H
#define MPROF_CAPTURE_SYMBOL_NAME_H

#include <stdbool.h>

/*
 * `wanted` is a symbol's name as the file has it, or that of a C++ function without its parameters,
 * `Cache::load`, which stands for all overloads. Parts that the compiler split off (name.part.0,
 * name.cold) and versions (name@@V) are the function too. Templates, constructors and operators
 * have to be named as the file does.
 */
bool symbol_name_is(const char *wanted, const char *symbol);

#endif
