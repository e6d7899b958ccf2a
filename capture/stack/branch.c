/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/branch.h"

#include <string.h>

/* Packs the pairs. Returns false if they cannot be packed. */
static bool pairs_pack(uint64_t *packed, const struct stack_pair *pairs, uint32_t count,
                       uint64_t sp)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t distance = pairs[i].address - sp;
        if (distance % 8 || distance / 8 > STACK_BRANCH_DISTANCE_MASK ||
            pairs[i].value >> (64 - STACK_BRANCH_DISTANCE_BITS))
            return false;
        packed[i] = distance / 8 | pairs[i].value << STACK_BRANCH_DISTANCE_BITS;
    }
    return true;
}

bool stack_branch_far_same(const struct stack_branch *branch, const struct stack_kept *base,
                           uint64_t sp, uint64_t rbp)
{
    uint64_t head = branch->head;
    if (!(head & STACK_BRANCH_FAR_FLAG))
        return !base->needs_rbp;
    return stack_branch_difference(branch->more, sp, STACK_BRANCH_FAR) == 0 &&
           (!(head & STACK_BRANCH_RBP_FLAG) || branch->rbp == rbp) &&
           (!base->needs_rbp ||
            ((head & STACK_BRANCH_BASE_RBP_FLAG) && base->rbp == branch->base_rbp));
}

/* Compares the words of `branch` from the innermost one outward, a page only after all words before
 * it: see pairs_differ_outward(). */
static bool words_same_outward(const struct stack_branch *branch, uint64_t sp)
{
    const uint64_t head = branch->head;
    uint64_t page = (sp - 16) & ~(uint64_t)(ARCH_PAGE_SIZE - 1), difference = 0;
    for (unsigned i = head & STACK_BRANCH_FAR_FLAG ? STACK_BRANCH_PAIRS : STACK_BRANCH_NEAR;
         i-- > 0;) {
        const uint64_t packed =
            i < STACK_BRANCH_NEAR ? branch->pairs[i] : branch->more[i - STACK_BRANCH_NEAR];
        if (i > 0 && packed == branch->pairs[0])
            continue; /* a copy, which fills the place of a pair */
        const uint64_t address = sp + (packed & STACK_BRANCH_DISTANCE_MASK) * 8;
        if (address - page >= ARCH_PAGE_SIZE) {
            if (difference)
                return false;
            page = address & ~(uint64_t)(ARCH_PAGE_SIZE - 1);
        }
        difference |= *(const uint64_t *)address ^ packed >> STACK_BRANCH_DISTANCE_BITS;
    }
    return !difference;
}

uint32_t stack_branch_find_other(const struct stack_thread *other, uint64_t pc, uint64_t sp,
                                 uint64_t rbp)
{
    const struct stack_branch_key key = stack_branch_key_other(other, pc, sp);
    for (uint32_t way = 0; way < STACK_BRANCH_WAYS; way++) {
        const struct stack_branch *branch = &other->branches->ways[key.set][way];
        if (other->branches->tags[key.set][way] != key.tag ||
            (branch->head ^ pc) << (64 - STACK_BRANCH_PC_BITS) != 0 ||
            ((branch->head & STACK_BRANCH_RBP_FLAG) && branch->rbp != rbp) ||
            !words_same_outward(branch, sp))
            continue;
        const struct stack_kept *base = stack_branch_base(branch, other, pc, sp, rbp);
        if (base && pairs_differ_outward(other->pairs, base->pair_end) == 0)
            return branch->node;
    }
    return 0;
}

void stack_branch_clear(struct stack_thread *thread)
{
    memset(thread->branches->tags, 0, sizeof(thread->branches->tags));
}

/* Chooses where a branch of `key` goes: first to the front, where searches begin. */
static uint32_t way_choose(struct stack_branches *branches, const struct stack_branch_key *key)
{
    for (uint32_t way = 0; way < STACK_BRANCH_WAYS; way++)
        if (!branches->tags[key->set][way])
            return way;
    return branches->kept++ % STACK_BRANCH_WAYS;
}

/* Fills a branch whose `head` already has the base's index and all flags. */
static void branch_fill(struct stack_branch *branch, const struct stack_kept *top,
                        const struct stack_kept *outer, const uint64_t *packed, uint32_t count)
{
    for (uint32_t i = 0; i < STACK_BRANCH_NEAR; i++)
        branch->pairs[i] = packed[i < count ? i : 0];
    branch->base_node = outer->node;
    branch->head |= top->pc;
    if (!(branch->head & STACK_BRANCH_FAR_FLAG))
        return;
    for (uint32_t i = STACK_BRANCH_NEAR; i < STACK_BRANCH_PAIRS; i++)
        branch->more[i - STACK_BRANCH_NEAR] = packed[i < count ? i : 0];
    branch->rbp = top->rbp;
    branch->base_rbp = outer->rbp;
}

void stack_branch_keep(struct stack_thread *thread, uint32_t base, uint32_t node,
                       struct stack_branch_lists *lists, uint64_t list)
{
    const struct stack_kept *outer = &thread->kept[base];
    const struct stack_kept *top = &thread->kept[thread->count - 1];
    const struct stack_pair *pairs = thread->pairs + outer->pair_end;
    uint32_t count = top->pair_end - outer->pair_end;
    uint64_t packed[STACK_BRANCH_PAIRS];
    if (count == 0 || count > STACK_BRANCH_PAIRS || top->pc >> STACK_BRANCH_PC_BITS ||
        outer->sp != pairs[0].address + 8 || base >> (64 - STACK_BRANCH_BASE_SHIFT) ||
        !pairs_pack(packed, pairs, count, top->sp))
        return;
    struct stack_branch_leaf *leaf = stack_branch_leaf(thread, top->pc);
    if (!leaf->pc) /* a leaf that changes would hide the branches that were put under it */
        *leaf = (struct stack_branch_leaf){top->pc,
                                           thread->pairs[(top - 1)->pair_end].address - top->sp};
    const struct stack_branch_key key = thread->chains
                                            ? stack_branch_key_other(thread, top->pc, top->sp)
                                            : stack_branch_key(thread, top->pc, top->sp, list);
    const uint32_t way = way_choose(thread->branches, &key);
    struct stack_branch *branch = &thread->branches->ways[key.set][way];
    thread->branches->tags[key.set][way] = key.tag;
    if (lists)
        lists->of[key.set][way] = list;
    branch->node = node;
    bool far = count > STACK_BRANCH_NEAR || top->needs_rbp || outer->needs_rbp;
    branch->head = (uint64_t)base << STACK_BRANCH_BASE_SHIFT | (far ? STACK_BRANCH_FAR_FLAG : 0) |
                   (top->needs_rbp ? STACK_BRANCH_RBP_FLAG : 0) |
                   (outer->needs_rbp ? STACK_BRANCH_BASE_RBP_FLAG : 0);
    branch_fill(branch, top, outer, packed, count);
}
