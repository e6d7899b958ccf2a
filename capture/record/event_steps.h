/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of an event that is recorded: its stamp, its stack, and room for its record.
 *
 * Each call needs the guard held (gate.h). `frame` is the frame of the entry point itself, where
 * the stack walk begins. */
#pragma once

#include "capture/os/clock.h"
#include "capture/record/state.h"
#include "capture/record/thread.h"
#include "capture/record/thread_room.h"
#include "capture/stack/stack.h"
#include "schemas/trace_codec.h"

#define EVENTS_FAST_CLOCK_INTERVAL 16u

/* Reads the clock if it is not a TSC that is read at each event. With clock=fast the true time lies
 * between this read and the next one, which must not come before an earlier event (clock.h). */
static inline uint64_t events_other_ticks(struct thread *thread)
{
    if (!(thread_flags(thread) & THREAD_FAST_CLOCK))
        return clock_before();
    if (thread->clock_countdown == 0) {
        thread->clock_countdown = EVENTS_FAST_CLOCK_INTERVAL;
        thread->clock_ticks = thread_clock_before(thread);
    }
    thread->clock_countdown--;
    return thread->clock_ticks;
}

/* Returns the stamp of an event now: of a free before the real call, of an allocation after it. A
 * thread that is alone needs no fence: no other can have given it the block (clock.h). */
static inline uint64_t events_now(struct thread *thread)
{
    const uint32_t flags = thread_flags(thread);
    if (__builtin_expect(flags & THREAD_OTHER_CLOCK, 0))
        return events_other_ticks(thread);
    return flags & THREAD_SHARED ? clock_tsc_after() : clock_tsc_before();
}

/* Returns the stamp of an event of an arena, which is exact with clock=fast, too. Readers find the
 * order of heap events from the addresses, since each is given out and freed in turn. The blocks of
 * an arena also end by resets, and are kept or not by the time of a collection. */
static inline uint64_t events_arena_now(struct thread *thread)
{
    if (__builtin_expect(!(thread_flags(thread) & THREAD_FAST_CLOCK), 1))
        return events_now(thread);
    thread->clock_countdown = EVENTS_FAST_CLOCK_INTERVAL;
    thread->clock_ticks = thread_clock_before(thread);
    return thread->clock_ticks;
}

/* Returns the stamp of an allocation before the real call, if the thread is alone: it need not wait
 * for the loads of that call, as the clock does (clock.h). 0: read the stamp after the call.
 * `thread` may be NULL. */
static inline uint64_t events_stamp_before(const struct thread *thread)
{
    if (__builtin_expect(!thread || thread_flags(thread) != 0, 0))
        return 0;
    return clock_tsc_before();
}

/* Returns the stamp after the real call: `early`, unless another thread began to record since. */
static inline uint64_t events_stamp_after(struct thread *thread, uint64_t early)
{
    return __builtin_expect(early != 0, 1) && !(thread_flags(thread) & THREAD_SHARED)
               ? early
               : events_now(thread);
}

static inline void events_stack_ready(struct thread *thread)
{
    if (__builtin_expect(thread_flags(thread) & THREAD_NEW_STACK, 0)) {
        stack_thread_init(thread->stack);
        atomic_fetch_and(&thread->flags, ~(uint32_t)THREAD_NEW_STACK);
        thread_put_stack(thread);
    }
}

static inline uint32_t events_stack(struct thread *thread, const void *frame)
{
    events_stack_ready(thread);
    return stack_current(thread->stack, frame, thread);
}

/* Makes room for one record of the hot path. If there is none, counts `events` as dropped. */
static inline bool events_room(struct thread *thread, uint64_t events)
{
    if (__builtin_expect(chunk_has_room(&thread->chunk), 1) &&
        __builtin_expect(recorder_is_own(), 1))
        return true;
    if (thread_make_room(thread, TRACE_RECORD_MAX))
        return true;
    recorder_out_of_room(events);
    return false;
}
