/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks a stack that is neither known to be the last one nor one of the thread's branches. */
#ifndef MPROF_CAPTURE_STACK_WALK_H
#define MPROF_CAPTURE_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/thread_state.h"

/*
 * Walks outward from thread->changed[0], which the caller has filled after stack_memory_begin(),
 * and keeps the stack. `guess`: use the frame pointer if code has no rule. Returns the id of the
 * innermost node, or 0 if it could not be written.
 */
uint32_t stack_walk(struct stack_thread *thread, bool guess, void *context);

#endif
