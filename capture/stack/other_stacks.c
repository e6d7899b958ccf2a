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

/* The stack that is overwritten when there is no credit to save one. */
#define SCRATCH 1u
/* At least so many stacks are kept, and at most so many that they take COPIES_MOST bytes. */
#define STACKS_LEAST 8u
#define STACKS_MOST 160u
#define COPIES_MOST ((size_t)64 << 20)
/* A walk begins another stack if it replaces at least so many frames by at least so many. */
#define FRAMES_LEAST 6u
#define PAUSE 8u
/* A walk that looks for its frame tries so many stacks. */
#define TRIED 3u
/* Each stack that is saved costs credit, each that is found gives it back, and so do some guesses
 * that were right. Without credit only one stack in so many is saved. */
#define CREDIT 64u
#define CREDIT_SAVE 4u
#define SAVED_OF 64u
/* After so many walks that found nothing, for each saved stack, the stacks are forgotten. */
#define MISSES_MOST 64u
/* They are also forgotten if, for long, fewer than four of five guesses are right. Then the fewest
 * are saved. */
#define TRUST_MOST 32
#define TRUST_LEAST (-2048)
#define TRUST_GUESS 4
#define SAVED_OF_MOST (1u << 16)
/* The words that tell the stacks apart, the values that count there, and what they told. */
#define PLACES 16u
#define VALUES_LOG2 12u
#define TOLD_LOG2 11u
/* After so many events in a row on another stack than before, the next is not compared with the
 * present one first. */
#define TURNS 2u
/* Tables of branches beside the thread's first one. */
#define COPY_TABLES 32u

struct copied_stack {
    struct stack_kept *kept;
    struct stack_pair *pairs;
    uint32_t count; /* 0: none */
    enum stack_end end;
    uint32_t used; /* the number of the last switch to it */
};

struct copied_stacks {
    struct copied_stack stacks[STACKS_MOST];
    uint32_t count; /* stacks that have room: the first one has that of the thread */
    uint32_t now, before;
    uint32_t saved; /* stacks beside `now` */
    uint32_t switches;
    uint32_t spent; /* of the credit */
    uint32_t misses, passed, saved_of;
    int32_t trust;  /* in guesses */
    uint32_t turns; /* events in a row of which each was on another stack than the one before */
    bool parked;    /* `now` has the frames of the thread, which has none */
    uint32_t place_count, place_next;
    uint64_t places[PLACES];        /* addresses */
    bool values[1u << VALUES_LOG2]; /* those of which the hash counts */
    uint64_t hash;                  /* at the last look */
    struct {
        uint64_t hash;
        uint32_t index;
    } told[1u << TOLD_LOG2][2];
    struct stack_branches *first, *tables;
};

static size_t stack_size(uint32_t limit)
{
    return limit * (sizeof(struct stack_kept) + 3 * sizeof(struct stack_pair)) +
           sizeof(struct stack_pair);
}

static size_t tables_size(void)
{
    return sizeof(struct stack_branches) * COPY_TABLES;
}

size_t copied_stacks_size(void)
{
    return sizeof(struct copied_stacks) + sizeof(uint64_t);
}

void copied_stacks_init(struct stack_thread *thread, void *room)
{
    thread->copied =
        (struct copied_stacks *)(((uintptr_t)room + 7) & ~(uintptr_t)(sizeof(uint64_t) - 1));
}

void copied_stacks_release(const struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    for (uint32_t i = 1; all && i < all->count; i++)
        os_unmap(all->stacks[i].kept, stack_size(thread->limit));
    if (all && all->tables)
        os_unmap(all->tables, tables_size());
}

/* Makes room for another stack. Returns false if there is no memory. */
static bool add_copy(struct stack_thread *thread)
{
    struct copied_stack *stack = &thread->copied->stacks[thread->copied->count];
    stack->kept = os_map(stack_size(thread->limit));
    stack->pairs = (struct stack_pair *)(stack->kept + thread->limit);
    thread->copied->count += stack->kept != NULL;
    return stack->kept != NULL;
}

static bool prepare_copies(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    if (all->tables)
        return false; /* there was no memory */
    all->tables = os_map(tables_size());
    if (!all->tables)
        return false;
    all->stacks[0] = (struct copied_stack){.kept = thread->kept, .pairs = thread->pairs};
    all->first = thread->branches;
    all->count = 1;
    all->saved_of = SAVED_OF;
    return add_copy(thread); /* SCRATCH */
}

uint32_t copied_stacks_pause(const struct stack_thread *thread)
{
    return thread->copied->saved == 0 ? UINT32_MAX : PAUSE;
}

uint32_t copied_stacks_next_pause(uint32_t pause)
{
    return pause * 8;
}

static void take_copy(struct stack_thread *thread, uint32_t index)
{
    struct copied_stacks *all = thread->copied;
    struct copied_stack *before = &all->stacks[all->now], *stack = &all->stacks[index];
    before->count = thread->count;
    before->end = thread->end;
    stack->used = ++all->switches;
    all->before = all->now;
    all->now = index;
    thread->kept = stack->kept;
    thread->pairs = stack->pairs;
    thread->count = stack->count;
    thread->end = stack->end;
    thread->branches = index == 0 ? all->first : &all->tables[index % COPY_TABLES];
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

static void forget_copies(struct copied_stacks *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        all->stacks[i].count = 0;
    all->saved = all->misses = all->place_count = all->place_next = 0;
    all->parked = false;
    memset(all->values, 0, sizeof(all->values));
}

/* Gives up after what was saved has not paid. */
static void give_up(struct copied_stacks *all)
{
    forget_copies(all);
    all->spent = CREDIT;
    all->trust = 0;
    if (all->saved_of < SAVED_OF_MOST)
        all->saved_of *= 2;
}

uint32_t copied_stacks_find(struct stack_thread *thread, const struct stack_frame *frame)
{
    struct copied_stacks *all = thread->copied;
    for (uint32_t i = 1; i < all->count && i <= TRIED; i++) {
        const uint32_t index = (all->now + i) % all->count;
        const uint32_t same = find_in(&all->stacks[index], frame);
        if (!same)
            continue;
        take_copy(thread, index);
        all->spent = all->spent > CREDIT_SAVE ? all->spent - CREDIT_SAVE : 0;
        all->misses = 0;
        return same;
    }
    if (++all->misses >= MISSES_MOST * all->saved)
        give_up(all);
    return 0;
}

static inline uint64_t hash_value(uint64_t place, uint64_t value)
{
    return (value ^ place << 20) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns a hash of the words at the places, as far as they lie in running frames and their values
 * count. */
static uint64_t hash_places(const struct stack_thread *thread, uint64_t sp)
{
    struct copied_stacks *all = thread->copied;
    const uint64_t size = thread->memory.own_high - sp;
    uint64_t sum = 1;
    for (const uint64_t *place = all->places; place < all->places + all->place_count; place++)
        if (*place - sp < size) {
            const uint64_t hash = hash_value(*place, *(const uint64_t *)*place);
            if (all->values[hash >> (64 - VALUES_LOG2)])
                sum += (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
        }
    return sum;
}

/* Returns the stack that such a hash told, or STACKS_MOST. */
static uint32_t told_by(const struct copied_stacks *all, uint64_t hash)
{
    for (uint32_t way = 0; way < 2; way++)
        if (all->told[hash >> (64 - TOLD_LOG2)][way].hash == hash)
            return all->told[hash >> (64 - TOLD_LOG2)][way].index;
    return STACKS_MOST;
}

static void note_told(struct copied_stacks *all, uint64_t hash, uint32_t index)
{
    const uint64_t set = hash >> (64 - TOLD_LOG2);
    if (all->told[set][0].hash != hash)
        all->told[set][1] = all->told[set][0];
    all->told[set][0].hash = hash;
    all->told[set][0].index = index;
}

bool copied_stacks_guess(struct stack_thread *thread, uint64_t sp)
{
    struct copied_stacks *all = thread->copied;
    const bool parked = all->parked;
    if (all->place_count == 0)
        return false;
    if (parked)
        thread->count = all->stacks[all->now].count;
    all->parked = false;
    all->turns++;
    all->hash = hash_places(thread, sp);
    const uint32_t index = told_by(all, all->hash);
    if (index != STACKS_MOST && index != all->now && all->stacks[index].count > 0) {
        take_copy(thread, index);
        all->trust -= TRUST_GUESS;
        return true;
    }
    all->turns = 0;
    return parked;
}

void copied_stacks_right(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    all->spent -= all->spent > 0;
    all->misses = 0;
    if (all->turns > 0 && all->trust < TRUST_MOST)
        all->trust += TRUST_GUESS + 1;
    if (all->turns < TURNS)
        return;
    all->stacks[all->now].count = thread->count;
    all->parked = true;
    thread->count = 0;
}

/* Lets the words of the present stack at the places count. Returns true if one is new. */
static bool add_values(const struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    const uint32_t pairs = thread->count > 0 ? thread->kept[thread->count - 1].pair_end : 0;
    uint64_t near = 0; /* a bit for some addresses, among them all places */
    bool added = false;
    for (uint32_t i = 0; i < all->place_count; i++)
        near |= UINT64_C(1) << (all->places[i] / 8 % 64);
    for (const struct stack_pair *pair = thread->pairs; pair < thread->pairs + pairs; pair++)
        for (uint32_t i = 0; (near >> (pair->address / 8 % 64) & 1) && i < all->place_count; i++)
            if (pair->address == all->places[i]) {
                const uint64_t hash = hash_value(pair->address, pair->value);
                added |= !all->values[hash >> (64 - VALUES_LOG2)];
                all->values[hash >> (64 - VALUES_LOG2)] = true;
            }
    return added;
}

/* Adds the place of the outermost word in which `stack` differs from the present one. */
static void add_place(struct copied_stacks *all, const struct copied_stack *stack, uint64_t sp)
{
    const uint32_t pairs = stack->count > 0 ? stack->kept[stack->count - 1].pair_end : 0;
    const struct stack_pair *pair = stack->pairs, *end = pair + pairs;
    while (pair < end && pair->address >= sp && *(const uint64_t *)pair->address == pair->value)
        pair++;
    if (pair == end || pair->address < sp)
        return;
    for (uint32_t i = 0; i < all->place_count; i++)
        if (all->places[i] == pair->address)
            return; /* the stack has changed since */
    const uint64_t hash = hash_value(pair->address, pair->value);
    all->place_count += all->place_count < PLACES;
    all->places[all->place_next++ % PLACES] = pair->address;
    all->values[hash >> (64 - VALUES_LOG2)] = true;
}

void copied_stacks_learn(struct stack_thread *thread, uint64_t sp)
{
    struct copied_stacks *all = thread->copied;
    if (all->trust < TRUST_LEAST) {
        give_up(all);
        all->saved_of = SAVED_OF_MOST;
    }
    if (all->saved == 0)
        return;
    const uint32_t told = all->place_count == 0 ? all->before : told_by(all, all->hash);
    if (told == all->now && all->place_count > 0)
        return;
    if (told != STACKS_MOST && told != all->now) {
        if (!add_values(thread))
            add_place(all, &all->stacks[told], sp);
        all->hash = hash_places(thread, sp);
    }
    if (all->now != SCRATCH)
        note_told(all, all->hash, all->now);
}

/* Returns a stack without frames, a new one, or else the one that was not used for longest; SCRATCH
 * if there is neither one nor memory. */
static uint32_t replaced_copy(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    uint32_t oldest = SCRATCH;
    for (uint32_t i = 0; i < all->count; i++) {
        if (i == all->now || i == SCRATCH)
            continue;
        if (all->stacks[i].count == 0)
            return i;
        if (oldest == SCRATCH ||
            all->switches - all->stacks[i].used > all->switches - all->stacks[oldest].used)
            oldest = i;
    }
    if (all->count < STACKS_MOST &&
        (all->count < STACKS_LEAST || all->count * stack_size(thread->limit) < COPIES_MOST) &&
        add_copy(thread))
        return all->count - 1;
    return oldest;
}

/* Keeps the present stack and begins another one, at `index`, with its outer `same` frames. */
static void begin_copy(struct stack_thread *thread, uint32_t same, uint32_t index)
{
    struct copied_stacks *all = thread->copied;
    struct copied_stack *stack = &all->stacks[index];
    if (index == all->now)
        return;
    all->saved += stack->count == 0;
    stack->count = same;
    stack->end = thread->end;
    memcpy(stack->kept, thread->kept, same * sizeof(*stack->kept));
    if (same > 0)
        memcpy(stack->pairs, thread->pairs,
               thread->kept[same - 1].pair_end * sizeof(*stack->pairs));
    take_copy(thread, index);
}

void copied_stacks_save(struct stack_thread *thread, uint32_t same, uint32_t walked)
{
    struct copied_stacks *all = thread->copied;
    if (walked < FRAMES_LEAST || thread->count - same < FRAMES_LEAST || walked < same / 2 ||
        (all->count <= SCRATCH && !prepare_copies(thread)))
        return;
    if (all->spent < CREDIT || ++all->passed >= all->saved_of) {
        all->spent += all->spent < CREDIT ? CREDIT_SAVE : 0;
        all->passed = 0;
        begin_copy(thread, same, replaced_copy(thread));
    } else if (all->saved > 0)
        begin_copy(thread, same, SCRATCH);
}

void copied_stacks_clear(struct stack_thread *thread)
{
    struct copied_stacks *all = thread->copied;
    struct stack_branches *const branches = thread->branches;
    forget_copies(all);
    for (uint32_t i = 0; all->tables && i <= COPY_TABLES; i++) {
        thread->branches = i < COPY_TABLES ? &all->tables[i] : all->first;
        stack_branch_clear(thread);
    }
    thread->branches = branches;
}
