/* SPDX-License-Identifier: BSD-2-Clause */
/* Walks a stack that is neither known to be the last one nor one of the thread's branches. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/thread_state.h"

/* Walks outward from thread->changed[0], which the caller has filled after stack_memory_begin(),
 * and keeps the stack. `guess`: use the frame pointer if code has no rule. Returns the id of the
 * innermost node, or 0 if it could not be written. */
uint32_t stack_walk(struct stack_thread *thread, bool guess, void *context);

/* Does the same for a stack that is not the thread's own. `thread` is its state of other stacks. */
uint32_t stack_walk_other(struct stack_thread *thread, bool guess, void *context);

/* A walked stack: first the outer frames that were kept before, then the walked ones. */
struct stack_walked {
    const struct stack_kept *outer;  /* outermost first */
    const struct stack_frame *inner; /* innermost first */
    uint32_t outer_count, inner_count;
    uint32_t kept; /* so many of these frames the thread keeps now, and no others */
    enum stack_end end;
};

/* Does what stack_walk() does, but looks up no nodes: those of the kept frames are not valid. The
 * result is valid until the next walk. */
void stack_walk_frames(struct stack_thread *thread, bool guess, struct stack_walked *walked);
