/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The per-thread state of taking stacks: the last stack, and room for the frames that changed.
 *
 * Kept frames lie outermost first, so a change at the inner end pushes and pops at the end of the
 * array. For each frame, `pairs` holds the words that were read from the stack to step from it to
 * its caller. While these words keep their values, the same frame has the same callers.
 *
 * A thread has a second such state for stacks that are not its own (other_stacks.h).
 */
#ifndef MPROF_CAPTURE_STACK_THREAD_STATE_H
#define MPROF_CAPTURE_STACK_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/memory.h"

#define STACK_DEPTH_LIMIT 4096u
#define STACK_DEPTH_LIMIT_MAX 65536u

/* A word of the stack on which a step outward depended. */
struct stack_pair {
    uint64_t address, value;
};

/* A frame as it is walked. */
struct stack_frame {
    uint64_t pc, sp, rbp;
    uint64_t pc_slot;  /* addresses from which the step from the inner frame to this one read pc, */
    uint64_t rbp_slot; /* rbp, and (realigned or interrupted frames) the CFA; 0: not read */
    uint64_t cfa_slot;
    uint64_t cfa_value;
    uint64_t path;      /* see context_tree.h */
    uint32_t exact;     /* pc is an interrupted instruction, not a return address */
    uint32_t uses_rbp;  /* the step outward depends on rbp */
    uint32_t needs_rbp; /* this step or one further out depends on rbp as it is here */
    uint32_t transient; /* depends on state that pairs cannot hold: walk it again each time */
    uint32_t no_rule;   /* its code has no rule: the frame pointer led to its caller */
};

/* A frame of the last stack. */
struct stack_kept {
    uint64_t pc, sp;
    uint64_t path;
    uint64_t rbp; /* correct if needs_rbp; otherwise it may be out of date */
    uint32_t node;
    uint32_t pair_end; /* pairs up to here belong to this frame and its callers */
    uint32_t exact, needs_rbp;
};

enum stack_end { STACK_END_WHOLE, STACK_END_CUT, STACK_END_UNKNOWN };

struct stack_thread {
    struct stack_memory memory;
    uint32_t generation; /* of the modules, when the frames were taken */
    uint32_t limit;
    uint32_t count; /* frames of the last stack that are kept */
    enum stack_end end;
    struct stack_kept *kept;         /* room for `limit` frames, outermost first */
    struct stack_frame *changed;     /* room for limit + 1 frames, innermost first */
    struct stack_pair *pairs;        /* three for each frame, and one for the end */
    struct stack_branches *branches; /* see branch.h */
    struct runtime_stack *runtime;   /* see runtime_stack.h */
    struct stack_thread *other;      /* of the thread's other stacks; NULL: this is it */
    struct stack_chain **chains;     /* see other_stacks.h */
    struct copied_stacks *copied;    /* see copied_stacks.h */
};

#endif
