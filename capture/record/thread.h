/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder's state of a thread: its chunk, its coding, its stacks, and the guard around each
 * event. thread_pool.h keeps these states. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/clock.h"
#include "capture/record/chunk.h"
#include "capture/record/sampling.h"
#include "capture/stack/stack.h"

/* The flags that force the slow path of a thread's events, in one word that each event reads. */
enum thread_flag {
    THREAD_FILTERED = 1,    /* event_filter.h decides about events */
    THREAD_FREE_STACKS = 2, /* frees have stacks */
    THREAD_OTHER_CLOCK = 4, /* the clock is not a TSC that is read at each event */
    THREAD_NEW_STACK = 8,   /* stack_thread_init() has not been called */
    THREAD_SHARED = 16,     /* other threads record too; set by them, and never taken back */
    THREAD_FAST_CLOCK = 32, /* clock=fast; THREAD_OTHER_CLOCK is set, too */
};

/* A thread's counts that are not added to the sums yet (triggers.h). */
struct threshold_part {
    int64_t live;
    uint64_t allocations;
};

/* The fields that every event reads or writes come first, on one cache line. */
struct thread {
    _Atomic uint32_t flags; /* enum thread_flag */
    struct chunk chunk;
    struct threshold_part counted;
    uint32_t clock_countdown; /* clock=fast: events until the next read */
    uint64_t clock_ticks;     /* clock=fast: the last read */
    uint32_t number;          /* of the thread that has this state, from 1 */
    uint32_t sequence;        /* of its next chunk or segment */
    bool called;              /* triggers.h: a function that recording waits for was called */
    _Atomic bool left_over;   /* its chunk is in the previous trace */
    const struct thread_self *owner;
    struct stack_thread *stack;
    _Atomic int kernel_id;      /* 0: free */
    uint32_t index;             /* in the table of states */
    _Atomic uint32_t next_free; /* index + 1 of the next free state, 0: none */
    char name[16];
    uint8_t scratch[TRACE_EXTENDED_MAX + 64]; /* payload under construction */
};

/* The part of a thread without a struct thread. Initial-exec: reached without a call. */
struct thread_self {
    struct thread *thread;
    const void *guard;        /* frame of the entry point that is recording, or NULL */
    const void *guard_return; /* the return address in that frame */
    struct sample sample;     /* --sample: distance to the next sample point */
    uint32_t number;          /* 0: never seen */
    uint32_t trace;           /* the trace of these numbers: one more for each restart */
    uint32_t sequence;
    _Atomic uint32_t dropped; /* events that came while the guard was held */
    uint32_t leave_flags;     /* enum thread_leave_flag */
    uint64_t fork_ticks;      /* stamp at which its last fork() began */
};

/* The duties of recorder_leave() (gate.h) besides giving back the guard. */
enum thread_leave_flag {
    THREAD_FINISHED = 1, /* its key destructors have run: states are borrowed for one event */
    THREAD_ASKED = 2,    /* another process or --toggle asks for something */
    THREAD_PASSED = 4,   /* triggers.h has seen a limit passed, or a call */
};
extern __thread struct thread_self thread_self __attribute__((tls_model("initial-exec")));

static inline uint32_t thread_flags(const struct thread *thread)
{
    return atomic_load_explicit(&thread->flags, memory_order_relaxed);
}

/* Returns the stamp of the end of a block, before the end. If other threads record, one of them may
 * have made the block just now (clock.h). */
static inline uint64_t thread_clock_before(const struct thread *thread)
{
    return thread_flags(thread) & THREAD_SHARED ? clock_after() : clock_before();
}

_Static_assert(offsetof(struct thread_self, guard_return) ==
                   offsetof(struct thread_self, guard) + sizeof(void *),
               "both are stored at once");

/* Takes the guard. It stores both words at once, because a handler that came between two stores
 * would find a guard that seems stale. */
static inline void thread_take_guard(struct thread_self *self, const void *frame)
{
    arch_store_frame(&self->guard, &self->guard_return, frame);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void thread_give_guard(struct thread_self *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->guard = NULL;
}

/* ---- a thread's first event and its end ------------------------------------------------------ */

/* A thread gets a state at its first event and gives it back when it ends. The state keeps the
 * partly used chunk. The next thread that takes the state continues in the same chunk after a
 * SWITCH record, so thousands of short threads fill one chunk.
 *
 * thread_acquire() and thread_release() need the guard held. */

/* Called once in a process, before the other functions. */
void thread_life_init(void);
/* Sets the flags of all threads to come (enum thread_flag). */
void thread_life_set_flags(uint32_t flags);
/* Frees all states and begins the numbers again, in a forked child once its own trace is open. */
void thread_life_after_fork(void);

/* Gives the calling thread a state and names it in the trace. Returns NULL if there is none. */
struct thread *thread_acquire(void);
/* Gives up the calling thread's state. `ended`: write in the trace that the thread has ended. */
void thread_release(bool ended);
