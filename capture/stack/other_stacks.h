/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of a thread that are not its own, as far as they are kept: of coroutines, of signals,
 * segments of a split stack. Their walks have a state of their own, so that the thread's own stack
 * stays kept.
 *
 * Several of them are kept, each as a chain of frames. Nothing says where a stack begins and ends,
 * so an event takes the chain whose last event was nearest. If it is the wrong one, no frame of it
 * is met, and the walk takes the chain that was not used for longest.
 */
#ifndef MPROF_CAPTURE_STACK_OTHER_STACKS_H
#define MPROF_CAPTURE_STACK_OTHER_STACKS_H

#include <stddef.h>

#include "capture/stack/thread_state.h"

/* Returns the bytes that other_stacks_init() needs. */
size_t other_stacks_size(uint32_t limit);
/* Gives `thread` room for the state of its other stacks, which is zeroed. The first use touches it.
 */
void other_stacks_init(struct stack_thread *thread, void *room);

/* Returns that state, with the chain for a running frame at `sp`. */
struct stack_thread *other_stacks_choose(struct stack_thread *thread, uint64_t sp);
/* Takes an empty chain in its place, if it is not empty. */
void other_stacks_fresh(struct stack_thread *other);
/* Forgets all chains. */
void other_stacks_clear(struct stack_thread *other);

#endif
