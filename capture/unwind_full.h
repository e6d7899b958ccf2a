/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole unwinder, for rows that need more registers than rsp and rbp: the loader's lazy
 * binding keeps its frame in rbx, hand-written assembly in any register.
 *
 * It starts from the registers of this very call and steps through the recorder's own frames
 * outward, so that callee-saved registers are known wherever the tables say where they are.
 */
#ifndef MPROF_CAPTURE_UNWIND_FULL_H
#define MPROF_CAPTURE_UNWIND_FULL_H

#include "capture/unwind_step.h"

enum unwind_step unwind_full_step(struct stack_memory *memory, struct unwind_walk *walk,
                                  const struct stack_frame *frame, struct stack_frame *caller);

#endif
