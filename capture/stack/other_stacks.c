/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/stack/other_stacks.h"

#include "capture/os/os.h"
#include "capture/stack/branch.h"

#define CHAINS_MOST 8192u
/* Chains lie in segments, each twice as large as the one before: 64 MiB in all. */
#define SEGMENTS 8u
#define SEGMENT_FIRST ((size_t)256 << 10)
/* A step further outward than this, or out of a signal, may lead to another stack. */
#define STEP_MOST (UINT64_C(64) << 10)
/* The rooms of chains, in frames with one pair each: 16, 20, 24, 28, 32, 40 … The largest has room
 * for STACK_DEPTH_LIMIT_MAX frames with three pairs each, and the pair of the end. */
#define ROOMS 53u
/* The tables of branches. All branches of a chain lie in one. */
#define TABLES_LOG2 3u

/* The frames of one stack, as thread_state.h describes them, while another one is in use. */
struct stack_chain {
    struct stack_chain *next; /* of the free ones with this room */
    struct stack_pair *pairs;
    uint32_t count;
    uint32_t room;        /* an index of rooms */
    uint32_t frames_most; /* that `kept` has room for */
    uint32_t pairs_most;
    uint32_t next_index; /* of the chain that came after it */
    enum stack_end end;
    struct stack_kept kept[];
};

struct other_stacks {
    struct stack_thread thread;
    struct stack_chain *now; /* or NULL */
    uint64_t above;          /* `now` is the chain for this many stack pointers */
    uint64_t above_count;    /* above this one */
    uint64_t top;            /* that `now` has, or will have */
    uint32_t count;
    uint32_t segment; /* in which new chains are made, and its bytes used so far */
    size_t used;
    uint32_t refused; /* chains for which there was no room */
    uint8_t *segments[SEGMENTS];
    struct stack_chain *free[ROOMS];
    struct stack_branches *tables;
    uint64_t tops[CHAINS_MOST]; /* ascending */
    struct stack_chain *chains[CHAINS_MOST];
};

static struct other_stacks *all_of(struct stack_thread *other)
{
    return (struct other_stacks *)other;
}

static size_t bytes_of(size_t frames, size_t pairs)
{
    return frames * sizeof(struct stack_kept) + pairs * sizeof(struct stack_pair);
}

static size_t room_bytes(uint32_t room)
{
    const size_t frames = (16u + room % 4 * 4) << room / 4;
    return bytes_of(frames, frames);
}

size_t other_stacks_size(void)
{
    return sizeof(struct other_stacks) + STACK_BRANCHES_ALIGNMENT +
           (sizeof(struct stack_branches) << TABLES_LOG2);
}

void other_stacks_init(struct stack_thread *thread, void *room)
{
    thread->other = &((struct other_stacks *)room)->thread;
}

void other_stacks_release(struct stack_thread *other)
{
    for (uint32_t i = 0; other && i < SEGMENTS; i++)
        if (all_of(other)->segments[i])
            os_unmap(all_of(other)->segments[i], SEGMENT_FIRST << i);
}

static void prepare(struct stack_thread *thread)
{
    struct stack_thread *other = thread->other;
    uintptr_t behind = (uintptr_t)(all_of(other) + 1) + STACK_BRANCHES_ALIGNMENT - 1;
    all_of(other)->tables =
        (struct stack_branches *)(behind & ~(uintptr_t)(STACK_BRANCHES_ALIGNMENT - 1));
    other->memory.own_mapped = thread->memory.own_high;
    other->limit = thread->limit;
    other->changed = thread->changed;
    other->runtime = thread->runtime;
    other->chains = all_of(other)->chains;
}

/* Returns true if this is the index of the first chain whose top is not below `sp`. */
static bool is_first(const struct other_stacks *all, uint32_t index, uint64_t sp)
{
    return index < all->count && all->tops[index] >= sp &&
           (index == 0 || all->tops[index - 1] < sp);
}

/* Returns the index of the first chain whose top is not below `sp`. */
static uint32_t find(const struct other_stacks *all, uint64_t sp)
{
    const uint64_t *at = all->tops;
    for (uint32_t left = all->count; left > 0; left /= 2)
        at += -(size_t)(at[left / 2] < sp) & ((left + 1) / 2); /* without a branch */
    return (uint32_t)(at - all->tops);
}

static void set_top(struct stack_thread *other, uint64_t top)
{
    struct other_stacks *all = all_of(other);
    all->top = top;
    other->branches = &all->tables[top * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLES_LOG2)];
}

/* Makes the chain of this index the one that is in use; the number of chains: none. */
static void take(struct stack_thread *other, uint32_t index)
{
    struct other_stacks *all = all_of(other);
    struct stack_chain *chain = index < all->count ? all->chains[index] : NULL;
    if (all->now) {
        all->now->count = other->count;
        all->now->end = other->end;
        all->now->next_index = index;
    }
    all->now = chain;
    all->above = index > 0 ? all->tops[index - 1] : 0;
    set_top(other, chain ? all->tops[index] : all->above);
    all->above_count = all->top - all->above;
    other->count = chain ? chain->count : 0;
    if (!chain)
        return;
    other->kept = chain->kept;
    other->pairs = chain->pairs;
    other->end = chain->end;
}

struct stack_thread *other_stacks_choose(struct stack_thread *thread, uint64_t sp)
{
    struct stack_thread *other = thread->other;
    struct other_stacks *all = all_of(other);
    if (!other->chains)
        prepare(thread);
    other->memory.own_low = thread->memory.own_low;
    other->memory.own_high = thread->memory.own_high;
    if (sp - all->above - 1 >= all->above_count) {
        const uint32_t index = all->now ? all->now->next_index : 0;
        take(other, is_first(all, index, sp) ? index : find(all, sp));
    }
    return other;
}

static void chain_free(struct other_stacks *all, struct stack_chain *chain)
{
    chain->next = all->free[chain->room];
    all->free[chain->room] = chain;
}

static void forget_all(struct stack_thread *other)
{
    struct other_stacks *all = all_of(other);
    all->count = all->segment = all->refused = 0;
    all->used = 0;
    memset(all->free, 0, sizeof(all->free));
    all->now = NULL;
    take(other, 0);
}

/* Returns a chain with this room, or NULL. */
static struct stack_chain *chain_make(struct other_stacks *all, uint32_t room)
{
    struct stack_chain *chain = all->free[room];
    const size_t size = sizeof(struct stack_chain) + room_bytes(room);
    if (chain) {
        all->free[room] = chain->next;
        return chain;
    }
    while (all->segment < SEGMENTS && all->used + size > SEGMENT_FIRST << all->segment) {
        all->segment++;
        all->used = 0;
    }
    if (all->segment == SEGMENTS)
        return NULL;
    uint8_t **segment = &all->segments[all->segment];
    if (!*segment)
        *segment = os_map(SEGMENT_FIRST << all->segment);
    if (!*segment)
        return NULL;
    chain = (struct stack_chain *)(*segment + all->used);
    all->used += size;
    chain->room = room;
    return chain;
}

/* Divides the room of `chain` between frames and pairs as these are. */
static void divide(struct stack_chain *chain, uint32_t frames, uint32_t pairs)
{
    const size_t size = room_bytes(chain->room);
    chain->frames_most = (uint32_t)(frames * size / bytes_of(frames, pairs));
    chain->pairs_most =
        (uint32_t)((size - bytes_of(chain->frames_most, 0)) / sizeof(struct stack_pair));
    chain->pairs = (struct stack_pair *)(chain->kept + chain->frames_most);
}

/* Moves the chains from index `from` on to `to`, and so inserts or removes some. */
static void move(struct other_stacks *all, uint32_t to, uint32_t from)
{
    const uint32_t count = all->count - from;
    memmove(all->tops + to, all->tops + from, count * sizeof(*all->tops));
    memmove(all->chains + to, all->chains + from, count * sizeof(struct stack_chain *));
    all->count = to + count;
}

/* Chains with a top inside of this stack belong to stacks that are gone. */
void other_stacks_begin(struct stack_thread *other, const struct stack_frame *inner,
                        const struct stack_frame *outer)
{
    struct other_stacks *all = all_of(other);
    const struct stack_frame *top = inner;
    while (top < outer && !top[1].exact && top[1].sp - top->sp < STEP_MOST)
        top++;
    take(other, all->count);
    const uint32_t first = find(all, inner->sp), end = find(all, top->sp);
    for (uint32_t i = first; i < end; i++)
        chain_free(all, all->chains[i]);
    if (first < end)
        move(all, first, end);
    if (first < all->count && all->tops[first] == top->sp)
        take(other, first);
    else {
        set_top(other, top->sp);
        all->above_count = 0;
    }
    other->count = 0;
}

bool other_stacks_make_room(struct stack_thread *other, uint32_t frames, uint32_t pairs)
{
    struct other_stacks *all = all_of(other);
    struct stack_chain *before = all->now;
    uint32_t room = 0;
    if (before && frames <= before->frames_most && pairs <= before->pairs_most)
        return true;
    if (before) { /* neither becomes less: it would grow again and again */
        frames = frames > before->frames_most ? frames : before->frames_most;
        pairs = pairs > before->pairs_most ? pairs : before->pairs_most;
    }
    while (room < ROOMS - 1 && room_bytes(room) < bytes_of(frames, pairs))
        room++;
    struct stack_chain *chain = chain_make(all, room);
    if (!chain || (!before && all->count == CHAINS_MOST)) {
        if (++all->refused > 4 * all->count)
            forget_all(other);
        return false;
    }
    const uint32_t index = find(all, all->top);
    divide(chain, frames, pairs);
    chain->count = other->count;
    chain->end = other->end;
    if (before) {
        memcpy(chain->kept, other->kept, other->count * sizeof(*chain->kept));
        if (other->count > 0)
            memcpy(chain->pairs, other->pairs,
                   other->kept[other->count - 1].pair_end * sizeof(*chain->pairs));
        chain_free(all, before);
    } else {
        move(all, index + 1, index);
        all->tops[index] = all->top;
    }
    all->chains[index] = chain;
    all->now = NULL;
    take(other, index);
    return true;
}

void other_stacks_clear(struct stack_thread *other)
{
    if (!other->chains)
        return;
    for (uint32_t i = 0; i < 1u << TABLES_LOG2; i++) {
        other->branches = &all_of(other)->tables[i];
        stack_branch_clear(other);
    }
    forget_all(other);
}

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
    bool hit;                            /* by the last walk that looked */
    uint32_t guessed_from, guessed_next; /* before a guess: the stack, and what follows the other */
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

static void prepare_copies(struct stack_thread *thread)
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

static void take_copy(struct stack_thread *thread, uint32_t index)
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
        take_copy(thread, index);
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

bool copied_stacks_guess(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    const uint32_t next = all->stacks[all->now].next;
    if (!all->hit || next == all->now || all->stacks[next].count == 0)
        return false;
    all->guessed_from = all->now;
    all->guessed_next = all->stacks[next].next;
    take_copy(thread, next);
    return true;
}

void copied_stacks_go_back(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    const uint32_t guessed = all->now;
    take_copy(thread, all->guessed_from);
    all->stacks[guessed].next = all->guessed_next;
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
        prepare_copies(thread);
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
    take_copy(thread, index);
}

void copied_stacks_clear(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    for (uint32_t i = 0; i < STACKS; i++)
        all->stacks[i].count = 0;
    all->saved = all->misses = 0;
    all->hit = false;
}
