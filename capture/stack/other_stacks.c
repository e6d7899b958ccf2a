/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/other_stacks.h"

#include "capture/stack/branch.h"

#define CHAINS 8u
/* A frame further away from a chain's last event than this lies on another stack. */
#define NEAR_MOST (UINT64_C(1) << 20)

/* The frames of one stack, as thread_state.h describes them, while another one is in use. */
struct stack_chain {
    struct stack_kept *kept;
    struct stack_pair *pairs;
    uint32_t count;
    enum stack_end end;
    uint64_t sp;   /* of the last event */
    uint64_t used; /* the number of that change of chains */
};

struct other_stacks {
    struct stack_thread thread;
    struct stack_chain chains[CHAINS];
    struct stack_chain *now;
    uint64_t sp_before; /* of `now`, before the present event */
    uint64_t changes;
};

static size_t chain_size(uint32_t limit)
{
    return limit * (sizeof(struct stack_kept) + 3 * sizeof(struct stack_pair)) +
           sizeof(struct stack_pair);
}

size_t other_stacks_size(uint32_t limit)
{
    return sizeof(struct other_stacks) + STACK_BRANCHES_ALIGNMENT + sizeof(struct stack_branches) +
           CHAINS * chain_size(limit);
}

/* Makes `chain` the one that is in use. */
static void chain_take(struct stack_thread *other, struct stack_chain *chain)
{
    struct other_stacks *all = (struct other_stacks *)other;
    if (all->now) {
        all->now->count = other->count;
        all->now->end = other->end;
    }
    all->now = chain;
    chain->used = ++all->changes;
    other->kept = chain->kept;
    other->pairs = chain->pairs;
    other->count = chain->count;
    other->end = chain->end;
}

void other_stacks_init(struct stack_thread *thread, void *room)
{
    thread->other = &((struct other_stacks *)room)->thread;
}

static void prepare(struct stack_thread *thread)
{
    struct stack_thread *other = thread->other;
    struct other_stacks *all = (struct other_stacks *)other;
    const size_t size = chain_size(thread->limit);
    uintptr_t behind = (uintptr_t)(all + 1) + STACK_BRANCHES_ALIGNMENT - 1;
    other->branches =
        (struct stack_branches *)(behind & ~(uintptr_t)(STACK_BRANCHES_ALIGNMENT - 1));
    for (uint32_t i = 0; i < CHAINS; i++) {
        uint8_t *at = (uint8_t *)(other->branches + 1) + i * size;
        all->chains[i].kept = (struct stack_kept *)at;
        all->chains[i].pairs = (struct stack_pair *)(all->chains[i].kept + thread->limit);
    }
    other->memory.own_mapped = thread->memory.own_high;
    other->limit = thread->limit;
    other->changed = thread->changed;
    other->runtime = thread->runtime;
    other->chains = all->chains;
    chain_take(other, &all->chains[0]);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

struct stack_thread *other_stacks_choose(struct stack_thread *thread, uint64_t sp)
{
    struct stack_thread *other = thread->other;
    struct other_stacks *all = (struct other_stacks *)other;
    if (!other->chains)
        prepare(thread);
    other->memory.own_low = thread->memory.own_low;
    other->memory.own_high = thread->memory.own_high;
    struct stack_chain *best = all->now;
    if (distance(best->sp, sp) >= ARCH_PAGE_SIZE) {
        for (uint32_t i = 0; i < CHAINS; i++)
            if (distance(all->chains[i].sp, sp) < distance(best->sp, sp))
                best = &all->chains[i];
        if (best != all->now)
            chain_take(other, best);
        all->sp_before = best->sp;
        if (distance(best->sp, sp) > NEAR_MOST)
            other_stacks_fresh(other);
    }
    all->sp_before = all->now->sp;
    all->now->sp = sp;
    return other;
}

void other_stacks_fresh(struct stack_thread *other)
{
    struct other_stacks *all = (struct other_stacks *)other;
    const uint64_t sp = all->now->sp;
    struct stack_chain *oldest = &all->chains[0];
    if (other->count == 0)
        return;
    for (uint32_t i = 1; i < CHAINS; i++)
        if (all->chains[i].used < oldest->used)
            oldest = &all->chains[i];
    all->now->sp = all->sp_before;
    oldest->count = 0;
    chain_take(other, oldest);
    oldest->sp = sp;
}

void other_stacks_clear(struct stack_thread *other)
{
    struct other_stacks *all = (struct other_stacks *)other;
    if (!other->chains)
        return;
    for (uint32_t i = 0; i < CHAINS; i++)
        all->chains[i].count = 0;
    other->count = 0;
    stack_branch_clear(other);
}
