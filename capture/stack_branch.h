/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Branches: inner parts of stacks that a thread has taken before.
 *
 * A program that allocates in a loop goes to and fro between a few inner parts over the same
 * outer frames. Each is kept with the words that its steps depended on, under the pc and stack
 * pointer of its innermost frame. While those words, the kept frame that it stands on (its
 * base), and all that the base depends on are the same, so is the stack: no frame is walked and
 * no node looked up. What is read is what a walk would read.
 *
 * A table of the thread alone, in sets; in a full one a newer branch takes an older one's place. A
 * set's tags hold all of the stack pointer, so that what is equal there lies at the same addresses.
 *
 * What a look costs is how many lines of the cache it touches: a branch is packed, so that most are
 * one line.
 */
#ifndef MPROF_CAPTURE_STACK_BRANCH_H
#define MPROF_CAPTURE_STACK_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack_thread.h"

#define STACK_BRANCH_SETS_LOG2 9u
#define STACK_BRANCH_WAYS 4u
#define STACK_BRANCH_LEAVES_LOG2 9u
/* Most branches have no more words than this, and need no rbp. */
#define STACK_BRANCH_NEAR 6u
#define STACK_BRANCH_FAR 6u
#define STACK_BRANCH_PAIRS (STACK_BRANCH_NEAR + STACK_BRANCH_FAR)

/*
 * A word of the stack and what it was, packed: its value below 2^48, as code and stack addresses
 * are, and below it its distance from the stack pointer of the innermost frame, in words.
 */
#define STACK_BRANCH_DISTANCE_BITS 16u
#define STACK_BRANCH_DISTANCE_MASK ((UINT64_C(1) << STACK_BRANCH_DISTANCE_BITS) - 1)

/*
 * The first pair is the return address above which the base begins. Fewer pairs are filled up by
 * the first one again.
 */
struct stack_branch {
    uint64_t head;            /* pc of the innermost frame, flags, index of the base */
    uint32_t node, base_node; /* of the innermost frame, and of the base */
    uint64_t pairs[STACK_BRANCH_NEAR];
    /* Where it has more pairs, or needs rbp at its innermost frame or its base: */
    uint64_t more[STACK_BRANCH_FAR];
    uint64_t rbp, base_rbp;
};
_Static_assert(sizeof(struct stack_branch) == 128, "two lines of the cache");
/* In head. */
#define STACK_BRANCH_PC_BITS 48u
#define STACK_BRANCH_FAR_FLAG (UINT64_C(1) << 48)
#define STACK_BRANCH_RBP_FLAG (UINT64_C(1) << 49)
#define STACK_BRANCH_BASE_RBP_FLAG (UINT64_C(1) << 50)
#define STACK_BRANCH_BASE_SHIFT 51u

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
    uint64_t tags[1u << STACK_BRANCH_SETS_LOG2][STACK_BRANCH_WAYS]; /* 0: none */
    uint32_t kept;                                                  /* in full sets */
};

struct stack_branch_key {
    uint32_t set;
    uint64_t tag; /* the stack pointer's distance from the stack's top, and 24 bits of a hash */
};

static inline struct stack_branch_leaf *stack_branch_leaf(const struct stack_thread *thread,
                                                          uint64_t pc)
{
    return &thread->branches
                ->leaves[(pc ^ pc >> STACK_BRANCH_LEAVES_LOG2) % (1u << STACK_BRANCH_LEAVES_LOG2)];
}

/* `sp` must lie on the thread's own stack, in a frame that is running. */
static inline struct stack_branch_key stack_branch_key(const struct stack_thread *thread,
                                                       uint64_t pc, uint64_t sp)
{
    const struct stack_branch_leaf *leaf = stack_branch_leaf(thread, pc);
    uint64_t left = thread->memory.own_high - sp;
    uint64_t hash = pc + (sp << 7);
    if (leaf->pc == pc && leaf->offset < left - 8) {
        uint64_t caller = *(const uint64_t *)(sp + leaf->offset);
        hash += caller << 21 | caller >> 43;
    }
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return (struct stack_branch_key){(uint32_t)(hash >> (64 - STACK_BRANCH_SETS_LOG2)),
                                     left << 24 | (hash >> 24 & 0xffffff)};
}

static inline __attribute__((always_inline)) uint64_t
stack_branch_difference(const uint64_t *pairs, uint64_t sp, unsigned count)
{
    const uint64_t *words = (const uint64_t *)sp;
    uint64_t difference = 0;
#pragma GCC unroll 8
    for (unsigned i = 0; i < count; i++)
        difference |=
            words[pairs[i] & STACK_BRANCH_DISTANCE_MASK] ^ pairs[i] >> STACK_BRANCH_DISTANCE_BITS;
    return difference;
}

/* What goes beyond the first line of `branch`, which stands on `base`. */
bool stack_branch_far_same(const struct stack_branch *branch, const struct stack_kept *base,
                           uint64_t sp, uint64_t rbp);

/*
 * The frame that `branch` stands on, if it begins at (pc, sp, rbp), which were just read from the
 * entry point, is the same and stands on a frame that is still kept; NULL otherwise. The words
 * of the base are the caller's to compare.
 */
static inline __attribute__((always_inline)) const struct stack_kept *
stack_branch_base(const struct stack_branch *branch, const struct stack_thread *thread, uint64_t pc,
                  uint64_t sp, uint64_t rbp)
{
    uint64_t head = branch->head, index = head >> STACK_BRANCH_BASE_SHIFT;
    if (((head ^ pc) << (64 - STACK_BRANCH_PC_BITS)) != 0 || index >= thread->count ||
        stack_branch_difference(branch->pairs, sp, STACK_BRANCH_NEAR) != 0)
        return NULL;
    const struct stack_kept *base = &thread->kept[index];
    uint64_t base_sp = sp + 8 + (branch->pairs[0] & STACK_BRANCH_DISTANCE_MASK) * 8;
    if (base->node != branch->base_node || base->sp != base_sp)
        return NULL;
    if (__builtin_expect((head & STACK_BRANCH_FAR_FLAG) != 0 || base->needs_rbp, 0) &&
        !stack_branch_far_same(branch, base, sp, rbp))
        return NULL;
    return base;
}

/* Forgets all. */
void stack_branch_clear(struct stack_thread *thread);

/* Remembers the kept frames inward of kept[base], if the words they depend on are not too many. */
void stack_branch_keep(struct stack_thread *thread, uint32_t base);

#endif
