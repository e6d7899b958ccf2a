/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/copied_stacks.h"

#include "capture/stack/pairs.h"

#define STACKS 8u
/* A walk begins another stack if it replaces at least so many frames by at least so many. */
#define FRAMES_LEAST 16u
#define PAUSE 8u
#define PAUSE_AFTER_HIT 1u
/* Each stack that is saved costs credit, each that is found gives some. Without credit only one
 * stack in so many is saved. */
#define CREDIT 16u
#define CREDIT_HIT 8u
#define SAVED_OF 64u
/* After so many walks that found nothing the stacks are forgotten. */
#define MISSES_MOST 64u

struct copied_stack {
    struct stack_kept *kept;
    struct stack_pair *pairs;
    uint32_t count; /* 0: none */
    enum stack_end end;
    uint32_t next; /* the stack that came after it */
    uint32_t used; /* the number of that switch */
};

struct copied_stacks {
    struct copied_stack stacks[STACKS];
    uint32_t now;
    uint32_t saved; /* stacks beside `now` */
    uint32_t switches;
    uint32_t spent; /* of the credit */
    uint32_t misses, passed;
    bool hit; /* by the last walk that looked */
};

static size_t stack_size(uint32_t limit)
{
    return limit * (sizeof(struct stack_kept) + 3 * sizeof(struct stack_pair)) +
           sizeof(struct stack_pair);
}

size_t copied_stacks_size(uint32_t limit)
{
    return sizeof(struct copied_stacks) + (STACKS - 1) * stack_size(limit) + sizeof(uint64_t);
}

void copied_stacks_init(struct stack_thread *thread, void *room)
{
    thread->copied =
        (struct copied_stacks *)(((uintptr_t)room + 7) & ~(uintptr_t)(sizeof(uint64_t) - 1));
}

static void prepare(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    all->stacks[0] = (struct copied_stack){.kept = thread->kept, .pairs = thread->pairs};
    for (uint32_t i = 1; i < STACKS; i++) {
        uint8_t *at = (uint8_t *)(all + 1) + (i - 1) * stack_size(thread->limit);
        all->stacks[i].kept = (struct stack_kept *)at;
        all->stacks[i].pairs = (struct stack_pair *)(all->stacks[i].kept + thread->limit);
    }
}

uint32_t copied_stacks_pause(const struct stack_thread *thread)
{
    const struct copied_stacks *all = thread->copied;
    if (all->saved == 0)
        return UINT32_MAX;
    return all->hit ? PAUSE_AFTER_HIT : PAUSE;
}

uint32_t copied_stacks_next_pause(uint32_t pause)
{
    return pause < PAUSE ? PAUSE : pause * 8;
}

/* Makes stacks[index] the present one. */
static void take(struct stack_thread *thread, uint32_t index)
{
    struct copied_stacks *all = thread->copied;
    struct copied_stack *before = &all->stacks[all->now], *stack = &all->stacks[index];
    before->count = thread->count;
    before->end = thread->end;
    before->next = index;
    before->used = ++all->switches;
    all->now = index;
    thread->kept = stack->kept;
    thread->pairs = stack->pairs;
    thread->count = stack->count;
    thread->end = stack->end;
}

/* Returns the number of frames of `stack` up to `frame`, if it has the frame and its callers. */
static uint32_t find_in(const struct copied_stack *stack, const struct stack_frame *frame)
{
    uint32_t low = 0, high = stack->count; /* the first frame that is not further out */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (stack->kept[middle].sp > frame->sp)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stack->count &&
                   frame_equal(&stack->kept[low], frame->pc, frame->sp, frame->rbp, frame->exact) &&
                   pairs_same(stack->pairs, stack->kept[low].pair_end)
               ? low + 1
               : 0;
}

uint32_t copied_stacks_find(struct stack_thread *thread, const struct stack_frame *frame)
{
    struct copied_stacks *all = thread->copied;
    const uint32_t next = all->stacks[all->now].next;
    for (uint32_t i = 0; i < STACKS; i++) {
        const uint32_t index = (next + i) % STACKS;
        const uint32_t same = index != all->now ? find_in(&all->stacks[index], frame) : 0;
        if (!same)
            continue;
        take(thread, index);
        all->spent = all->spent > CREDIT_HIT ? all->spent - CREDIT_HIT : 0;
        all->misses = 0;
        all->hit = true;
        return same;
    }
    all->hit = false;
    if (++all->misses == MISSES_MOST)
        copied_stacks_clear(thread);
    return 0;
}

void copied_stacks_save(struct stack_thread *thread, uint32_t same, uint32_t walked)
{
    struct copied_stacks *all = thread->copied;
    if (walked < FRAMES_LEAST || thread->count - same < FRAMES_LEAST || walked < same / 2)
        return;
    if (all->spent >= CREDIT && ++all->passed % SAVED_OF != 0)
        return;
    all->spent += all->spent < CREDIT;
    if (!all->stacks[0].kept)
        prepare(thread);
    uint32_t index = all->now == 0;
    for (uint32_t i = 0; i < STACKS; i++)
        if (i != all->now &&
            (all->stacks[i].count == 0 ||
             (all->stacks[index].count != 0 &&
              all->switches - all->stacks[i].used > all->switches - all->stacks[index].used)))
            index = i;
    struct copied_stack *stack = &all->stacks[index];
    all->saved += stack->count == 0;
    stack->count = same;
    stack->end = thread->end;
    memcpy(stack->kept, thread->kept, same * sizeof(*stack->kept));
    if (same > 0)
        memcpy(stack->pairs, thread->pairs,
               thread->kept[same - 1].pair_end * sizeof(*stack->pairs));
    take(thread, index);
}

void copied_stacks_clear(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    for (uint32_t i = 0; i < STACKS; i++)
        all->stacks[i].count = 0;
    all->saved = all->misses = 0;
    all->hit = false;
}
