/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pointer into a block names only a part of it: a member, the first of its elements, or the data
 * after a header. These rules find the type that holds the parts.
 */
#ifndef MPROF_INGEST_TYPES_ENCLOSING_RECORD_H
#define MPROF_INGEST_TYPES_ENCLOSING_RECORD_H

#include "ingest/types/flow/flow.h"

/*
 * Copies the flow without the places that name a part of another place's type. If one pointer leads
 * to a node and another one to the node's first member, the one to the node stays. If many kinds of
 * records begin with one head, the one to the kind stays. Only records that fit the block of `size`
 * bytes hold others.
 */
void types_enclosing_record_reduce(const struct types_site *site, const struct types_flow *flow,
                                   uint64_t size, struct types_flow *reduced);

/*
 * Finds the one record in the site's unit that is as large as the block after its first `offset`
 * bytes, and that has the named types at the places, at least one of them not at its start. Returns
 * false if there is none, or several.
 */
bool types_enclosing_record_find(const struct types_site *site, const struct types_flow *flow,
                                 uint64_t size, int64_t offset, struct types_type *record);

#endif
