/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call chains that decide a block's type: the innermost frames of stacks, numbered. Thousands
 * of stacks often share the one or two frames that the type rules look at.
 *
 * A chain is a frame behind a shorter chain. Only so many chains are kept; a stack whose chain
 * finds no room has none.
 */
#ifndef MPROF_INGEST_CALL_CHAINS_H
#define MPROF_INGEST_CALL_CHAINS_H

#include "ingest/array.h"
#include "ingest/types.h"

struct call_chain;

/* Zero-initialised is empty. */
struct call_chains {
    struct call_chain *rows; /* of number - 1 */
    size_t count, capacity;
    struct index_map by_frame;
};

void call_chains_free(struct call_chains *chains);

/*
 * The number, from 1, of the chain of the `length` innermost frames of a stack that has `count`.
 * A `length` beyond `count` means all frames and that the stack ends there. 0: there is no room, or
 * `length` is 0.
 */
uint32_t call_chains_find(struct call_chains *chains, const struct types_frame *frames,
                          size_t count, size_t length);

/* The length of the chain with that number; 0 for 0. */
size_t call_chains_length(const struct call_chains *chains, uint32_t number);

#endif
