/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps outward once: from a frame to its caller, by the rule of its pc. */
#ifndef MPROF_CAPTURE_STACK_UNWIND_STEP_H
#define MPROF_CAPTURE_STACK_UNWIND_STEP_H

#include <stdint.h>

#include "capture/stack/thread_state.h"
#include "capture/stack/unwind_full.h"

/*
 * Fills in the caller, and the flags of `frame` that say what the step depended on. If it fails,
 * `probe` is the word whose value was the reason (address 0: none).
 */
enum unwind_step unwind_step_outward(struct stack_memory *memory, struct unwind_walk *walk,
                                     struct stack_frame *frame, struct stack_frame *caller,
                                     struct stack_pair *probe);

#endif
