/* SPDX-License-Identifier: BSD-2-Clause */
/* The per-thread state of taking stacks: the last stack, and room for the frames that changed.
 *
 * Kept frames lie outermost first, so a change at the inner end pushes and pops at the end of the
 * array. For each frame, `pairs` holds the words that were read from the stack to step from it to
 * its caller. While these words keep their values, the same frame has the same callers.
 *
 * A thread has a second such state for stacks that are not its own (other_stacks.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/stack/memory.h"

#define STACK_DEPTH_LIMIT 4096u
#define STACK_DEPTH_LIMIT_MAX 65536u

/* A word of the stack on which a step outward depended. */
struct stack_pair {
    uint64_t address, value;
};

/* A frame as it is walked. */
struct stack_frame {
    uint64_t pc, sp, rbp;
    uint64_t pc_slot;  /* addresses from which the step from the inner frame to this one read pc, */
    uint64_t rbp_slot; /* rbp, and (realigned or interrupted frames) the CFA; 0: not read */
    uint64_t cfa_slot;
    uint64_t cfa_value;
    uint64_t path;      /* see context_tree.h */
    uint32_t exact;     /* pc is an interrupted instruction, not a return address */
    uint32_t uses_rbp;  /* the step outward depends on rbp */
    uint32_t needs_rbp; /* this step or one further out depends on rbp as it is here */
    uint32_t transient; /* depends on state that pairs cannot hold: walk it again each time */
    uint32_t no_rule;   /* its code has no rule: the frame pointer led to its caller */
};

/* A frame of the last stack. */
struct stack_kept {
    uint64_t pc, sp;
    uint64_t path;
    uint64_t rbp; /* correct if needs_rbp; otherwise it may be out of date */
    uint32_t node;
    uint32_t pair_end; /* pairs up to here belong to this frame and its callers */
    uint32_t exact, needs_rbp;
};

enum stack_end { STACK_END_WHOLE, STACK_END_CUT, STACK_END_UNKNOWN };

struct stack_thread {
    struct stack_memory memory;
    uint32_t generation; /* of the modules, when the frames were taken */
    uint32_t limit;
    uint32_t count; /* frames of the last stack that are kept */
    enum stack_end end;
    struct stack_kept *kept;         /* room for `limit` frames, outermost first */
    struct stack_frame *changed;     /* room for limit + 1 frames, innermost first */
    struct stack_pair *pairs;        /* three for each frame, and one for the end */
    struct stack_branches *branches; /* see branch.h */
    struct runtime_stack *runtime;   /* see runtimes.h */
    struct stack_thread *other;      /* of the thread's other stacks; NULL: this is it */
    struct stack_chain **chains;     /* see other_stacks.h */
    struct copied_stacks *copied;    /* see other_stacks.h */
};

/* The functions below tell whether the words that a kept stack was read from are unchanged. */

#define PAIRS_BLOCK 8u

static inline __attribute__((always_inline)) uint64_t
pairs_difference(const struct stack_pair *pairs, uint32_t count)
{
    uint64_t difference = 0;
#pragma GCC unroll 16
    for (uint32_t i = 0; i < count; i++)
        difference |= *(const uint64_t *)pairs[i].address ^ pairs[i].value;
    return difference;
}

/* Compares the first `count` pairs with the stack, from the end backwards. Returns the number of
 * pairs up to and including the last one that differs, or 0 if none does. */
static inline uint32_t pairs_differ(const struct stack_pair *pairs, uint32_t count)
{
    const struct stack_pair *pair = pairs + count;
    while (pair - pairs >= 8) {
        uint64_t difference = 0;
        pair -= 8;
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++)
            difference |= *(const uint64_t *)pair[i].address ^ pair[i].value;
        if (difference) {
            pair += 8;
            break;
        }
    }
    while (pair != pairs && *(const uint64_t *)pair[-1].address == pair[-1].value)
        pair--;
    return (uint32_t)(pair - pairs);
}

/* Returns true if the block of pairs that begins at `pair` lies on the page of `page`. */
static inline bool pairs_on_page(const struct stack_pair *pair, uint64_t page)
{
    return ((pair[0].address ^ page) | (pair[PAIRS_BLOCK - 1].address ^ page)) < ARCH_PAGE_SIZE;
}

/* Does the same for a stack of which only that is mapped by which running functions return. From
 * the innermost frame outward, an unchanged word shows that its frame still has the same caller, so
 * the caller's words are mapped. A page is read only after all words before it. The pairs'
 * addresses descend. */
static inline uint32_t pairs_differ_outward(const struct stack_pair *pairs, uint32_t count)
{
    const struct stack_pair *pair = pairs + count;
    while (pair != pairs) {
        const struct stack_pair *const end = pair;
        const uint64_t page = pair[-1].address & ~(uint64_t)(ARCH_PAGE_SIZE - 1);
        uint64_t difference = 0;
        while (pair - pairs >= (ptrdiff_t)PAIRS_BLOCK && pairs_on_page(pair - PAIRS_BLOCK, page)) {
            pair -= PAIRS_BLOCK;
            difference |= pairs_difference(pair, PAIRS_BLOCK);
        }
        while (pair != pairs && pair[-1].address - page < ARCH_PAGE_SIZE) {
            pair--;
            difference |= *(const uint64_t *)pair->address ^ pair->value;
        }
        if (difference)
            for (pair = end;; pair--)
                if (*(const uint64_t *)pair[-1].address != pair[-1].value)
                    return (uint32_t)(pair - pairs);
    }
    return 0;
}

/* Returns true if all `count` pairs are unchanged, for the case that they most likely are. No
 * branch of this code depends on a single pair, and the last block overlaps the one before. */
static inline bool pairs_same(const struct stack_pair *pairs, uint32_t count)
{
    uint64_t difference = 0;
    if (count < 8) {
        for (uint32_t i = 0; i < count; i++)
            difference |= pairs_difference(pairs + i, 1);
        return !difference;
    }
    const struct stack_pair *last = pairs + count - 8;
    for (; pairs < last; pairs += 8)
        difference |= pairs_difference(pairs, 8);
    return !(difference | pairs_difference(last, 8));
}

static inline bool frame_equal(const struct stack_kept *kept, uint64_t pc, uint64_t sp,
                               uint64_t rbp, uint32_t exact)
{
    return kept->sp == sp && kept->pc == pc && kept->exact == exact &&
           (!kept->needs_rbp || kept->rbp == rbp);
}
