/* SPDX-License-Identifier: BSD-2-Clause */
/* Evaluates every expression of a row, to check what it reads. The results do not matter. */
#ifndef MPROF_TESTS_UNWIND_EVALUATE_H
#define MPROF_TESTS_UNWIND_EVALUATE_H

#include "capture/stack/unwind_step.h"
#include "capture/stack/unwind_table.h"

static inline void unwind_evaluate(const struct unwind_row *row)
{
    static struct stack_memory memory;
    uint64_t values[ARCH_REGISTERS] = {0}, result, initial = 1;
    if (row->cfa.how == UNWIND_IS_EXPRESSION)
        unwind_expression_evaluate(&row->cfa, values, NULL, &memory, &result);
    for (unsigned i = 0; i < ARCH_REGISTERS; i++)
        if (row->registers[i].how >= UNWIND_AT_EXPRESSION)
            unwind_expression_evaluate(&row->registers[i], values, &initial, &memory, &result);
}

#endif
