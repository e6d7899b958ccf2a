/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the names of functions as a demangler writes them, and compares them with patterns. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

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

/* ---- Rust ----------------------------------------------------------------------------------- */

/* Returns true if Rust's compiler made the name: _R…, or the older _ZN…17h<16 digits>E. NULL: it
 * did not. */
bool rust_name_is(const char *linkage_name);

/* The paths that tell in which crate a function may be, one or two: "alloc::vec::Vec<T>>::push" of
 * "<alloc::vec::Vec<T>>::push", or a crate alone. They point into the names. */
struct rust_paths {
    struct function_name paths[2];
    size_t count;
};

/* Reads a bare name (function_name_bare()) that Rust's compiler made. */
struct rust_paths rust_name_paths(struct function_name name, const char *linkage_name);

/* Returns true if all paths are in a crate or module of the list, whose words such as "core" or
 * "std::collections" end with NULL. */
bool rust_paths_are_in(const struct rust_paths *paths, const char *const *modules);

/* Returns true if the function only gets memory for its caller: the allocators, and what the crates
 * `alloc` and `core` and the collections of `std` do for the code that uses them. `name` is
 * demangled. */
bool rust_name_is_allocator(const char *name, const char *linkage_name);
