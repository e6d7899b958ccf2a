/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the type of a block from the evidence about where its result went (types/flow/flow.h).
 */
#ifndef MPROF_INGEST_TYPES_CHOOSE_H
#define MPROF_INGEST_TYPES_CHOOSE_H

#include "ingest/types/flow/flow.h"
#include "ingest/types/source/choice.h"

/* Chooses by the evidence. `size` is the size asked of the allocator. */
void types_choose(const struct types_site *site, const struct types_flow *flow,
                  enum types_operator by, uint64_t size, struct types_choice *choice);

/*
 * Chooses by the declared return type of the function that the site calls. Such a function leaves
 * no frame of its own if it ends in a jump to the allocator.
 */
bool types_choose_called(const struct types_site *site, uint64_t size, struct types_choice *choice);

/*
 * Chooses a record with bytes after it, for a block that nothing else names or that pointers to
 * bytes point to. All other places of the result must name the record, no other record may begin
 * with it, and its size must not divide the block's.
 */
void types_choose_record_with_tail(const struct types_site *site, const struct types_flow *flow,
                                   uint64_t size, struct types_choice *choice);

#endif
