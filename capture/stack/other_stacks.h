/* SPDX-License-Identifier: BSD-2-Clause */
/* The stacks of a thread that are not its own, as far as they are kept: of coroutines, of signals,
 * segments of a split stack. Their walks have a state of their own, so that the thread's own stack
 * stays kept.
 *
 * Thousands of them are kept, each as a chain of frames. A chain is found by its top, the stack
 * pointer of its outermost frame: an event takes the chain with the lowest top that is not below
 * it. If that is the wrong one, no frame of it is met, and the walk shows the right top. When no
 * room is left, some stacks are not kept. After this has happened often, all are forgotten.
 *
 * Order of calls, for one event: other_stacks_choose(), and after a walk that met no frame
 * other_stacks_begin(). Before frames are kept, other_stacks_make_room(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/stack/thread_state.h"

/* Returns the bytes that other_stacks_init() needs. */
size_t other_stacks_size(void);
/* Gives `thread` room for the state of its other stacks, which is zeroed. The first use touches it.
 */
void other_stacks_init(struct stack_thread *thread, void *room);
/* Gives back what the state that other_stacks_init() made has mapped; NULL: nothing. */
void other_stacks_release(struct stack_thread *other);

/* Returns that state, with the chain for a running frame at `sp`, which may have no frames. */
struct stack_thread *other_stacks_choose(struct stack_thread *thread, uint64_t sp);
/* Takes an empty chain for a walked stack whose innermost and outermost frames are these. */
void other_stacks_begin(struct stack_thread *other, const struct stack_frame *inner,
                        const struct stack_frame *outer);
/* Makes room for `frames` frames with `pairs` pairs in the chain. Returns false if there is none;
 * what was kept can be read until the next walk. */
bool other_stacks_make_room(struct stack_thread *other, uint32_t frames, uint32_t pairs);
/* Forgets all chains. */
void other_stacks_clear(struct stack_thread *other);

/* Stacks that take turns at one place: some coroutines copy the thread's own stack out and in when
 * they switch. After a switch the frames are those of an earlier stack, which would be walked
 * whole.
 *
 * So a thread keeps such stacks. If two of them differ, the outermost differing word is a place:
 * the words at all places tell which stack is the present one, before any walk. A walk that has met
 * none of the kept frames for a while looks for its frame in some of the others. In programs
 * without such coroutines little is found, and the stacks are soon saved seldom. */

/* Returns the bytes that copied_stacks_init() needs. */
size_t copied_stacks_size(void);

/* Gives `thread` zeroed room for its other stacks. The first use touches it. */
void copied_stacks_init(struct stack_thread *thread, void *room);
/* Gives back what they have mapped. */
void copied_stacks_release(const struct stack_thread *thread);

/* Makes the stack the present one that the words at the places tell, for a running frame at `sp`.
 * Returns true if the event was not compared with the present stack yet. Then it has frames. */
bool copied_stacks_guess(struct stack_thread *thread, uint64_t sp);
/* Notes that this was right, and no walk was needed. If such stacks take turns at each event, the
 * thread then seems to have no frames, so that the next event is not compared with them in vain. */
void copied_stacks_right(struct stack_thread *thread);

/* Returns the number of walked frames after which a walk calls copied_stacks_find(). */
uint32_t copied_stacks_pause(const struct stack_thread *thread);

/* Returns after how many frames it calls it again, if it found nothing after `pause` frames. */
uint32_t copied_stacks_next_pause(uint32_t pause);

/* Makes the stack the present one that has `frame` and, unchanged, its callers. Returns their
 * number, from the outermost frame to `frame`. 0: there is none. */
uint32_t copied_stacks_find(struct stack_thread *thread, const struct stack_frame *frame);

/* Called before `walked` frames replace those from `same` on. If the stack may come back, keeps it
 * and begins another one with the outer `same` frames. */
void copied_stacks_save(struct stack_thread *thread, uint32_t same, uint32_t walked);

/* Called after copied_stacks_guess() for `sp` and a walk. Learns which words tell the present
 * stack. */
void copied_stacks_learn(struct stack_thread *thread, uint64_t sp);

/* Forgets all stacks but the present one, and all branches. */
void copied_stacks_clear(struct stack_thread *thread);
