/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of one symbolizer. Each distinct string is kept once and lives until
 * symbols_strings_free(), so equal names are equal pointers. */
#pragma once

#include <stddef.h>

struct symbols_strings;

/* Returns NULL if memory is exhausted. */
struct symbols_strings *symbols_strings_new(void);
void symbols_strings_free(struct symbols_strings *strings);

/* Returns the kept copy of `text`, or "" if memory is exhausted. */
const char *symbols_strings_keep(struct symbols_strings *strings, const char *text);

/* Returns the kept, demangled form of `linkage_name` (C++, Rust, D, with parameters), or the kept
 * name itself if it is not mangled. */
const char *symbols_strings_demangle(struct symbols_strings *strings, const char *linkage_name);

/* Returns the kept form of a name that GNAT wrote as its source has it, "shop.stock.add" for
 * "shop__stock__add__2", or `name` itself, which must be kept. */
const char *symbols_strings_ada(struct symbols_strings *strings, const char *name);
