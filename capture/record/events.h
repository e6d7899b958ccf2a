/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the program's heap events. This is the hot path, inlined into the entry points.
 *
 * Each call needs the guard held (gate.h). `frame` is the frame of the entry point itself, where
 * the stack walk begins. It takes no lock, makes no system call and writes no memory that threads
 * share, except when a chunk is full. */
#pragma once

#include "capture/record/event_steps.h"

/* Records an allocation of `size` bytes that failed. */
void events_put_failed(struct thread *thread, uint64_t size, uint32_t stack);

/* Writes the record of an allocation whose stamp is read and whose thread has its stacks ready.
 * Returns its stack. */
static inline __attribute__((always_inline)) uint32_t
events_put_stamped(struct thread *thread, const void *frame, uint64_t ticks, const void *address,
                   uint64_t size, enum trace_alloc_kind kind, unsigned log2_alignment)
{
    uint32_t stack = stack_current(thread->stack, frame, thread);
    if (__builtin_expect(!address, 0)) {
        events_put_failed(thread, size, stack);
        return stack;
    }
    struct chunk *chunk = &thread->chunk;
    /* If the chunk began just now, the stamp becomes that of its beginning: later than the real
     * call, but still before anyone knows the block. */
    if (events_room(thread, 1))
        chunk_commit(chunk, trace_put_alloc(chunk->cursor, &chunk->coding, ticks,
                                            (uintptr_t)address, size, stack, kind, log2_alignment));
    return stack;
}

/* Records any allocation. `early` is the result of events_stamp_before() before the real call. */
void events_put_allocation(struct thread *thread, const void *frame, uint64_t early,
                           const void *address, uint64_t size, enum trace_alloc_kind kind,
                           unsigned log2_alignment);

/* Records a free in a thread that has flags other than THREAD_NEW_STACK and THREAD_SHARED. */
void events_put_other_free(struct thread *thread, const void *frame, const void *address);

/* Records a free. Call it before the real free. It reads the stamp before it asks for room: see
 * recorder_is_own(). */
static inline __attribute__((always_inline)) void
events_put_free(struct thread *thread, const void *frame, const void *address)
{
    const uint32_t flags = thread_flags(thread) & ~(uint32_t)THREAD_NEW_STACK;
    uint64_t ticks;
    if (__builtin_expect(flags == 0, 1))
        ticks = clock_tsc_before();
    else if (flags == THREAD_SHARED)
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
