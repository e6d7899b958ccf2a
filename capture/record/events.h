/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the program's heap events. This is the hot path, inlined into the entry points.
 *
 * Each call needs the guard held (recorder_enter()). `frame` is the frame of the entry point
 * itself, where the stack walk begins. It takes no lock, makes no system call and writes no memory
 * that threads share, except when a chunk is full.
 */
#ifndef MPROF_CAPTURE_RECORD_EVENTS_H
#define MPROF_CAPTURE_RECORD_EVENTS_H

#include "capture/os/clock.h"
#include "capture/os/os.h"
#include "capture/record/event_filter.h"
#include "capture/record/recorder.h"
#include "capture/record/thread.h"
#include "capture/stack/stack.h"
#include "schemas/trace_codec.h"

#define EVENTS_FAST_CLOCK_INTERVAL 16u

/* Reads the clock if it is not a TSC that is read at each event. With clock=fast the true time lies
 * between this read and the next one. */
static inline uint64_t events_other_ticks(struct thread *thread)
{
    if (!recorder_fast_clock)
        return clock_before();
    if (thread->clock_countdown == 0) {
        thread->clock_countdown = EVENTS_FAST_CLOCK_INTERVAL;
        thread->clock_ticks = clock_before();
    }
    thread->clock_countdown--;
    return thread->clock_ticks;
}

/*
 * Returns the stamp of an event now: of a free before the real call, of an allocation after it. A
 * thread that is alone needs no fence, since no store of another thread can have given it the block
 * (clock.h).
 */
static inline uint64_t events_now(struct thread *thread)
{
    const uint32_t ways = thread_ways(thread);
    if (__builtin_expect(ways & THREAD_OTHER_CLOCK, 0))
        return events_other_ticks(thread);
    return ways & THREAD_SHARED ? clock_tsc_after() : clock_tsc_before();
}

/*
 * Returns the stamp of an allocation before the real call, if the thread is alone: it need not wait
 * for the loads of that call, as the clock does (clock.h). 0: read the stamp after the call.
 * `thread` may be NULL.
 */
static inline uint64_t events_early(const struct thread *thread)
{
    if (__builtin_expect(!thread || thread_ways(thread) != 0, 0))
        return 0;
    return clock_tsc_before();
}

/* Returns the stamp after the real call: `early`, unless another thread began to record since. */
static inline uint64_t events_late(struct thread *thread, uint64_t early)
{
    return __builtin_expect(early != 0, 1) && !(thread_ways(thread) & THREAD_SHARED)
               ? early
               : events_now(thread);
}

static inline void events_stack_ready(struct thread *thread)
{
    if (__builtin_expect(thread_ways(thread) & THREAD_NEW_STACK, 0)) {
        os_discard(thread->stack, stack_thread_size());
        stack_thread_init(thread->stack);
        atomic_fetch_and(&thread->ways, ~(uint32_t)THREAD_NEW_STACK);
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
    if (__builtin_expect(chunk_has_room(&thread->chunk) && recorder_is_own(), 1))
        return true;
    if (thread_make_room(thread, TRACE_RECORD_MAX))
        return true;
    recorder_out_of_room(events);
    return false;
}

/* Records an allocation of `size` bytes that failed. */
void events_put_failed(struct thread *thread, uint64_t size, uint32_t stack);

/* Writes the record of an allocation whose stamp is read and whose thread has its stacks ready. */
static inline __attribute__((always_inline)) void
events_put_stamped(struct thread *thread, const void *frame, uint64_t ticks, const void *address,
                   uint64_t size, enum trace_alloc_kind kind, unsigned log2_alignment)
{
    uint32_t stack = stack_current(thread->stack, frame, thread);
    if (__builtin_expect(!address, 0)) {
        events_put_failed(thread, size, stack);
        return;
    }
    struct chunk *chunk = &thread->chunk;
    /* If the chunk began just now, the stamp becomes that of its beginning: later than the real
     * call, but still before anyone knows the block. */
    if (events_room(thread, 1))
        chunk_commit(chunk, trace_put_alloc(chunk->cursor, &chunk->coding, ticks,
                                            (uintptr_t)address, size, stack, kind, log2_alignment));
}

/* Records any allocation. `early` is the result of events_early() before the real call. */
void events_put_allocation(struct thread *thread, const void *frame, uint64_t early,
                           const void *address, uint64_t size, enum trace_alloc_kind kind,
                           unsigned log2_alignment);

/* Does what events_put_allocation() does, for the most common kind of allocation. */
static inline __attribute__((always_inline)) void
events_put_malloc(struct thread *thread, const void *frame, uint64_t early, const void *address,
                  uint64_t size)
{
    const uint32_t ways = thread_ways(thread);
    uint64_t ticks;
    if (__builtin_expect(ways == 0 && early != 0, 1))
        ticks = early;
    else if (ways == THREAD_SHARED)
        ticks = clock_tsc_after();
    else {
        events_put_allocation(thread, frame, early, address, size, TRACE_KIND_MALLOC, 0);
        return;
    }
    events_put_stamped(thread, frame, ticks, address, size, TRACE_KIND_MALLOC, 0);
}

/* Records a free in a thread that has ways other than THREAD_NEW_STACK and THREAD_SHARED. */
void events_put_other_free(struct thread *thread, const void *frame, const void *address);

/* Records a free. Call it before the real free. It reads the stamp before it asks for room: see
 * recorder_is_own(). */
static inline __attribute__((always_inline)) void
events_put_free(struct thread *thread, const void *frame, const void *address)
{
    const uint32_t ways = thread_ways(thread) & ~(uint32_t)THREAD_NEW_STACK;
    uint64_t ticks;
    if (__builtin_expect(ways == 0, 1))
        ticks = clock_tsc_before();
    else if (ways == THREAD_SHARED)
        ticks = clock_tsc_after();
    else {
        events_put_other_free(thread, frame, address);
        return;
    }
    struct chunk *chunk = &thread->chunk;
    if (events_room(thread, 1))
        chunk_commit(chunk,
                     trace_put_free(chunk->cursor, &chunk->coding, ticks, (uintptr_t)address));
}

#endif
