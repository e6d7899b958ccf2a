/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums up the stacks that a function is on, for a row of function_total. */
#ifndef MPROF_INGEST_WRITE_FUNCTION_SUM_H
#define MPROF_INGEST_WRITE_FUNCTION_SUM_H

#include "ingest/replay/stack_usage.h"

/* All bytes 0: no stack is counted yet. */
struct function_sum {
    struct stack_usage self; /* of stacks whose call site is in the function; without its peak */
    uint64_t bytes, count;   /* of stacks that the function is on */
    size_t stack;            /* the last of them + 1 */
};

/* Counts a stack that the function is on. Call it for all frames of one stack before the next
 * stack: a recursive function counts once. */
static inline void function_sum_add(struct function_sum *sum, size_t stack,
                                    const struct stack_usage *usage)
{
    if (sum->stack == stack + 1)
        return;
    sum->stack = stack + 1;
    sum->bytes += usage->bytes;
    sum->count += usage->allocations;
}

/* Counts a stack whose call site is in the function. */
static inline void function_sum_add_self(struct function_sum *sum, const struct stack_usage *usage)
{
    struct stack_usage *self = &sum->self;
    self->bytes += usage->bytes;
    self->allocations += usage->allocations;
    self->live_bytes += usage->live_bytes;
    self->live_count += usage->live_count;
    self->at_peak_bytes += usage->at_peak_bytes;
}

#endif
