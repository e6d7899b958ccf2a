/* SPDX-License-Identifier: BSD-2-Clause */
/* Gives a type's name one spelling for all compilers.
 *
 * gcc writes "vector<long unsigned int, std::allocator<long unsigned int> >" where clang writes
 * "vector<unsigned long, std::allocator<unsigned long> >". Both become "std::vector<unsigned long>"
 * here (with the namespace in front, which the caller gives). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the name in its one spelling: integer words in the usual order, `const` before the word
 * it qualifies, one space before `*` and `&`, no inline namespaces of the standard libraries, no
 * default template arguments of the standard library, no suffixes of literals. It leaves a name
 * that cannot be parsed as it is. The caller frees the result. NULL if memory is exhausted. */
char *types_spelling(const char *name);

/* Returns template argument `index` (from 0) of the outermost template of `name`, in its one
 * spelling. "std::allocator<int>" has "int". The caller frees it. NULL: there is none. */
char *types_spelling_argument(const char *name, unsigned index);

/* Returns true if it is a namespace of a standard library that its users do not write, because it
 * is inline, or has the containers of which those of libstdc++'s debug mode are made. */
bool types_spelling_is_inline_space(const char *name, size_t length);

/* Returns the part of `name` after its last "::" outside template arguments and parentheses.
 * `*length` is its length without template arguments. */
const char *types_spelling_last_part(const char *name, size_t *length);
