/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the names of functions as a demangler writes them, and compares them with patterns. */
#pragma once

#include <stdbool.h>

/* A part of a text: [begin, end). */
struct function_name {
    const char *begin, *end;
};

/* Returns a demangled name without what the demangler adds: the parameter list and, for templates,
 * the return type before the name. The result points into `name`. */
struct function_name function_name_bare(const char *name);

/* Returns true if the whole name matches. '*' in the pattern matches any characters, at any place.
 */
bool function_name_matches(const char *pattern, struct function_name name);

/* Returns true if a function clears (schemas/filter-language.md, "Outlived"): its own name has one
 * of the words clear, empty and reset: the name without parameters, classes and template arguments.
 * A word is a part as in clear_all, ClearAll, doClear or CLEAR, and neither of "cleared" nor of
 * "unclear". */
bool function_name_clears(const char *name);
