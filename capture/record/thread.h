/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder's state of each thread, which outlives threads.
 *
 * A thread gets a state at its first event and gives it back when it ends. The state keeps the
 * partly used chunk. The next thread that takes the state continues in the same chunk after a
 * SWITCH record, so thousands of short threads fill one chunk. States lie in mapped memory and are
 * never unmapped. The free states form a lock-free stack.
 *
 * All functions need the thread's guard (see recorder.h) held.
 */
#ifndef MPROF_CAPTURE_RECORD_THREAD_H
#define MPROF_CAPTURE_RECORD_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/os/clock.h"
#include "capture/record/sampling.h"
#include "capture/record/threshold.h"
#include "capture/stack/stack.h"
#include "capture/trace/chunk.h"

/* The deviations of a thread's events from the usual case, in one word that each event reads. */
enum thread_way {
    THREAD_SELECTED = 1,    /* event_filter.h decides about events */
    THREAD_FREE_STACKS = 2, /* frees have stacks */
    THREAD_OTHER_CLOCK = 4, /* the clock is not a TSC that is read at each event */
    THREAD_NEW_STACK = 8,   /* stack_thread_init() has not been called */
    THREAD_SHARED = 16,     /* other threads record too; set by them, and never taken back */
};

/* The fields that every event reads or writes come first, on one cache line. */
struct thread {
    _Atomic uint32_t ways; /* enum thread_way */
    struct chunk chunk;
    struct threshold_part counted;
    struct sample sample;     /* --sample: distance to the next sample point */
    uint32_t clock_countdown; /* clock=fast: events until the next read */
    uint64_t clock_ticks;     /* clock=fast: the last read */
    uint32_t number;          /* of the thread that has this state, from 1 */
    uint32_t sequence;        /* of its next chunk or segment */
    bool called;              /* call_watch.h: a function that recording waits for was called */
    _Atomic bool left_over;   /* its chunk is in the previous trace */
    const struct thread_local_part *owner;
    struct stack_thread *stack;
    _Atomic int kernel_id; /* 0: free */
    uint32_t index;        /* in the table of states */
    uint32_t next_free;    /* index + 1 of the next free state, 0: none */
    char name[16];
    uint8_t scratch[TRACE_EXTENDED_MAX + 64]; /* payload under construction */
};

/* The state that stays with a thread when it has no struct thread. Initial-exec: reached without a
 * call. */
struct thread_local_part {
    struct thread *thread;
    const void *guard;        /* frame of the entry point that is recording; NULL: none */
    const void *guard_return; /* the return address in that frame */
    uint32_t number;          /* 0: never seen */
    uint32_t trace;           /* the trace of these numbers: one more for each restart */
    uint32_t sequence;
    _Atomic uint32_t dropped; /* events that came while the guard was held */
    uint32_t at_leave;        /* enum thread_at_leave */
    uint64_t fork_ticks;      /* stamp at which its last fork() began */
};

/* The duties of recorder_leave() besides giving back the guard. */
enum thread_at_leave {
    THREAD_FINISHED = 1, /* its key destructors have run: states are borrowed for one event */
    THREAD_ASKED = 2,    /* another process or --toggle asks for something */
    THREAD_PASSED = 4,   /* a limit of threshold.h is passed, or call_watch.h has seen a call */
};
extern __thread struct thread_local_part thread_local_part
    __attribute__((tls_model("initial-exec")));

static inline uint32_t thread_ways(const struct thread *thread)
{
    return atomic_load_explicit(&thread->ways, memory_order_relaxed);
}

/* Returns the stamp of the end of a block, before the end. If other threads record, one of them may
 * have made the block just now (clock.h). */
static inline uint64_t thread_clock_before(const struct thread *thread)
{
    return thread_ways(thread) & THREAD_SHARED ? clock_after() : clock_before();
}

/* Called once in a process, before the other functions. */
void thread_process_init(void);
/* Sets the ways of all threads to come. */
void thread_process_set_ways(uint32_t ways);
/* Frees all states and begins the numbers again, in a forked child once its own trace is open. */
void thread_process_forked(void);

/* Returns the kernel's id of another thread that has a state, or 0 if there is none. */
int thread_other_id(void);

/* Waits until no other thread is inside an event, for a limited number of turns. */
void thread_process_settle(void);
/* Makes all threads begin again in the new trace at their next event, after a restart. */
void thread_process_restarted(void);

/* Gives the calling thread a state and names it in the trace. Returns NULL if there is none. */
struct thread *thread_acquire(void);
/* Gives up the calling thread's state. `ended`: write in the trace that the thread has ended. */
void thread_release(bool ended);

/*
 * Makes at least `need` bytes of room, in a new chunk if necessary, and writes the records that the
 * thread owes (dropped events, a new name). Returns false if recording has stopped.
 */
bool thread_make_room(struct thread *thread, size_t need);

/* Writes a THREAD record if the thread's name has changed. */
void thread_update_name(struct thread *thread);

/*
 * Write an extended record. thread_extended_begin() makes room for `size` bytes of payload and
 * returns where they go (NULL: recording has stopped). thread_extended_end() writes the record with
 * the payload up to `end`.
 */
uint8_t *thread_extended_begin(struct thread *thread, size_t size);
void thread_extended_end(struct thread *thread, enum trace_extended type, const uint8_t *end);
/* Puts the `when` of an extended record: now, relative to the coding state. */
uint8_t *thread_put_when(const struct thread *thread, uint8_t *payload);

/* Puts a sample of the process's resident set. Does nothing if mprof-run takes the samples. */
void thread_put_resident(struct thread *thread);
/* Sets whether each new chunk begins with such a sample. */
void thread_sample_resident(bool wanted);

/* Puts an extended record that consists of its `when` and one number. */
void thread_put_number(struct thread *thread, enum trace_extended type, uint64_t number);

/* Seals the chunks that no thread writes: the thread's own and those of free states. */
void thread_seal_idle(struct thread *thread);

#endif
