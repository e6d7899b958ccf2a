/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Returns true if the words that a kept stack was read from are unchanged (see thread_state.h).
 */
#ifndef MPROF_CAPTURE_STACK_PAIRS_H
#define MPROF_CAPTURE_STACK_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/stack/thread_state.h"

static inline __attribute__((always_inline)) uint64_t
pairs_difference(const struct stack_pair *pairs, uint32_t count)
{
    uint64_t difference = 0;
#pragma GCC unroll 16
    for (uint32_t i = 0; i < count; i++)
        difference |= *(const uint64_t *)pairs[i].address ^ pairs[i].value;
    return difference;
}

/*
 * Compares the first `count` pairs with the stack, from the end backwards. Returns the number of
 * pairs up to and including the last one that differs, or 0 if none does.
 */
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

#define PAIRS_BLOCK 8u

/* Returns true if the block of pairs that begins at `pair` lies on the page of `page`. */
static inline bool pairs_on_page(const struct stack_pair *pair, uint64_t page)
{
    return ((pair[0].address ^ page) | (pair[PAIRS_BLOCK - 1].address ^ page)) < ARCH_PAGE_SIZE;
}

/*
 * Does the same for a stack of which only that is mapped by which running functions return. From
 * the innermost frame outward, an unchanged word shows that its frame still has the same caller, so
 * the caller's words are mapped. A page is read only after all words before it. The pairs'
 * addresses descend.
 */
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

/*
 * Returns true if all `count` pairs are unchanged, for the case that they most likely are. No
 * branch of this code depends on a single pair, and the last block overlaps the one before.
 */
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

#endif
