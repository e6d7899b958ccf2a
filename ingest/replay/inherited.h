/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes frees of blocks that a forked process has inherited from its parent. */
#ifndef MPROF_INGEST_REPLAY_INHERITED_H
#define MPROF_INGEST_REPLAY_INHERITED_H

#include "ingest/replay/state.h"

/* A flag in `realloc_of` of a block: the block was made of an inherited one. The other bits are the
 * index + 1 of that one. */
#define REPLAY_OF_INHERITED (UINT64_C(1) << 63)

/*
 * Notes a free of a block that a forked process did not allocate itself. `block` is the entry of
 * its table at the address, which is not live. Returns the `realloc_of` for a block that is made of
 * it, or 0 if memory is exhausted.
 */
uint64_t replay_inherit(struct replay *replay, struct live_table *table, struct live_block *block,
                        const struct inherited_free *free);

/* Sets the row of the block that was made of an inherited one. */
void replay_inherited_became(struct replay *replay, uint64_t realloc_of, uint64_t row);

#endif
