/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The type of a block by the sizeof operators of its source statement, and by the type that is
 * handed to a macro there.
 */
#ifndef MPROF_INGEST_TYPES_SIZEOF_H
#define MPROF_INGEST_TYPES_SIZEOF_H

#include "ingest/types_choose.h"

/*
 * `size` was asked of the allocator, the statement's pointer is `offset` bytes behind the block's
 * start. True: choice->type and choice->single are set.
 *
 * A sizeof that is multiplied says what an element is, where all of the statement name one type
 * and its size divides the block. A record's that is added to something says what the block begins
 * with. Any other sizeof in a sum says nothing: "length + sizeof(void *)".
 */
bool types_sizeof_choose(const struct types_site *site, const char *text, uint64_t size,
                         int64_t offset, struct types_choice *choice);

/*
 * True where a sizeof of the statement names `record`: what it is added to, or whether a macro adds
 * it, is not asked.
 */
bool types_sizeof_names(const struct types_site *site, const char *text,
                        const struct types_type *record);

/*
 * "luaM_newvector(L, n, Node)": functions take no types, so that it is a macro, and the only type
 * it is given is that of the elements where its size divides the block.
 */
bool types_macro_choose(const struct types_site *site, const char *text, uint64_t size,
                        int64_t offset, struct types_choice *choice);

#endif
