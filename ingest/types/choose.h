/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the type of a block from the evidence about where its result went (types/flow/flow.h). */
#pragma once

#include "ingest/types/dwarf/site.h"
#include "ingest/types/flow/flow.h"
#include "ingest/types/sites.h"
#include "ingest/types/source/source.h"

/* Applies all rules about one frame that no function's name answers, in their order. */

/* Decides the type of the block, or that the caller must be asked (`choice->wrapper`). In the
 * second case it also sets whether the question is headed from now on. */
void types_decide(const struct types_site *site, const struct types_flow *flow,
                  struct types_question *question, struct types_choice *choice);

/* Returns "count(int) frame" for the frame of the coroutine whose symbol has `length` bytes. The
 * caller frees it. NULL: memory is exhausted. */
char *types_frame_name(struct symbols *symbols, const char *linkage, size_t length);

/* ---- languages ----------------------------------------------------------------------------- */

/* Types that the debug information of languages other than C and C++ names for a block, but that
 * are not the block's. */

/* Returns true if the site's function is Ada's: GNAT writes the names of types. */
bool types_language_is_ada(const struct types_site *site);

/* Returns true if the block of `size` bytes is not known to be of the type that the code of the
 * site names. `opaque` says that a library without debug information made it.
 * - Free Pascal's library has no unwind tables, so that the site may be another function's.
 * - GNAT writes bounds and tags as records before a block's data.
 * - In Objective-C and D one function of the runtime makes objects of all classes, and the pointer
 *   may be to a base class.
 * - All sequences of Nim begin with one header. */
bool types_language_denies(const struct types_site *site, const struct types_type *type,
                           const char *name, uint64_t size, bool opaque);
