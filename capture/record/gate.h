/* SPDX-License-Identifier: BSD-2-Clause */
/* The way into an event and out of it, with the guard around the event.
 *
 * An entry point calls recorder_enter() with its own frame. It records with the thread that the
 * call returns (events.h), then calls recorder_leave(). NULL means that there is nothing to record:
 * make only the real call. The guard is held between the two calls. Allocations that the same
 * thread makes while it is held (a signal handler, the allocator's own helpers) are counted as
 * dropped and not recorded. Calls that a sample skips do not come here, and hold no guard.
 *
 * Two things happen at the gate that need more than the gate knows: recording starts, and the
 * thread does what others ask for. recorder.c does both.
 *
 * So the files behind the gate call each other in a circle: what is due is done in the last step of
 * the gate. The entry points could do it only by one more test for each event. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "capture/record/state.h"
#include "capture/record/thread.h"

enum recorder_event {
    RECORDER_ALLOCATION, /* not recorded while paused */
    RECORDER_END_OF_BLOCK,
    RECORDER_ARENA_ALLOCATION, /* like the two above, for the program's own allocators */
    RECORDER_ARENA_END,
    RECORDER_ARENA_RESIZE, /* both */
    RECORDER_NOTE,         /* marks, modules: not an event of the heap, never counted as dropped */
};

struct thread *recorder_enter_slow(const void *frame, enum recorder_event event);
void recorder_leave_slow(void);

/* Returns the number of events that came before the loader had relocated this library, once. They
 * cannot be recorded. */
uint32_t recorder_take_too_early(void);

/* Starts recording if no other thread does and it can (recorder.c). The guard is held. */
void recorder_start_at_gate(void);
/* Does what the flags say (enum thread_leave_flag). Defined in recorder.c. The guard is not held.
 */
void recorder_after_event(uint32_t flags);

/* Takes the guard before it reads the state. If a handler interrupts this and forks, the child
 * either reads the wiped state, or its fork handler saw the guard. */
static inline struct thread *recorder_enter(const void *frame, enum recorder_event event)
{
    struct thread_self *self = &thread_self;
    if (__builtin_expect(!self->guard, 1)) {
        thread_take_guard(self, frame);
        struct thread *thread = self->thread;
        if (__builtin_expect(thread &&
                                 atomic_load_explicit(&recorder_page.state, memory_order_relaxed) ==
                                     RECORDER_RECORDING,
                             1))
            return thread;
        self->guard = NULL;
        atomic_signal_fence(memory_order_seq_cst);
    }
    return recorder_enter_slow(frame, event);
}

static inline void recorder_leave(void)
{
    struct thread_self *self = &thread_self;
    if (__builtin_expect(self->leave_flags, 0)) {
        recorder_leave_slow();
        return;
    }
    thread_give_guard(self);
}
