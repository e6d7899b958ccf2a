/*
 * Branches: inner parts of stacks that a thread has taken before.
 *
 * A program that allocates in a loop goes to and fro between a few inner parts over the same
 * outer frames. Each is kept with the words that its steps depended on, under the pc and stack
 * pointer of its innermost frame. While those words, the kept frame that it stands on (its
 * base), and all that the base depends on are the same, so is the stack: no frame is walked and
 * no node looked up. What is read is what a walk would read.
 *
 * A table of the thread alone, in sets; in each the newest branch takes the oldest one's place.
 */
#ifndef MPROF_CAPTURE_STACK_BRANCH_H
#define MPROF_CAPTURE_STACK_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack_pairs.h"
#include "capture/stack_thread.h"

#define STACK_BRANCH_SETS_LOG2 8u
#define STACK_BRANCH_WAYS 4u
#define STACK_BRANCH_LEAVES_LOG2 9u
#define STACK_BRANCH_PAIRS 12u
/* Most branches have no more. */
#define STACK_BRANCH_NEAR 6u

/* Four lines of the cache, of which most looks need two and a half. */
struct stack_branch {
    uint64_t pc, sp, rbp; /* of the innermost frame; rbp where needs_rbp */
    uint64_t base_sp, base_rbp;
    uint32_t base, base_node; /* index among the kept frames, and its node */
    uint32_t node;            /* of the innermost frame */
    uint32_t generation;
    bool needs_rbp, base_needs_rbp;
    bool is_long;                                /* more than STACK_BRANCH_NEAR pairs */
    struct stack_pair pairs[STACK_BRANCH_PAIRS]; /* filled up by the first one again */
};

/*
 * Where the return address of a frame lies, as it was found when a branch began at this pc. Only
 * a hint, which spreads the branches of allocation wrappers by their callers.
 */
struct stack_branch_leaf {
    uint64_t pc, offset;
};

/* Begins at a line of the cache. The tags of a set lie together: one look tells that a branch is
 * not there. */
#define STACK_BRANCHES_ALIGNMENT 64u
struct stack_branches {
    struct stack_branch ways[1u << STACK_BRANCH_SETS_LOG2][STACK_BRANCH_WAYS];
    struct stack_branch_leaf leaves[1u << STACK_BRANCH_LEAVES_LOG2];
    struct stack_branch_set {
        uint32_t tags[STACK_BRANCH_WAYS]; /* of pc and stack pointer; 0: none */
        uint32_t kept;                    /* branches that were ever put here */
    } sets[1u << STACK_BRANCH_SETS_LOG2];
};

struct stack_branch_key {
    uint32_t set, tag;
};

static inline struct stack_branch_leaf *stack_branch_leaf(const struct stack_thread *thread,
                                                          uint64_t pc)
{
    uint64_t hash = pc * UINT64_C(0x9e3779b97f4a7c15);
    return &thread->branches->leaves[hash >> (64 - STACK_BRANCH_LEAVES_LOG2)];
}

/* `sp` must lie on the thread's own stack, in a frame that is running. */
static inline struct stack_branch_key stack_branch_key(const struct stack_thread *thread,
                                                       uint64_t pc, uint64_t sp)
{
    const struct stack_branch_leaf *leaf = stack_branch_leaf(thread, pc);
    uint64_t hash = (pc + (sp << 7)) * UINT64_C(0x9e3779b97f4a7c15);
    if (leaf->pc == pc && leaf->offset < thread->memory.own_high - 8 - sp)
        hash = (hash ^ *(const uint64_t *)(sp + leaf->offset)) * UINT64_C(0x9e3779b97f4a7c15);
    return (struct stack_branch_key){(uint32_t)(hash >> (64 - STACK_BRANCH_SETS_LOG2)),
                                     (uint32_t)(hash >> 24) | 1};
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
    if (branch->sp != first->sp || branch->pc != first->pc ||
        branch->generation != thread->generation || branch->base >= thread->count ||
        (branch->needs_rbp && branch->rbp != first->rbp))
        return false;
    const struct stack_kept *base = &thread->kept[branch->base];
    return base->node == branch->base_node && base->sp == branch->base_sp &&
           (!base->needs_rbp || (branch->base_needs_rbp && base->rbp == branch->base_rbp));
}

/* Whether the words of `branch` itself are as they were. */
static inline bool stack_branch_same(const struct stack_branch *branch)
{
    return !pairs_difference(branch->pairs, STACK_BRANCH_NEAR) &&
           (!branch->is_long || !pairs_difference(branch->pairs + STACK_BRANCH_NEAR,
                                                  STACK_BRANCH_PAIRS - STACK_BRANCH_NEAR));
}

/* Remembers the kept frames inward of kept[base], if the words they depend on are not too many. */
void stack_branch_keep(struct stack_thread *thread, uint32_t base);

#endif
