/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The full unwinder, for rows that need more registers than rsp and rbp. The loader's lazy binding
 * keeps its frame in rbx, and hand-written assembly keeps it in any register.
 *
 * It starts from the registers of this call and steps outward through the recorder's own frames.
 * So a callee-saved register is known if the tables say where it is.
 */
#ifndef MPROF_CAPTURE_STACK_UNWIND_FULL_H
#define MPROF_CAPTURE_STACK_UNWIND_FULL_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/os/arch_x86_64.h"
#include "capture/stack/thread_state.h"

enum unwind_step {
    UNWIND_STEP_CALLER,    /* `caller` is filled */
    UNWIND_STEP_OUTERMOST, /* there is none: the stack is complete */
    UNWIND_STEP_UNKNOWN    /* no rule, or one that leads nowhere */
};

/* All callee-saved registers, for the rare rules that need more than rsp and rbp. */
struct unwind_registers {
    bool valid;
    uint64_t pc, exact;
    uint64_t values[ARCH_REGISTERS];
};

/* The state of one walk. Before the first step, registers.valid and guessed are false. */
struct unwind_walk {
    struct unwind_registers registers;
    bool guess;   /* guess by the frame pointer if there is no rule */
    bool guessed; /* the frame to step from was found by a guess */
};

enum unwind_step unwind_full_step(struct stack_memory *memory, struct unwind_walk *walk,
                                  const struct stack_frame *frame, struct stack_frame *caller);

#endif
