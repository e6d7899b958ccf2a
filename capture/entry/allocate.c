/* SPDX-License-Identifier: BSD-2-Clause */
/* The entry points of the heap. Each makes the real call and records it.
 *
 * They are compiled with a frame pointer: the stack walk starts at __builtin_frame_address(0) of
 * the function that the program called. They hold the guard over the real call too, so that an
 * allocator's own allocations below this library are not taken for the program's.
 *
 * errno stays as the real call left it, because recording uses raw system calls only. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "capture/entry/allocate.h"
#include "capture/entry/names.h"
#include "capture/entry/startup.h"
#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/record/event_filter.h"
#include "capture/record/gate.h"

/* Makes the linker take the constructor out of libmprof.a with the entry points of the heap. */
__attribute__((used)) static bool (*const take_library_init)(void) = library_has_ended;

#define FRAME __builtin_frame_address(0)

void *allocate_failed(uint64_t size, enum trace_alloc_kind kind)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_ALLOCATION);
    if (thread) {
        events_put_allocation(thread, FRAME, 0, NULL, size, kind, 0);
        recorder_leave();
    }
    return NULL;
}

/* Records a malloc of a thread that records alone, or began to do so. */
static inline __attribute__((always_inline)) void *malloc_alone(struct thread *thread,
                                                                const void *frame, size_t size)
{
    const uint64_t early = clock_tsc_before();
    void *address = real.malloc(size);
    if (__builtin_expect(thread_flags(thread) == 0, 1))
        events_put_stamped(thread, frame, early, address, size, TRACE_KIND_MALLOC, 0);
    else
        events_put_allocation(thread, frame, early, address, size, TRACE_KIND_MALLOC, 0);
    recorder_leave();
    return address;
}

void *allocate_malloc(size_t size)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_ALLOCATION);
    if (__builtin_expect(!thread, 0))
        return real.malloc(size);
    if (__builtin_expect(thread_flags(thread) == 0, 1))
        return malloc_alone(thread, FRAME, size);
    void *address = real.malloc(size);
    if (thread_flags(thread) == THREAD_SHARED)
        events_put_stamped(thread, FRAME, clock_tsc_after(), address, size, TRACE_KIND_MALLOC, 0);
    else
        events_put_allocation(thread, FRAME, 0, address, size, TRACE_KIND_MALLOC, 0);
    recorder_leave();
    return address;
}

void *allocate_calloc(size_t count, size_t size)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_ALLOCATION);
    uint64_t early = events_stamp_before(thread);
    void *address = real.calloc(count, size);
    if (thread) {
        events_put_allocation(thread, FRAME, early, address, allocate_product(count, size),
                              TRACE_KIND_CALLOC, 0);
        recorder_leave();
    }
    return address;
}

static inline __attribute__((always_inline)) void free_block(const void *frame, void *address)
{
    __builtin_prefetch((const char *)address - 16);
    struct thread *thread = recorder_enter(frame, RECORDER_END_OF_BLOCK);
    if (thread)
        events_put_free(thread, frame, address);
    real.free(address);
    if (thread)
        recorder_leave();
}

void allocate_free(void *address)
{
    free_block(FRAME, address);
}

void allocate_free_early(void *address)
{
    if (!real_is_bootstrap(address))
        free_block(FRAME, address);
}

/* Records only the end of the old block, since recording is paused. */
static void put_paused_resize(struct thread *thread, uint64_t before, const void *old, bool failed)
{
    struct chunk *chunk = &thread->chunk;
    if (!failed && events_room(thread, 1))
        chunk_commit(chunk, trace_put_free(chunk->cursor, &chunk->coding, before, (uintptr_t)old));
}

/* Makes and records a resize. It takes the stack and makes room before the first stamp: nothing may
 * come between the two stamps, and a chunk begun between them would hold the first one too late. */
static void *resize_block(struct thread *thread, const void *frame, void *old,
                          const struct resize *resize)
{
    if (__builtin_expect(thread_flags(thread) & THREAD_FILTERED, 0))
        return event_filter_resize(thread, frame, old, resize);
    bool paused =
        atomic_load_explicit(&recorder_page.state, memory_order_relaxed) == RECORDER_PAUSED;
    uint64_t size = resize->size;
    uint32_t stack = paused ? 0 : events_stack(thread, frame);
    if (!events_room(thread, 1))
        return real_resize(old, resize);
    uint64_t early = events_stamp_before(thread);
    uint64_t before = early ? early : events_now(thread);
    void *address = real_resize(old, resize);
    uint64_t after = events_stamp_after(thread, early);
    struct chunk *chunk = &thread->chunk;
    if (!recorder_is_own()) /* a handler forked in the real call: this is the child */
        return address;
    if (!address && size == 0) /* this C library frees */
        chunk_commit(chunk, trace_put_free(chunk->cursor, &chunk->coding, before, (uintptr_t)old));
    else if (paused)
        put_paused_resize(thread, before, old, !address);
    else
        chunk_commit(chunk, trace_put_realloc(chunk->cursor, &chunk->coding, before, after,
                                              (uintptr_t)old, (uintptr_t)address, size, stack,
                                              !address         ? TRACE_REALLOC_FAILED
                                              : address == old ? TRACE_REALLOC_IN_PLACE
                                                               : TRACE_REALLOC_MOVED,
                                              resize->array));
    return address;
}

/* Does the work of realloc and reallocarray. */
static inline __attribute__((always_inline)) void *reallocate(const void *frame, void *old,
                                                              const struct resize *resize)
{
    bool bootstrap =
        __builtin_expect(real_detours() & REAL_BOOTSTRAP, 0) && old && real_is_bootstrap(old);
    struct thread *thread =
        recorder_enter(frame, old && !bootstrap ? RECORDER_END_OF_BLOCK : RECORDER_ALLOCATION);
    uint64_t size = resize->size;
    void *address;
    if (!old || bootstrap) {
        uint64_t early = events_stamp_before(thread);
        address = bootstrap ? real_move_bootstrap(old, size) : real_resize(NULL, resize);
        if (thread)
            events_put_allocation(thread, frame, early, address, size,
                                  resize->array ? TRACE_KIND_REALLOCARRAY : TRACE_KIND_REALLOC, 0);
    } else
        address = thread ? resize_block(thread, frame, old, resize) : real_resize(old, resize);
    if (thread)
        recorder_leave();
    return address;
}

void *allocate_realloc(void *old, size_t size)
{
    struct resize resize = {size, false, false};
    return reallocate(FRAME, old, &resize);
}

void *allocate_resize(const void *frame, void *old, const struct resize *resize)
{
    return reallocate(frame, old, resize);
}

ENTRY_POINT void *ENTRY(reallocarray)(void *old, size_t count, size_t size)
{
    struct resize resize = {allocate_product(count, size), true, false};
    return reallocate(FRAME, old, &resize);
}

ENTRY_POINT int ENTRY(posix_memalign)(void **result, size_t alignment, size_t size)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_ALLOCATION);
    uint64_t early = events_stamp_before(thread);
    int error = real.posix_memalign(result, alignment, size);
    if (thread) {
        events_put_allocation(thread, FRAME, early, error ? NULL : *result, size,
                              TRACE_KIND_POSIX_MEMALIGN, allocate_log2(alignment));
        recorder_leave();
    }
    return error;
}

ENTRY_POINT void *ENTRY(aligned_alloc)(size_t alignment, size_t size)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_ALLOCATION);
    uint64_t early = events_stamp_before(thread);
    void *address = real.aligned_alloc(alignment, size);
    if (thread) {
        events_put_allocation(thread, FRAME, early, address, size, TRACE_KIND_ALIGNED_ALLOC,
                              allocate_log2(alignment));
        recorder_leave();
    }
    return address;
}

ENTRY_POINT void *ENTRY(memalign)(size_t alignment, size_t size)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_ALLOCATION);
    uint64_t early = events_stamp_before(thread);
    void *address = real.memalign(alignment, size);
    if (thread) {
        events_put_allocation(thread, FRAME, early, address, size, TRACE_KIND_MEMALIGN,
                              allocate_log2(alignment));
        recorder_leave();
    }
    return address;
}

ENTRY_POINT void *ENTRY(valloc)(size_t size)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_ALLOCATION);
    uint64_t early = events_stamp_before(thread);
    void *address = real.valloc(size);
    if (thread) {
        events_put_allocation(thread, FRAME, early, address, size, TRACE_KIND_VALLOC,
                              allocate_log2(ARCH_PAGE_SIZE));
        recorder_leave();
    }
    return address;
}

ENTRY_POINT void *ENTRY(pvalloc)(size_t size)
{
    struct thread *thread = recorder_enter(FRAME, RECORDER_ALLOCATION);
    uint64_t early = events_stamp_before(thread);
    void *address = real.pvalloc(size);
    if (thread) {
        events_put_allocation(thread, FRAME, early, address, size, TRACE_KIND_PVALLOC,
                              allocate_log2(ARCH_PAGE_SIZE));
        recorder_leave();
    }
    return address;
}
