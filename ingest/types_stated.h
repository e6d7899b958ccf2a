/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the compiler itself says about an allocating call: clang 21 and later write the allocated
 * type of `new` and of functions with an allocator attribute at the call, as DW_AT_LLVM_alloc_type
 * of the DW_TAG_call_site.
 */
#ifndef MPROF_INGEST_TYPES_STATED_H
#define MPROF_INGEST_TYPES_STATED_H

#include "ingest/types_choose.h"

/*
 * The type stated at the call that returns to the site. `size` was asked of the allocator, the
 * call's result is `offset` bytes behind the block's start. False where none is stated, or the
 * block is too small for one.
 */
bool types_stated_choose(const struct types_site *site, enum types_operator by, uint64_t size,
                         int64_t offset, struct types_choice *choice);

#endif
