/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the names that Rust's compiler gives to functions: demangled as libiberty and rustfilt
 * write them, and as the linker knows them in the legacy and in the v0 form.
 *
 * A method of a trait is <Type as Trait>::method. Its code is in the crate of the trait if the
 * trait has a body for it, and otherwise in the crate of the `impl` block, which is that of the
 * type or of the trait. Only the v0 form tells which: rustc's symbol-mangling/v0.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "schemas/code/function_name.h"

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
