/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of threads. They lie in mapped memory, are never unmapped and outlive their threads.
 * The free states form a lock-free stack. */
#pragma once

#include "capture/record/thread.h"

/* Called once in a process, before the other functions. */
void thread_pool_init(void);
/* Frees all states, in a forked child. */
void thread_pool_after_fork(void);

/* Returns a free state or a new one, NULL if there is none. It keeps the chunk of the thread that
 * had it before. A state that is taken has a kernel_id soon. */
struct thread *thread_pool_take(void);
/* Makes the state free. */
void thread_pool_give(struct thread *thread);

/* Returns the kernel's id of another thread that has a state, or 0 if there is none. */
int thread_pool_other_id(void);

/* Waits until no other thread is inside an event, for a limited number of turns. */
void thread_pool_settle(void);

/* Does the same for a limited time, in which it must be sure: true if no other thread is inside an
 * event, and none will be while the state stays as it is. */
bool thread_pool_is_settled(void);

/* Leaves the chunks of all threads. No other thread may be inside an event. */
void thread_pool_leave_chunks(void);

/* Goes through the states that threads have now. `at` begins as 0. NULL after the last one. */
const struct thread *thread_pool_next(uint32_t *at);

/* Makes all threads begin again in the new trace at their next event, after a restart. */
void thread_pool_new_trace(void);
/* Returns the number of restarts so far. */
uint32_t thread_pool_trace(void);

/* Seals the chunks of free states. */
void thread_pool_seal(void);
