/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks the stack where it is not known to be the last one, or one of the thread's branches. */
#ifndef MPROF_CAPTURE_STACK_WALK_H
#define MPROF_CAPTURE_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack_thread.h"

/*
 * Walks outward from thread->changed[0], which the caller has filled after stack_memory_begin(),
 * and keeps the stack. `guess`: by the frame pointer where code has no rule. Returns the id of the
 * innermost node, 0 where it could not be written.
 */
uint32_t stack_walk(struct stack_thread *thread, bool guess, void *context);

#endif
