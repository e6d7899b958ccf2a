/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the order of events whose stamps do not tell it.
 *
 * Exact clock: an allocation and its free by another thread may have the same stamp, and the free
 * may come first. Then the free waits until the time moves on.
 *
 * Fast clock: a stamp only tells that the event lies between it and the next stamp of its thread.
 * But an address is given out and freed in turn, which orders events that their stamps do not:
 *  - A free of an address that is not live waits until its thread's next stamp. Then it frees the
 *    block that another thread has allocated there since. If the address is given out once more
 *    before, it frees that block at once.
 *  - If the address of a live block is given out again, the block is set aside until the next stamp
 *    of the thread that got the address. A free that comes until then is the old block's. If none
 *    comes, it was an overlap.
 * Each pair that is made in one of these ways could also be read differently, and counts as
 * ambiguous. If three threads pass one address around within one interval, the order may still be
 * wrong: a free that comes too early ends the block before its own. Later, where that free is
 * missing, the trace shows an unmatched free and an overlap.
 */
#include "ingest/replay/order.h"

#include "ingest/replay/blocks.h"
#include "ingest/replay/inherited.h"

/* The most events whose order may be unknown at a time. More of them mean a stopped clock, not a
 * race. */
enum { WAITING_MOST = 1024 };

static bool settle_free(struct replay *replay, const struct pending_free *waiting)
{
    struct live_block *block = live_table_find(&replay->heap, waiting->address);
    struct trace_event event = {.thread = waiting->thread, .offset = waiting->offset};
    if (!block)
        return false;
    if (replay->fast_clock && block->state == BLOCK_LIVE && block->thread != waiting->thread &&
        block->alloc_ns >= waiting->ns) {
        replay->ambiguous_pairs++;
        return replay_close_late(replay, block, waiting);
    }
    if (replay_may_be_unseen(replay, block)) {
        replay->unseen_frees++;
        return true;
    }
    if (replay->forked && block->state != BLOCK_FREED) {
        const struct inherited_free inherited = {.address = waiting->address,
                                                 .ns = waiting->ns,
                                                 .thread = waiting->thread,
                                                 .stack = waiting->stack};
        return replay_inherit(replay, &replay->heap, block, &inherited) != 0;
    }
    bool twice = block->state == BLOCK_FREED;
    replay_problem(replay, &event, twice ? PROBLEM_DOUBLE_FREE : PROBLEM_UNMATCHED_FREE,
                   waiting->address,
                   twice ? "freed before, and not allocated in between"
                         : "not seen to be allocated: before recording began, or elsewhere");
    return true;
}

static bool settle_block(struct replay *replay, const struct contested_block *contested)
{
    struct trace_event event = {.thread = contested->thread, .offset = contested->offset};
    replay_problem(replay, &event, PROBLEM_OVERLAP, contested->block.address,
                   "allocated while it was live: the previous block ends here");
    return replay_close(replay, &contested->block, contested->ns, 0, 0) != 0;
}

bool replay_settle_frees(struct replay *replay, const struct trace_event *event)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < replay->pending_count; i++) {
        const struct pending_free waiting = replay->pending[i];
        if (event && replay->fast_clock &&
            (waiting.thread != event->thread || waiting.ticks == event->ticks))
            replay->pending[kept++] = waiting;
        else
            good = settle_free(replay, &waiting) && good;
    }
    replay->pending_count = kept;
    return good;
}

bool replay_settle_blocks(struct replay *replay, const struct trace_event *event)
{
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; i < replay->contested_count; i++) {
        const struct contested_block waiting = replay->contested[i];
        if (event && (waiting.thread != event->thread || waiting.ticks == event->ticks))
            replay->contested[kept++] = waiting;
        else
            good = settle_block(replay, &waiting) && good;
    }
    replay->contested_count = kept;
    return good;
}

bool replay_keep_free(struct replay *replay, const struct trace_event *event, uint64_t address,
                      uint32_t stack)
{
    if (replay->pending_count >= WAITING_MOST && !replay_settle_frees(replay, NULL))
        return false;
    if (!array_reserve(&replay->pending, &replay->pending_capacity, replay->pending_count + 1,
                       sizeof(*replay->pending)))
        return false;
    replay->pending[replay->pending_count++] = (struct pending_free){
        address, event->offset, event->ticks, replay->now_ns, event->thread, stack};
    return true;
}

bool replay_take_free(struct replay *replay, const struct live_block *block,
                      struct pending_free *taken)
{
    for (size_t i = 0; i < replay->pending_count; i++) {
        *taken = replay->pending[i];
        /* Within one thread the order is known. */
        if (taken->address != block->address || taken->thread == block->thread)
            continue;
        for (size_t k = i + 1; k < replay->pending_count; k++)
            replay->pending[k - 1] = replay->pending[k];
        replay->pending_count--;
        replay->ambiguous_pairs += replay->fast_clock;
        return true;
    }
    return false;
}

bool replay_contest(struct replay *replay, const struct trace_event *event,
                    const struct live_block *block)
{
    if (replay->contested_count >= WAITING_MOST && !replay_settle_blocks(replay, NULL))
        return false;
    if (!array_reserve(&replay->contested, &replay->contested_capacity, replay->contested_count + 1,
                       sizeof(*replay->contested)))
        return false;
    replay->contested[replay->contested_count++] = (struct contested_block){
        *block, event->ticks, replay->now_ns, event->offset, event->thread};
    return true;
}

bool replay_take_contested(struct replay *replay, const struct trace_event *event, uint64_t address,
                           struct live_block *block)
{
    for (size_t i = 0; i < replay->contested_count; i++) {
        /* The thread that got the address frees its own block. */
        if (replay->contested[i].block.address != address ||
            replay->contested[i].thread == event->thread)
            continue;
        *block = replay->contested[i].block;
        for (size_t k = i + 1; k < replay->contested_count; k++)
            replay->contested[k - 1] = replay->contested[k];
        replay->contested_count--;
        replay->ambiguous_pairs++;
        return true;
    }
    return false;
}
