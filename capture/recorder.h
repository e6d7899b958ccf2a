/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder's life in the process: start, fork, pause, end, and the guard around each event.
 *
 * An entry point calls recorder_enter() with its own frame; with the thread that it returns it
 * records (events.h), then calls recorder_leave(). NULL means: nothing to record, only make
 * the real call. Between the two the guard is held, and allocations of the same thread (a
 * signal handler, the allocator's own helpers) are counted as dropped and not recorded.
 *
 * The state stands in a page that the kernel wipes in a forked child (MADV_WIPEONFORK), so
 * that a child notices by itself, even after a raw clone that runs no fork handlers.
 */
#ifndef MPROF_CAPTURE_RECORDER_H
#define MPROF_CAPTURE_RECORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/arch_x86_64.h"
#include "capture/thread.h"
#include "schemas/trace_layout.h"

enum recorder_state {
    RECORDER_UNKNOWN = 0, /* not started, or a forked child that has not noticed yet */
    RECORDER_RECORDING,
    RECORDER_PAUSED,  /* allocations are not recorded; what ends a block still is */
    RECORDER_STOPPED, /* out of room: events are counted */
    RECORDER_OFF,     /* nothing to record in this process */
    RECORDER_STARTING,
    RECORDER_WAITING, /* recording has not begun: of the heap nothing is recorded */
};

/* A page of its own, since it is wiped as a whole. */
union recorder_page {
    struct {
        _Atomic uint32_t state;
        uint8_t apart[60]; /* what changes does so on another cache line */
        /* Threads that are on the way into an event or out of the last one, and so perhaps between
         * the look at `state` and the place where thread_process_settle() finds them. */
        _Atomic uint32_t entering;
        bool calls_forgotten; /* os_forked() has been called in this process */
    };
    uint8_t bytes[4096];
};
extern union recorder_page recorder_page __attribute__((visibility("hidden")));

/*
 * False in a forked child that has not noticed yet. One that a handler forked by a raw clone goes
 * on inside its parent's record, so this is asked before each record is put: after it come a few
 * stores of what was made before, the same in both processes.
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
    RECORDER_ARENA_ALLOCATION, /* as the two above, of the program's own allocators */
    RECORDER_ARENA_END,
    RECORDER_NOTE, /* marks, modules: no event of the program's heap, never counted as dropped */
};

/* Starts recording, unless it has been started or is off. Called by the constructor and by the
 * first event, whichever comes first. */
void recorder_start(void);

_Static_assert(offsetof(struct thread_local_part, guard_return) ==
                   offsetof(struct thread_local_part, guard) + sizeof(void *),
               "both are stored at once");

/* A handler that came between the two words would find a guard that seems stale. */
static inline void recorder_take_guard(struct thread_local_part *self, const void *frame)
{
    arch_store_frame(&self->guard, &self->guard_return, frame);
    atomic_signal_fence(memory_order_seq_cst);
}

struct thread *recorder_enter_slow(const void *frame, enum recorder_event event);
void recorder_leave_slow(void);

/* The guard is taken before the state is read: a handler that interrupts this and forks leaves a
 * child that either reads the wiped state, or whose fork saw the guard. */
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

/* A process outside has ended the recording (trace_file_is_sealed()): nothing more is recorded. */
void recorder_sealed(void);

/* False where nothing can be recorded any more, or never could. */
bool recorder_is_at_work(void);

/* Recording cannot go on: later events are counted. `events` of them are lost already. */
void recorder_out_of_room(uint64_t events);

/* Begins recording where it has not begun; for a thread that holds the guard. */
void recorder_begin(struct thread *thread);

/* From here on nothing can be recorded, for the reason that one message gives: events are counted.
 */
void recorder_stop_for(const char *why);

/* Pauses or resumes; false where it was so already or nothing is recorded. */
bool recorder_set_paused(const void *frame, bool paused);

/* Each count-th allocation is a snapshot, in this trace and those of mprof_restart(). */
void recorder_set_autosave(const void *frame, uint64_t count);

/* Ends recording in this process, as the program asks for. Children do not record either. */
void recorder_stop(const void *frame);

/*
 * Goes on in a new trace, `path` or (NULL) the usual name, after a stop. Threads that are recording
 * an event just now are waited for. Does nothing where recording was never on.
 */
void recorder_restart(const void *frame, const char *path);

/*
 * Seals the trace: END record, clock pair, sums. Events that come later are still recorded.
 * Does nothing in a vfork child, which shares its parent's memory and must leave its trace be.
 * recorder_end_undone() takes it back after an exec that failed.
 */
void recorder_end(const void *frame, enum trace_end_reason reason);
void recorder_end_undone(void);

#endif
