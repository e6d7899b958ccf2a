/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread's first event and its end.
 *
 * A thread gets a state at its first event and gives it back when it ends. The state keeps the
 * partly used chunk. The next thread that takes the state continues in the same chunk after a
 * SWITCH record, so thousands of short threads fill one chunk.
 *
 * thread_acquire() and thread_release() need the guard held.
 */
#pragma once

#include "capture/record/thread.h"

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
