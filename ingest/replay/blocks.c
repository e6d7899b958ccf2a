/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/replay/blocks.h"

#include "ingest/replay/rows.h"

void replay_problem(struct replay *replay, const struct trace_event *event, enum problem_kind kind,
                    uint64_t address, const char *detail)
{
    struct problem *problem = problems_add(&replay->problems, kind, "%s", detail);
    if (!problem)
        return;
    problem->ns = (int64_t)replay->now_ns;
    if (address != 0)
        problem->address = (int64_t)address;
    problem->thread = event->thread;
    problem->byte_offset = (int64_t)event->offset;
}

uint64_t replay_close(struct replay *replay, const struct live_block *block, uint64_t ns,
                      uint32_t thread, uint32_t stack)
{
    uint64_t lifetime = ns - block->alloc_ns;
    const struct totals_block counted = replay_counted(replay, block);
    if (!totals_free(replay->totals, &counted, replay->now_ns, lifetime, thread != 0))
        return 0;
    return replay_put_row(replay, block, lifetime + 1, thread, stack);
}

uint64_t replay_close_live(struct replay *replay, struct live_block *block, uint32_t thread,
                           uint32_t stack)
{
    live_table_release(&replay->heap, block);
    uint64_t row = replay_close(replay, block, replay->now_ns, thread, stack);
    block->alloc_ns = replay->now_ns;
    return row;
}

bool replay_note_free(struct replay *replay, const struct live_block *block, uint32_t thread,
                      uint32_t stack)
{
    const struct mismatch_row *mismatch;
    if (!free_calls_note(&replay->free_calls, block, stack, &mismatch))
        return false;
    struct problem *problem =
        !mismatch ? NULL
                  : problems_add(&replay->problems, PROBLEM_MISMATCHED_FREE,
                                 "by %s, which does not match its allocation", mismatch->function);
    if (!problem)
        return true;
    problem->ns = (int64_t)replay->now_ns;
    problem->address = (int64_t)block->address;
    problem->thread = thread;
    return true;
}

bool replay_close_late(struct replay *replay, struct live_block *block,
                       const struct pending_free *waiting)
{
    struct thread_counts *thread = replay_thread(replay, waiting->thread);
    if (!thread)
        return false;
    thread->frees++;
    if (waiting->stack != 0 && !replay_note_free(replay, block, waiting->thread, waiting->stack))
        return false;
    return replay_close_live(replay, block, waiting->thread, waiting->stack) != 0;
}
