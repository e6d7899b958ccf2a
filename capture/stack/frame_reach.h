/* SPDX-License-Identifier: BSD-2-Clause */
/* How far the code at a pc lets its frame reach: the most bytes from the frame's stack pointer to
 * its return address that the code itself explains.
 *
 * A function that was called returns through its return address, so that word is mapped as long as
 * the function runs, whatever other threads unmap. This needs no question to the kernel. It is not
 * so for code that has switched the stack: its rule leads to a place outside, which may be gone.
 * So a reach is learned only from a step to an address behind a call instruction, and not in a
 * function that may have set the stack pointer. A frame that is found by rbp must also be no larger
 * than its function makes it. */
#pragma once

#include <stdint.h>

#include "capture/os/lockfree_table.h"
#include "capture/stack/unwind_rule.h"

extern struct lockfree_table frame_reach_table;

static inline uint64_t frame_reach_place(uint64_t pc)
{
    return pc * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns the reach of the code at `pc`, as rules are looked up. 0: not known. */
static inline uint64_t frame_reach(uint64_t pc)
{
    return pc ? lockfree_table_find(&frame_reach_table, frame_reach_place(pc), pc, 0, 0) : 0;
}

/* Learns from a step by the rule of `pc` to the return address `caller`, `distance` bytes from the
 * frame's stack pointer. Learns nothing if the code does not explain that distance. */
void frame_reach_learn(uint64_t pc, unwind_rule rule, uint64_t distance, uint64_t caller);

/* Forgets the code of low <= pc < high. */
void frame_reach_forget(uint64_t low, uint64_t high);
/* Ends the changes of other threads, in a forked child. */
void frame_reach_after_fork(void);
