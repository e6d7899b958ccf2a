/*
 * Writes the program's heap events: the hot path. Inline, into the entry points.
 *
 * Each call needs the guard held (recorder_enter()). `frame` is the entry point's own frame,
 * where the stack walk begins. No lock, no system call and no shared memory is written, but
 * when a chunk is full.
 */
#ifndef MPROF_CAPTURE_EVENTS_H
#define MPROF_CAPTURE_EVENTS_H

#include "capture/clock.h"
#include "capture/os.h"
#include "capture/recorder.h"
#include "capture/select.h"
#include "capture/stack.h"
#include "capture/thread.h"
#include "schemas/trace_codec.h"

#define EVENTS_FAST_CLOCK_INTERVAL 16u

/* clock=fast: the true time lies between this read and the next one. */
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

static inline uint64_t events_before(struct thread *thread)
{
    return __builtin_expect(thread->ways & THREAD_OTHER_CLOCK, 0) ? events_other_ticks(thread)
                                                                  : clock_tsc_before();
}

/* A thread that is alone needs no fence: no other's free can have given it the block. */
static inline uint64_t events_after(struct thread *thread)
{
    if (__builtin_expect(thread->ways & THREAD_OTHER_CLOCK, 0))
        return events_other_ticks(thread);
    return atomic_load_explicit(&thread->shared, memory_order_relaxed) ? clock_tsc_after()
                                                                       : clock_tsc_before();
}

static inline void events_stack_ready(struct thread *thread)
{
    if (__builtin_expect(thread->ways & THREAD_NEW_STACK, 0)) {
        os_discard(thread->stack, stack_thread_size());
        stack_thread_init(thread->stack);
        thread->ways &= ~(uint32_t)THREAD_NEW_STACK;
    }
}

static inline uint32_t events_stack(struct thread *thread, const void *frame)
{
    events_stack_ready(thread);
    return stack_current(thread->stack, frame, thread);
}

/* Room for one record of the hot path. */
static inline bool events_room(struct thread *thread, uint64_t events)
{
    if (__builtin_expect(chunk_has_room(&thread->chunk) && recorder_is_own(), 1))
        return true;
    if (thread_make_room(thread, TRACE_RECORD_MAX))
        return true;
    recorder_out_of_room(events);
    return false;
}

/* `size` bytes could not be had. */
void events_put_failed(struct thread *thread, uint64_t size, uint32_t stack);

static inline void events_put_allocation(struct thread *thread, const void *frame,
                                         const void *address, uint64_t size,
                                         enum trace_alloc_kind kind, unsigned log2_alignment)
{
    if (__builtin_expect(thread->ways & THREAD_SELECTED, 0) &&
        !select_allocation(thread, frame, address, size))
        return;
    uint64_t ticks = events_after(thread);
    uint32_t stack = events_stack(thread, frame);
    if (__builtin_expect(!address, 0)) {
        events_put_failed(thread, size, stack);
        return;
    }
    struct chunk *chunk = &thread->chunk;
    /* In a chunk begun just now the stamp is held at its beginning: later than the real call,
     * but still before the block is known to anyone. */
    if (events_room(thread, 1))
        chunk_commit(chunk, trace_put_alloc(chunk->cursor, &chunk->coding, ticks,
                                            (uintptr_t)address, size, stack, kind, log2_alignment));
}

/* Call before the real free. The stamp comes before the question for room: see recorder_is_own().
 */
static inline void events_put_free(struct thread *thread, const void *frame, const void *address)
{
    if (__builtin_expect(thread->ways & THREAD_SELECTED, 0) && !select_free(thread, address))
        return;
    struct chunk *chunk = &thread->chunk;
    if (__builtin_expect(thread->ways & THREAD_FREE_STACKS, 0)) {
        uint32_t stack = events_stack(thread, frame);
        uint64_t ticks = events_before(thread);
        if (events_room(thread, 1))
            chunk_commit(chunk, trace_put_free_stack(chunk->cursor, &chunk->coding, ticks,
                                                     (uintptr_t)address, stack));
        return;
    }
    uint64_t ticks = events_before(thread);
    if (events_room(thread, 1))
        chunk_commit(chunk,
                     trace_put_free(chunk->cursor, &chunk->coding, ticks, (uintptr_t)address));
}

#endif
