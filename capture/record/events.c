/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/events.h"

#include "capture/record/event_filter.h"

void events_put_failed(struct thread *thread, uint64_t size, uint32_t stack)
{
    uint8_t *p = thread_extended_begin(thread, 40);
    if (!p)
        return;
    p = thread_put_when(thread, p);
    p = trace_put_varint(p, size);
    p = trace_put_varint(p, stack);
    thread_extended_end(thread, TRACE_EXT_FAILED, p);
}

void events_put_allocation(struct thread *thread, const void *frame, uint64_t early,
                           const void *address, uint64_t size, enum trace_alloc_kind kind,
                           unsigned log2_alignment)
{
    const bool filtered = thread_flags(thread) & THREAD_FILTERED;
    if (filtered && !event_filter_allocation(thread, frame, address, size))
        return;
    uint64_t ticks = events_stamp_after(thread, early);
    events_stack_ready(thread);
    const uint32_t stack =
        events_put_stamped(thread, frame, ticks, address, size, kind, log2_alignment);
    if (filtered && address)
        event_filter_describe(&(struct live_block){.address = (uintptr_t)address,
                                                   .size = size,
                                                   .ticks = ticks,
                                                   .count = 1,
                                                   .stack = stack,
                                                   .thread = thread->number,
                                                   .kind = (uint8_t)kind,
                                                   .log2_alignment = (uint8_t)log2_alignment});
}

void events_put_other_free(struct thread *thread, const void *frame, const void *address)
{
    if ((thread_flags(thread) & THREAD_FILTERED) && !event_filter_free(thread, address))
        return;
    uint32_t stack = thread_flags(thread) & THREAD_FREE_STACKS ? events_stack(thread, frame) : 0;
    uint64_t ticks = events_now(thread);
    struct chunk *chunk = &thread->chunk;
    if (!events_room(thread, 1))
        return;
    uint8_t *end =
        thread_flags(thread) & THREAD_FREE_STACKS
            ? trace_put_free_stack(chunk->cursor, &chunk->coding, ticks, (uintptr_t)address, stack)
            : trace_put_free(chunk->cursor, &chunk->coding, ticks, (uintptr_t)address);
    chunk_commit(chunk, end);
}
