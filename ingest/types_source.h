/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The type that the source text of an allocation names: the operand of `sizeof`, the type of a
 * cast in front of the call, or what stands behind `new`. The name is looked up in the debug
 * information and its size compared with the block's.
 *
 * The text is used only where the file can be read and is not younger than the program.
 */
#ifndef MPROF_INGEST_TYPES_SOURCE_H
#define MPROF_INGEST_TYPES_SOURCE_H

#include "ingest/types_choose.h"

/*
 * The statement at the site's innermost line, for a block of `size` bytes of which `offset` stand
 * in front; in inlined functions that hand memory on without a type, the statement that calls them.
 * `front`: what receives the block may name a record that other bytes follow. True with `choice`
 * filled where one type is named that fits.
 */
bool types_source_choose(const struct types_site *site, enum types_operator by, uint64_t size,
                         int64_t offset, bool front, struct types_choice *choice);

/* True where the statement puts the block into a pointer to bytes; for what nothing else names. */
bool types_source_bytes(const struct types_site *site, uint64_t size, int64_t offset,
                        struct types_choice *choice);

/*
 * True where the statement keeps a block of a fixed number of bytes, as a pool does, in a pointer
 * to bytes or void: what stands at its start is the first piece of it. `choice` is what was found
 * so far: a type that fills the block, or of which the block is an array by its surroundings,
 * stays.
 */
bool types_source_pool(const struct types_site *site, uint64_t size, int64_t offset,
                       struct types_choice *choice);

#endif
