/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the type that the source text of an allocation names: the operand of `sizeof`, the type of
 * a cast before the call, or the type after `new`. It looks up the name in the debug information
 * and compares its size with the block's.
 *
 * The text is used only if the file can be read and is not newer than the program.
 */
#ifndef MPROF_INGEST_TYPES_SOURCE_SOURCE_H
#define MPROF_INGEST_TYPES_SOURCE_SOURCE_H

#include "ingest/types/dwarf/site.h"
#include "ingest/types/source/choice.h"

/*
 * Chooses by the statement at the site's innermost line, for a block of `size` bytes with `offset`
 * bytes before the first element. For inlined functions that hand memory on without a type, it uses
 * the statement that calls them. `front`: the assignment's target may name a record with other
 * bytes after it. Returns true and fills `choice` if exactly one named type fits.
 */
bool types_source_choose(const struct types_site *site, enum types_operator by, uint64_t size,
                         int64_t offset, bool front, struct types_choice *choice);

/*
 * Returns true if the statement puts the block into a pointer to bytes. For a block that nothing
 * else names.
 */
bool types_source_bytes(const struct types_site *site, uint64_t size, int64_t offset,
                        struct types_choice *choice);

/*
 * Returns true if the statement keeps a block of a fixed number of bytes in a pointer to bytes or
 * void, as a pool does. The type at its start is then only that of the first piece. `choice` is the
 * result so far. A type that fills the block, or that the code around it makes the element of an
 * array, stays.
 */
bool types_source_pool(const struct types_site *site, uint64_t size, int64_t offset,
                       struct types_choice *choice);

#endif
