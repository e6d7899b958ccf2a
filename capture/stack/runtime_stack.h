/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks in which the functions of runtimes lie between the native frames that evaluate them.
 *
 * Each thread keeps its last such stack. The frames that are the same from the outermost on are not
 * looked up again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/stack/thread_state.h"

/* Returns the bytes that a thread needs for stacks of at most `limit` native frames. They are
 * reserved, but take no memory before there is a runtime. */
size_t runtime_stack_size(uint32_t limit);

/* Places the thread's room at `room`, which is zero. */
void runtime_stack_init(struct stack_thread *thread, void *room);

/* Forgets the last stack: its nodes are no longer valid. */
void runtime_stack_clear(struct stack_thread *thread);

/*
 * Does what stack_current() does if there are runtimes. `guess` as in walk.h. `entry` are the words
 * of the frame of the entry point.
 */
uint32_t runtime_stack_current(struct stack_thread *thread, const uint64_t *entry, bool guess,
                               void *context);
