/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the type of a block from the sizeof operators in its source statement, and from the type
 * that a macro gets there.
 */
#ifndef MPROF_INGEST_TYPES_SOURCE_SIZEOF_H
#define MPROF_INGEST_TYPES_SOURCE_SIZEOF_H

#include "ingest/types/dwarf/site.h"
#include "ingest/types/source/choice.h"

/*
 * Chooses by sizeof. `size` is the size asked of the allocator; the statement's pointer is `offset`
 * bytes after the start of the block. If it returns true, choice->type and choice->one_object are
 * set.
 *
 * A sizeof that is multiplied gives the element, if all of them in the statement name one type and
 * its size divides the block. A record's sizeof to which something is added gives the type at the
 * start of the block. Any other sizeof in a sum tells nothing: "length + sizeof(void *)".
 */
bool types_sizeof_choose(const struct types_site *site, const char *text, uint64_t size,
                         int64_t offset, struct types_choice *choice);

/*
 * Returns true if a sizeof in the statement names `record`, no matter to what it is added or
 * whether a macro adds it.
 */
bool types_sizeof_names(const struct types_site *site, const char *text,
                        const struct types_type *record);

/*
 * Chooses by "luaM_newvector(L, n, Node)". Functions take no types, so this is a macro. The only
 * type it gets is that of the elements, if its size divides the block.
 */
bool types_macro_choose(const struct types_site *site, const char *text, uint64_t size,
                        int64_t offset, struct types_choice *choice);

#endif
