/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/call_chains.h"

#include <stdlib.h>

/* They take 10 MiB with their hash table. */
enum { CHAINS = 1 << 18 };

struct call_chain {
    uint64_t pc;
    uint32_t module;
    uint32_t inner; /* number of the chain without this frame; 0: this frame is the innermost */
    uint32_t length;
};

/* The mark that comes after the outermost frame in the chain of a whole stack. */
static const struct types_frame end_of_stack = {UINT32_MAX, UINT64_MAX};

void call_chains_free(struct call_chains *chains)
{
    free(chains->rows);
    index_map_free(&chains->by_frame);
    *chains = (struct call_chains){0};
}

/* Returns the number of the chain that extends `inner` by one frame. */
static uint32_t extend(struct call_chains *chains, uint32_t inner, const struct types_frame *frame)
{
    uint64_t hash = hash_combine(hash_combine(hash_seed() ^ inner, frame->pc), frame->module);
    size_t probe = index_map_begin(&chains->by_frame, hash);
    uint32_t index;
    while ((index = index_map_next(&chains->by_frame, hash, &probe)) != INDEX_NONE) {
        const struct call_chain *chain = &chains->rows[index];
        if (chain->pc == frame->pc && chain->module == frame->module && chain->inner == inner)
            return index + 1;
    }
    if (chains->count == CHAINS ||
        !array_reserve(&chains->rows, &chains->capacity, chains->count + 1,
                       sizeof(*chains->rows)) ||
        !index_map_insert(&chains->by_frame, hash, (uint32_t)chains->count))
        return 0;
    chains->rows[chains->count++] =
        (struct call_chain){.pc = frame->pc,
                            .module = frame->module,
                            .inner = inner,
                            .length = (uint32_t)call_chains_length(chains, inner) + 1};
    return (uint32_t)chains->count;
}

uint32_t call_chains_find(struct call_chains *chains, const struct types_frame *frames,
                          size_t count, size_t length)
{
    uint32_t number = 0;
    for (size_t i = 0; i < length; i++) {
        number = extend(chains, number, i < count ? &frames[i] : &end_of_stack);
        if (number == 0 || i == count)
            break;
    }
    return number;
}

size_t call_chains_length(const struct call_chains *chains, uint32_t number)
{
    return number == 0 ? 0 : chains->rows[number - 1].length;
}
