/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluates DWARF expressions of call frame information (DWARF 5, 2.5 and 6.4.2). */
#ifndef MPROF_CAPTURE_STACK_UNWIND_EXPRESSION_H
#define MPROF_CAPTURE_STACK_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/memory.h"
#include "capture/stack/unwind_table.h"

/*
 * `values` are the ARCH_REGISTERS registers. `initial`, unless NULL, is pushed first. Returns false
 * if the expression is damaged, uses an unknown operation, takes more than 256 operations, or reads
 * unmapped memory.
 */
bool unwind_expression_evaluate(const struct unwind_location *expression, const uint64_t *values,
                                const uint64_t *initial, struct stack_memory *memory,
                                uint64_t *result);

#endif
