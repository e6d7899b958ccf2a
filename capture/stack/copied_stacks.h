/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that take turns at one place: some coroutines copy the thread's own stack out and in when
 * they switch. After a switch the frames are those of an earlier stack, which would be walked
 * whole.
 *
 * So a thread keeps a few of its stacks. A walk that has met none of the kept frames for a while
 * looks for its frame in the others. The stack that came after the present one the last time is
 * tried first. In programs without such coroutines that finds nothing, and is soon tried seldom.
 */
#ifndef MPROF_CAPTURE_STACK_COPIED_STACKS_H
#define MPROF_CAPTURE_STACK_COPIED_STACKS_H

#include <stddef.h>

#include "capture/stack/thread_state.h"

/* Returns the bytes that copied_stacks_init() needs. */
size_t copied_stacks_size(uint32_t limit);
/* Gives `thread` zeroed room for its other stacks. The first use touches it. */
void copied_stacks_init(struct stack_thread *thread, void *room);

/* Returns the number of walked frames after which a walk calls copied_stacks_find(). */
uint32_t copied_stacks_pause(const struct stack_thread *thread);
/* Returns after how many frames it calls it again, if it found nothing after `pause` frames. */
uint32_t copied_stacks_next_pause(uint32_t pause);
/*
 * Makes the stack the kept one that has `frame` and, unchanged, its callers. Returns their number,
 * from the outermost frame to `frame`. 0: there is none.
 */
uint32_t copied_stacks_find(struct stack_thread *thread, const struct stack_frame *frame);
/* Called before `walked` frames replace those from `same` on. Keeps the present stack and begins
 * another one with the outer `same` frames, if the stack may come back. */
void copied_stacks_save(struct stack_thread *thread, uint32_t same, uint32_t walked);
/* Forgets all stacks but the present one. */
void copied_stacks_clear(struct stack_thread *thread);

#endif
