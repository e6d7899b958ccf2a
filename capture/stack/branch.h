/* SPDX-License-Identifier: BSD-2-Clause */
/* Branches: inner parts of stacks that a thread has taken before.
 *
 * A program that allocates in a loop alternates between a few inner parts over the same outer
 * frames. Each such branch is kept under the pc and stack pointer of its innermost frame, with the
 * words that its steps depended on. Its base is the kept frame that it lies on. The stack is the
 * same while those words, the base and all that the base depends on are the same. Then no frame is
 * walked and no node looked up. The words that are read are those that a walk would read.
 *
 * The table belongs to one thread and consists of sets. In a full set a newer branch replaces an
 * older one. A set's tags contain the whole stack pointer, so branches with equal tags lie at the
 * same addresses.
 *
 * The cost of a search is the number of cache lines that it touches. Branches are packed, so most
 * take one line. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/thread_state.h"

#define STACK_BRANCH_SETS_LOG2 9u
#define STACK_BRANCH_WAYS 4u
#define STACK_BRANCH_LEAVES_LOG2 9u
/* Most branches have at most this many words, and need no rbp. */
#define STACK_BRANCH_NEAR 6u
#define STACK_BRANCH_FAR 6u
#define STACK_BRANCH_PAIRS (STACK_BRANCH_NEAR + STACK_BRANCH_FAR)

/* A packed word of the stack. The upper bits hold its former value, which is below 2^48 like the
 * addresses of code and stacks. The lower bits hold its distance from the stack pointer of the
 * innermost frame, in words. */
#define STACK_BRANCH_DISTANCE_BITS 16u
#define STACK_BRANCH_DISTANCE_MASK ((UINT64_C(1) << STACK_BRANCH_DISTANCE_BITS) - 1)

/* The first pair is the return address above which the base begins. Copies fill the rest. */
struct stack_branch {
    uint64_t head;            /* pc of the innermost frame, flags, index of the base */
    uint32_t node, base_node; /* of the innermost frame, and of the base */
    uint64_t pairs[STACK_BRANCH_NEAR];
    /* Used if the branch has more pairs, or its innermost frame or its base needs rbp: */
    uint64_t more[STACK_BRANCH_FAR];
    uint64_t rbp, base_rbp;
};
_Static_assert(sizeof(struct stack_branch) == 128, "two lines of the cache");
/* The fields of `head`. */
#define STACK_BRANCH_PC_BITS 48u
#define STACK_BRANCH_FAR_FLAG (UINT64_C(1) << 48)
#define STACK_BRANCH_RBP_FLAG (UINT64_C(1) << 49)
#define STACK_BRANCH_BASE_RBP_FLAG (UINT64_C(1) << 50)
#define STACK_BRANCH_BASE_SHIFT 51u

/* The place of a frame's return address, as it was found when a branch began at this pc. It is only
 * a hint, which spreads the branches of allocation wrappers by their callers. */
struct stack_branch_leaf {
    uint64_t pc, offset;
};

/* Starts on a cache line. One look at a set's tags tells that a branch is not there. */
#define STACK_BRANCHES_ALIGNMENT 64u
struct stack_branches {
    struct stack_branch ways[1u << STACK_BRANCH_SETS_LOG2][STACK_BRANCH_WAYS];
    struct stack_branch_leaf leaves[1u << STACK_BRANCH_LEAVES_LOG2];
    uint64_t tags[1u << STACK_BRANCH_SETS_LOG2][STACK_BRANCH_WAYS]; /* 0: none */
    uint32_t kept;                                                  /* in full sets */
};

/* With a runtime, a branch is one of a merged stack (runtimes.h), which also depends on the
 * frames of the runtime. This holds the hash of these for each branch. */
struct stack_branch_lists {
    uint64_t of[1u << STACK_BRANCH_SETS_LOG2][STACK_BRANCH_WAYS];
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

/* `sp` must lie on the thread's own stack, in a frame that is running. `list` is the hash of the
 * frames of a runtime (struct stack_branch_lists); 0: there is no runtime. */
static inline __attribute__((always_inline)) struct stack_branch_key
stack_branch_key(const struct stack_thread *thread, uint64_t pc, uint64_t sp, uint64_t list)
{
    const struct stack_branch_leaf *leaf = stack_branch_leaf(thread, pc);
    uint64_t left = thread->memory.own_high - sp;
    uint64_t hash = pc + (sp << 7) + list;
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

/* Does what stack_branch_key() does, for a frame on another stack: there only the page of the
 * running frame is read. */
static inline struct stack_branch_key stack_branch_key_other(const struct stack_thread *other,
                                                             uint64_t pc, uint64_t sp)
{
    const struct stack_branch_leaf *leaf = stack_branch_leaf(other, pc);
    uint64_t hash = pc + (sp << 7);
    if (leaf->pc == pc && ((sp - 16) ^ (sp + leaf->offset)) < ARCH_PAGE_SIZE)
        hash += *(const uint64_t *)(sp + leaf->offset) << 21;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return (struct stack_branch_key){(uint32_t)(hash >> (64 - STACK_BRANCH_SETS_LOG2)),
                                     sp << 24 | (hash >> 24 & 0xffffff)};
}

/* Compares the parts of `branch` beyond its first line. The branch lies on `base`. */
bool stack_branch_far_same(const struct stack_branch *branch, const struct stack_kept *base,
                           uint64_t sp, uint64_t rbp);

/* Returns the base of `branch` if the branch begins at (pc, sp, rbp), has the same words, and lies
 * on a frame that is still kept. Otherwise returns NULL. pc, sp and rbp were just read from the
 * entry point. The caller must compare the words of the base. */
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

/* Returns the node of a stack whose inner part was walked before, or 0 if none is the same. `lists`
 * and `list` are those of stack_branch_keep(). */
static inline __attribute__((always_inline)) uint32_t
stack_branch_find(const struct stack_thread *thread, uint64_t pc, uint64_t sp, uint64_t rbp,
                  const struct stack_branch_lists *lists, uint64_t list)
{
    if (!stack_memory_is_own(&thread->memory, sp))
        return 0;
    struct stack_branch_key key = stack_branch_key(thread, pc, sp, list);
    const uint64_t *tags = thread->branches->tags[key.set];
    for (uint32_t way = 0; way < STACK_BRANCH_WAYS; way++) {
        if (tags[way] != key.tag || (lists && lists->of[key.set][way] != list))
            continue;
        const struct stack_branch *branch = &thread->branches->ways[key.set][way];
        const struct stack_kept *base = stack_branch_base(branch, thread, pc, sp, rbp);
        if (base && pairs_same(thread->pairs, base->pair_end))
            return branch->node;
    }
    return 0;
}

/* Does what stack_branch_find() does on another stack than the thread's own. */
uint32_t stack_branch_find_other(const struct stack_thread *other, uint64_t pc, uint64_t sp,
                                 uint64_t rbp);

/* Forgets all branches. */
void stack_branch_clear(struct stack_thread *thread);

/* Keeps the frames inward of kept[base] as a branch of a stack whose innermost node is `node`,
 * unless they depend on too many words. With a runtime, `list` is the hash of its frames, and is
 * kept in `lists`; NULL and 0: there is none. */
void stack_branch_keep(struct stack_thread *thread, uint32_t base, uint32_t node,
                       struct stack_branch_lists *lists, uint64_t list);
