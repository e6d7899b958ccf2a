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

#include "capture/stack/unwind_step.h"

enum unwind_step unwind_full_step(struct stack_memory *memory, struct unwind_walk *walk,
                                  const struct stack_frame *frame, struct stack_frame *caller);

#endif
