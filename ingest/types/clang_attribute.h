/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the type that the compiler itself states for an allocating call. clang 21 and later write
 * the allocated type of `new`, and of functions with an allocator attribute, as
 * DW_AT_LLVM_alloc_type of the call's DW_TAG_call_site.
 */
#ifndef MPROF_INGEST_TYPES_CLANG_ATTRIBUTE_H
#define MPROF_INGEST_TYPES_CLANG_ATTRIBUTE_H

#include "ingest/types/dwarf/site.h"
#include "ingest/types/source/choice.h"

/*
 * Chooses the type stated at the call that returns to the site. `size` is the size asked of the
 * allocator; the call's result is `offset` bytes after the start of the block. Returns false if no
 * type is stated, or the block is too small for it.
 */
bool types_attribute_choose(const struct types_site *site, enum types_operator by, uint64_t size,
                            int64_t offset, struct types_choice *choice);

#endif
