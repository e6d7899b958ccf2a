/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/gate.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"
#include "capture/record/file.h"
#include "capture/record/real.h"
#include "capture/record/triggers.h"

/* Events before the loader has relocated this library. */
static _Atomic uint32_t too_early;

uint32_t recorder_take_too_early(void)
{
    return atomic_exchange(&too_early, 0);
}

/* Returns true if the guard is stale. A handler that left an entry point by longjmp leaves the
 * guard held. The guard is stale when its frame is gone: the frame's return address has changed, or
 * an entry point is called from as far out or further on the same stack. On a signal stack the two
 * addresses tell nothing. */
static bool guard_is_stale(const void *frame)
{
    const struct thread_self *self = &thread_self;
    const uintptr_t guard = (uintptr_t)self->guard, now = (uintptr_t)frame;
    const uintptr_t span = 8u << 20; /* two stacks of one thread lie further apart */
    stack_t alternate = {.ss_flags = SS_DISABLE};
    const void *still;
    if (os_copy_memory(guard + sizeof(still), &still, sizeof(still)) != sizeof(still) ||
        still != self->guard_return)
        return true;
    return now >= guard && now - guard < span &&
           os_call(SYS_sigaltstack, 0, (long)&alternate, 0, 0, 0, 0) == 0 &&
           !(alternate.ss_flags & SS_ONSTACK);
}

/* Gives up the interrupted record. It is not committed, but may be half in the coding state. */
static void recover(struct thread_self *self)
{
    struct thread *thread = self->thread;
    if (!thread)
        return;
    thread->chunk.coding.ticks = clock_before();
    thread_release(false);
}

/* Returns true if an event is recorded, or at least counted (triggers.h). */
static bool accepts(uint32_t state, enum recorder_event event)
{
    bool counted = event != RECORDER_ARENA_END && event != RECORDER_NOTE &&
                   (atomic_load_explicit(&threshold_counts, memory_order_relaxed) ||
                    (call_watch_starts && state == RECORDER_WAITING));
    switch (state) {
    case RECORDER_RECORDING:
        return true;
    case RECORDER_PAUSED:
        return counted || (event != RECORDER_ALLOCATION && event != RECORDER_ARENA_ALLOCATION);
    case RECORDER_WAITING:
        return counted || event == RECORDER_NOTE;
    default:
        return false;
    }
}

/* Returns the state, after an attempt to start if nothing has started recording yet. */
static uint32_t state_after_start(void)
{
    if (atomic_load(&recorder_page.state) == RECORDER_UNKNOWN)
        recorder_start_at_gate();
    return atomic_load(&recorder_page.state);
}

/* Enters unless another thread begins a new trace just now: then *rotating is true. */
static struct thread *enter_counted(const void *frame, enum recorder_event event, bool *rotating)
{
    struct thread_self *self = &thread_self;
    if (self->guard)
        recover(self);
    thread_take_guard(self, frame);
    uint32_t state = state_after_start();
    *rotating = state == RECORDER_ROTATING;
    if (accepts(state, event) && (self->thread || thread_acquire()))
        return self->thread;
    state = *rotating ? state : atomic_load(&recorder_page.state);
    if (event != RECORDER_NOTE && !*rotating && state != RECORDER_OFF &&
        (accepts(state, event) || !recorder_is_idle(state)))
        trace_file_count_dropped(1);
    thread_give_guard(self);
    return NULL;
}

static struct thread *enter_blocked(const void *frame, enum recorder_event event)
{
    bool rotating;
    for (;;) {
        atomic_fetch_add(&recorder_page.entering, 1);
        struct thread *thread = enter_counted(frame, event, &rotating);
        atomic_fetch_sub(&recorder_page.entering, 1);
        if (!rotating)
            return thread;
        if (recorder_wait_for_rotation() != RECORDER_ROTATING)
            continue;
        if (event != RECORDER_NOTE)
            trace_file_count_dropped(1);
        return NULL;
    }
}

/* Does the work of recorder_enter() while recording is paused or has not begun. */
static struct thread *enter_idle(const void *frame, enum recorder_event event)
{
    struct thread_self *self = &thread_self;
    if (self->guard || !self->thread)
        return NULL;
    thread_take_guard(self, frame);
    if (accepts(atomic_load(&recorder_page.state), event))
        return self->thread;
    self->guard = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    return NULL;
}

ARCH_ALIGNS_STACK struct thread *recorder_enter_slow(const void *frame, enum recorder_event event)
{
    struct thread_self *self = &thread_self;
    /* An offset of zero leads to the C library's own words of the thread. None is NULL, so the way
     * of events comes here. */
    if (!os_is_relocated()) {
        real_before_relocation();
        if (event != RECORDER_NOTE)
            atomic_fetch_add(&too_early, 1);
        return NULL;
    }
    if (self->guard && !guard_is_stale(frame)) {
        if (allocators_make_call(((const void *const *)frame)[1])) /* the outer call is the event */
            return NULL;
        if (event != RECORDER_NOTE)
            atomic_fetch_add_explicit(&self->dropped, 1, memory_order_relaxed);
        if (self->thread)
            self->thread->chunk.limit = NULL;
        return NULL;
    }
    /* Events that are never recorded all come this way, so it must stay cheap. */
    uint32_t state = atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
    if (state == RECORDER_ROTATING)
        state = recorder_wait_for_rotation();
    if (recorder_is_idle(state) && (trace_file_is_asked() || atomic_load(&toggle_signal_count))) {
        recorder_after_event(THREAD_ASKED);
        state = atomic_load_explicit(&recorder_page.state, memory_order_relaxed);
    }
    if (state == RECORDER_OFF || (recorder_is_idle(state) && !accepts(state, event)))
        return NULL;
    if (state == RECORDER_STOPPED) {
        if (event != RECORDER_NOTE)
            trace_file_count_dropped(1);
        return NULL;
    }
    struct thread *idle = recorder_is_idle(state) ? enter_idle(frame, event) : NULL;
    if (idle)
        return idle;
    /* The first event of a thread or process calls the C library: dlsym, pthread_setspecific. */
    int error = errno;
    uint64_t signals = os_block_signals();
    struct thread *thread = enter_blocked(frame, event);
    os_restore_signals(signals);
    errno = error;
    return thread;
}

ARCH_ALIGNS_STACK void recorder_leave_slow(void)
{
    struct thread_self *self = &thread_self;
    uint32_t once = self->leave_flags & (THREAD_ASKED | THREAD_PASSED);
    self->leave_flags &= THREAD_FINISHED;
    if (self->leave_flags & THREAD_FINISHED)
        thread_release(false);
    thread_give_guard(self);
    if (once)
        recorder_after_event(once);
}
