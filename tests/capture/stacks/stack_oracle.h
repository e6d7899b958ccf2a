/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares stacks with those of libunwind, completely and frame by frame.
 *
 * Nodes and modules that stack_current() hands over are kept in memory. Differences are reported on
 * standard error, the first few in full.
 */
#ifndef MPROF_TESTS_STACK_ORACLE_H
#define MPROF_TESTS_STACK_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/stack/stack.h"

void stack_oracle_init(const struct stack_options *options);
/* Returns a zeroed and initialized state for the calling thread. */
struct stack_thread *stack_oracle_thread(void);

/*
 * Takes the stack from `entry_frame` (see stack.h) and, if `compare`, libunwind's too. A difference
 * is counted and reported. Returns the node.
 */
uint32_t stack_oracle_check(struct stack_thread *thread, const void *entry_frame, bool compare);

/* Writes the pcs of a node, innermost first, and the kind of the outermost marker (0: none) to
 * *marker. Returns the number of pcs. */
size_t stack_oracle_expand(uint32_t node, uint64_t *pcs, size_t size, unsigned *marker);
/* Returns the path of the module with this id, "" for 0, NULL if it was never handed over. */
const char *stack_oracle_module(uint32_t id);
/* Returns the module of a node's innermost frame. */
uint32_t stack_oracle_node_module(uint32_t node);
/* Returns the address of that frame as it was handed over: in that module's file. */
uint64_t stack_oracle_node_value(uint32_t node);
unsigned stack_oracle_ended_modules(void);
/*
 * Makes the sink refuse `count` nodes or modules after the next `after` ones, as if the disk were
 * full. A stack with a refused node must be 0. Later ones are compared again.
 */
void stack_oracle_refuse(unsigned long after, unsigned long count);
unsigned long stack_oracle_refused(void);
/* Forgets all nodes and modules, in a forked child, where none was handed over yet. */
void stack_oracle_forget(void);

struct stack_oracle_counts {
    unsigned long taken, compared;
    unsigned long disputed; /* libunwind differed, libgcc did not: not counted as differences */
    unsigned long jumps;    /* stacks of a signal in the last instructions of longjmp */
    unsigned long differences, frames;
};
struct stack_oracle_counts stack_oracle_counts(void);

#endif
