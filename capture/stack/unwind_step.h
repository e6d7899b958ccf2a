/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps outward once: from a frame to its caller, by the rule of its pc. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/os/arch_x86_64.h"
#include "capture/stack/memory.h"
#include "capture/stack/thread_state.h"
#include "capture/stack/unwind_table.h"

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

/* Fills in the caller, and the flags of `frame` that say what the step depended on. If it fails,
 * `probe` is the word whose value was the reason (address 0: none). */
enum unwind_step unwind_step_outward(struct stack_memory *memory, struct unwind_walk *walk,
                                     struct stack_frame *frame, struct stack_frame *caller,
                                     struct stack_pair *probe);

/* `values` are the ARCH_REGISTERS registers. `initial`, unless NULL, is pushed first. Returns false
 * if the expression is damaged, uses an unknown operation, takes more than 256 operations, or reads
 * unmapped memory. */
bool unwind_expression_evaluate(const struct unwind_location *expression, const uint64_t *values,
                                const uint64_t *initial, struct stack_memory *memory,
                                uint64_t *result);
