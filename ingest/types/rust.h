/* SPDX-License-Identifier: BSD-2-Clause */
/* Types of blocks that Rust programs make through the containers of their library.
 *
 * The frames from the allocator outward to the first function of the program are those of the
 * library. The innermost one that names its T decides: RawVec<T>, Vec<T>, VecDeque<T>, Box<T>,
 * hashbrown's RawTable<T>. T is a template argument in the debug information, or else a part of the
 * name, if the linker has it in the v0 form.
 *
 * LLVM merges functions with the same code from opt-level 2 on and may leave no trace of the one
 * that is gone. So an answer is exact only if the function of the frame was not optimized: it keeps
 * all its variables on the stack. */
#pragma once

#include "ingest/types/dwarf/site.h"

/* Returns true if Rust's compiler made the function of the machine frame. */
bool types_is_rust(const struct types_site *site);

/* Returns true if the function of the machine frame only gets memory for its caller. */
bool types_is_rust_allocator(const struct types_site *site);

/* Returns true if the function of that frame of the site does, inlined or not. */
bool types_is_rust_allocator_at(const struct types_site *site, size_t frame);

/* Returns true if Rust's compiler wrote the entry. */
bool types_is_rust_type(const Dwarf_Die *die);

/* Returns true if a crate of that name belongs to Rust's library. NULL: none. */
bool types_is_rust_library(const char *crate);

/* Returns true if the code of the machine frame's function cannot be that of another one. */
bool types_is_rust_certain(const struct types_site *site);

struct types_rust {
    char *name;             /* of the type; the caller frees it. NULL: the frames name none */
    char *element;          /* what a table holds, or NULL; the caller frees it */
    uint64_t size;          /* of the type in bytes, 0: unknown */
    struct types_type type; /* if `site` is not NULL */
    bool defined;           /* `type`, `file` and `module` say where the type is defined */
    const struct symbols_file *file;
    uint32_t module;
    bool exact; /* the confidence */
    bool far;   /* frames further out were read */
};

/* Opens the frame `number` frames outside the site's, or NULL. Valid until the next call. */
typedef const struct types_site *types_rust_open(void *context, size_t number);

/* Names the type of a block of `size` bytes. */
void types_rust_read(const struct types_site *site, types_rust_open *open, void *context,
                     uint64_t size, struct types_rust *found);
