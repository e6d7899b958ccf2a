/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder's life in the process: start, fork, pause, end, and the guard around each event.
 *
 * An entry point calls recorder_enter() with its own frame. It records with the thread that the
 * call returns (events.h), then calls recorder_leave(). NULL means that there is nothing to record:
 * make only the real call. The guard is held between the two calls. Allocations that the same
 * thread makes while it is held (a signal handler, the allocator's own helpers) are counted as
 * dropped and not recorded.
 *
 * The state lies in a page that the kernel wipes in a forked child (MADV_WIPEONFORK). A child
 * therefore notices the fork by itself, even after a raw clone, which runs no fork handlers.
 */
#ifndef MPROF_CAPTURE_RECORD_RECORDER_H
#define MPROF_CAPTURE_RECORD_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/os/arch_x86_64.h"
#include "capture/record/thread.h"
#include "schemas/trace_layout.h"

enum recorder_state {
    RECORDER_UNKNOWN = 0, /* not started, or a forked child that has not noticed yet */
    RECORDER_RECORDING,
    RECORDER_PAUSED,  /* allocations are not recorded; the ends of blocks still are */
    RECORDER_STOPPED, /* out of room: events are counted */
    RECORDER_OFF,     /* nothing to record in this process */
    RECORDER_STARTING,
    RECORDER_WAITING, /* recording has not begun: no event of the heap is recorded */
};

/* A page of its own, because it is wiped as a whole. */
union recorder_page {
    struct {
        _Atomic uint32_t state;
        uint8_t apart[60]; /* puts the fields that change on another cache line */
        /* Threads that are on the way into an event or out of the last one. Such a thread may be
         * between its read of `state` and the place where thread_process_settle() finds it. */
        _Atomic uint32_t entering;
        bool calls_forgotten; /* os_forked() has been called in this process */
    };
    uint8_t bytes[4096];
};
extern union recorder_page recorder_page __attribute__((visibility("hidden")));

/*
 * Returns false in a forked child that has not noticed yet. A child that a handler forked by a raw
 * clone continues inside its parent's record, so this is asked before each record is put. Only a
 * few stores of prepared values follow, which are the same in both processes.
 */
static inline bool recorder_is_own(void)
{
    return atomic_load_explicit(&recorder_page.state, memory_order_relaxed) != RECORDER_UNKNOWN;
}

/* Set once at the start. */
extern bool recorder_fast_clock;
extern bool recorder_mappings;

enum recorder_event {
    RECORDER_ALLOCATION, /* not recorded while paused */
    RECORDER_END_OF_BLOCK,
    RECORDER_ARENA_ALLOCATION, /* like the two above, for the program's own allocators */
    RECORDER_ARENA_END,
    RECORDER_NOTE, /* marks, modules: not an event of the heap, never counted as dropped */
};

/* Notes that the constructor has run: from here on the C library is ready for everything. */
void recorder_loaded(void);

/* Starts recording, unless it has been started or is off. The constructor and the first event call
 * it; the first of them starts. */
void recorder_start(void);

_Static_assert(offsetof(struct thread_local_part, guard_return) ==
                   offsetof(struct thread_local_part, guard) + sizeof(void *),
               "both are stored at once");

/* Takes the guard. It stores both words at once, because a handler that came between two stores
 * would find a guard that seems stale. */
static inline void recorder_take_guard(struct thread_local_part *self, const void *frame)
{
    arch_store_frame(&self->guard, &self->guard_return, frame);
    atomic_signal_fence(memory_order_seq_cst);
}

struct thread *recorder_enter_slow(const void *frame, enum recorder_event event);
void recorder_leave_slow(void);

/* Takes the guard before it reads the state. If a handler interrupts this and forks, the child
 * either reads the wiped state, or its fork handler saw the guard. */
static inline struct thread *recorder_enter(const void *frame, enum recorder_event event)
{
    struct thread_local_part *self = &thread_local_part;
    if (__builtin_expect(!self->guard, 1)) {
        recorder_take_guard(self, frame);
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
    struct thread_local_part *self = &thread_local_part;
    if (__builtin_expect(self->at_leave, 0)) {
        recorder_leave_slow();
        return;
    }
    atomic_signal_fence(memory_order_seq_cst);
    self->guard = NULL;
}

/* Ends recording, because another process has sealed the trace (trace_file_is_sealed()). */
void recorder_sealed(void);

/* Returns false if nothing can be recorded, because recording has ended or never could begin. */
bool recorder_is_at_work(void);

/* Notes that recording cannot go on and `events` are lost. Later events are only counted. */
void recorder_out_of_room(uint64_t events);

/* Begins recording if it has not begun. The calling thread holds the guard. */
void recorder_begin(struct thread *thread);

/* Stops recording for the reason that one message gives. Later events are only counted. */
void recorder_stop_for(const char *why);

/* Pauses or resumes. Returns false if nothing changes or nothing is recorded. */
bool recorder_set_paused(const void *frame, bool paused);

/* Makes each count-th allocation a snapshot, in this trace and in those of mprof_restart(). */
void recorder_set_autosave(const void *frame, uint64_t count);

/* Ends recording in this process because the program asks for it. Children do not record either. */
void recorder_stop(const void *frame);

/*
 * Continues in a new trace after a stop: `path`, or the usual name if `path` is NULL. Waits for
 * threads that are recording an event. Does nothing if recording was never on.
 */
void recorder_restart(const void *frame, const char *path);

/*
 * Seals the trace: END record, clock pair, sums. Events that come later are still recorded.
 * Does nothing in a vfork child, which shares its parent's memory and must not touch its trace.
 * recorder_end_undone() takes it back after an exec that failed.
 */
void recorder_end(const void *frame, enum trace_end_reason reason);
void recorder_end_undone(void);

#endif
