/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call chains: the numbered innermost frames of stacks that decide a block's type. Thousands of
 * stacks often share the one or two frames that the type rules look at.
 *
 * A chain is a shorter chain with one more frame outside it. The number of chains is limited. A
 * stack whose chain finds no room has none.
 */
#ifndef MPROF_INGEST_REPLAY_CALL_CHAINS_H
#define MPROF_INGEST_REPLAY_CALL_CHAINS_H

#include "ingest/base/array.h"
#include "ingest/types/types.h"

struct call_chain;

/* Empty if zero-initialized. */
struct call_chains {
    struct call_chain *rows; /* chain n is rows[n - 1] */
    size_t count, capacity;
    struct index_map by_frame;
};

void call_chains_free(struct call_chains *chains);

/*
 * Returns the number, from 1, of the chain of the `length` innermost frames of a stack with `count`
 * frames. A `length` above `count` means all frames and that the stack ends there. Returns 0 if
 * there is no room or `length` is 0.
 */
uint32_t call_chains_find(struct call_chains *chains, const struct types_frame *frames,
                          size_t count, size_t length);

/* Returns the length of the chain with that number, 0 for 0. */
size_t call_chains_length(const struct call_chains *chains, uint32_t number);

#endif
