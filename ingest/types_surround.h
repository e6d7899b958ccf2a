/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pointers into a block name parts of what stands there: a member, the first of its elements, what
 * follows a header. These rules find what holds the parts.
 */
#ifndef MPROF_INGEST_TYPES_SURROUND_H
#define MPROF_INGEST_TYPES_SURROUND_H

#include "ingest/types_choose.h"

/*
 * Copies the flow without the places that name a part of what another place names: of a pointer to
 * a node and one to the node's first member that of the node stays, and where many kinds of records
 * begin with one head, that of the kind. Only records that fit the block of `size` bytes hold
 * others.
 */
void types_surround_reduce(const struct types_site *site, const struct types_flow *flow,
                           uint64_t size, struct types_flow *reduced);

/*
 * The one record of the site's unit, of the size of the block behind its first `offset` bytes, that
 * has what the places name where they name it, at least one of them not at its start. False where
 * there is none or several.
 */
bool types_surround_record(const struct types_site *site, const struct types_flow *flow,
                           uint64_t size, int64_t offset, struct types_type *record);

#endif
