/*
 * Branches: inner parts of stacks that a thread has taken before.
 *
 * A program that allocates in a loop goes to and fro between a few inner parts over the same
 * outer frames. Each is kept with the words that its steps depended on, under the pc and stack
 * pointer of its innermost frame. While those words, the kept frame that it stands on (its
 * base), and all that the base depends on are the same, so is the stack: no frame is walked and
 * no node looked up. What is read is what a walk would read.
 *
 * A table of one entry a place, of the thread alone; a newer branch takes an older one's place.
 */
#ifndef MPROF_CAPTURE_STACK_BRANCH_H
#define MPROF_CAPTURE_STACK_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack_thread.h"

#define STACK_BRANCHES_LOG2 10u
#define STACK_BRANCH_PAIRS 16u
#ifndef STACK_BRANCH_WAYS
#define STACK_BRANCH_WAYS 4u
#endif

struct stack_branch {
    uint64_t pc, sp, rbp; /* of the innermost frame; rbp where needs_rbp */
    uint64_t base_sp, base_rbp;
    uint32_t base, base_node; /* index among the kept frames, and its node */
    uint32_t node;            /* of the innermost frame; 0: no branch */
    uint32_t generation;
    uint32_t pair_count;
    uint32_t next;
    bool needs_rbp, base_needs_rbp;
    struct stack_pair pairs[STACK_BRANCH_PAIRS];
};

static inline struct stack_branch *stack_branch_place(const struct stack_thread *thread,
                                                      uint64_t pc, uint64_t sp)
{
    uint64_t hash = (pc + (sp << 7)) * UINT64_C(0x9e3779b97f4a7c15);
    return &thread->branches[hash >> (64 - STACK_BRANCHES_LOG2) & ~(uint64_t)(STACK_BRANCH_WAYS - 1)];
}

/*
 * Whether `branch` begins at `first`, which was just read from the entry point, and stands on a
 * frame that is still kept. The words of branch->pairs and those of the base are the caller's
 * to compare.
 */
static inline bool stack_branch_fits(const struct stack_branch *branch,
                                     const struct stack_thread *thread,
                                     const struct stack_frame *first)
{
    if (branch->sp != first->sp || branch->pc != first->pc || !branch->node ||
        branch->generation != thread->generation || branch->base >= thread->count ||
        (branch->needs_rbp && branch->rbp != first->rbp))
        return false;
    const struct stack_kept *base = &thread->kept[branch->base];
    return base->node == branch->base_node && base->sp == branch->base_sp &&
           (!base->needs_rbp || (branch->base_needs_rbp && base->rbp == branch->base_rbp));
}

/* Remembers the kept frames inward of kept[base], if the words they depend on are not too many. */
void stack_branch_keep(struct stack_thread *thread, uint32_t base);

#endif
