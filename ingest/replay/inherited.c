/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notes frees of inherited blocks.
 *
 * A forked process owns a copy of the blocks that were live in its parent. Only the parent's trace
 * has those blocks, and that trace may be read later, or never. So the first free of an address
 * that the process did not get from its own allocator is noted here, with all that is needed to
 * find the parent's block when both traces are in one session (ingest/write/inherited.h). From then
 * on the address counts as freed, so the next free of it is a double free.
 */
#include "ingest/replay/inherited.h"

uint64_t replay_inherit(struct replay *replay, struct live_table *table, struct live_block *block,
                        const struct inherited_free *free)
{
    if (!array_reserve(&replay->inherited, &replay->inherited_capacity, replay->inherited_count + 1,
                       sizeof(*replay->inherited)))
        return 0;
    replay->inherited[replay->inherited_count++] = *free;
    if (block->state == BLOCK_EMPTY) {
        live_table_claim(table, block);
        *block = (struct live_block){
            .address = free->address, .alloc_ns = free->ns, .state = block->state};
        live_table_release(table, block);
    }
    return REPLAY_OF_INHERITED | replay->inherited_count;
}

void replay_inherited_became(struct replay *replay, uint64_t realloc_of, uint64_t row)
{
    replay->inherited[(realloc_of & ~REPLAY_OF_INHERITED) - 1].realloc_to = row;
}
