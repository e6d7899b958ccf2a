/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "fixture_program.h"

enum { HABIT_SHORT, HABIT_PHASE, HABIT_LONG, HABIT_LEAK, HABITS };
enum { CLASSES = 128, NS_AN_ALLOCATION = 1500 };

/* xorshift64*, Vigna 2016. */
uint64_t fixture_random(struct fixture_program *program, uint64_t bound)
{
    program->random ^= program->random >> 12;
    program->random ^= program->random << 25;
    program->random ^= program->random >> 27;
    return (program->random * UINT64_C(2685821657736338717) >> 11) % bound;
}

/* ---- call tree ---- */

static uint32_t random_frame(struct fixture_program *program)
{
    uint64_t function = FIXTURE_WRAPPERS + 2 +
                        fixture_random(program, program->options.functions - FIXTURE_WRAPPERS - 1);
    return (uint32_t)((function - 1) * FIXTURE_LINES + fixture_random(program, FIXTURE_LINES) + 1);
}

/* Makes a stack: the outermost frames of an earlier one, new frames inside them, sometimes a
 * wrapper as the innermost. */
static void make_stack(struct fixture_program *program, size_t position)
{
    struct fixture_stack *stack = &program->stacks[position];
    uint32_t outer[FIXTURE_DEPTH];
    uint32_t depth = 0;
    if (position > 0) {
        const struct fixture_stack *other = &program->stacks[fixture_random(program, position)];
        uint64_t kept = fixture_random(program, other->depth) + 1;
        for (uint64_t i = 0; i < kept && depth < FIXTURE_DEPTH - 12; i++) {
            uint32_t frame = other->frames[other->depth - 1 - i];
            if (frame > FIXTURE_WRAPPERS * FIXTURE_LINES)
                outer[depth++] = frame;
        }
    } else {
        outer[depth++] = FIXTURE_WRAPPERS * FIXTURE_LINES + 1; /* main */
    }
    uint64_t added = 1 + fixture_random(program, 7);
    for (uint64_t i = 0; i < added; i++) {
        bool recursive = depth > 2 && fixture_random(program, 10) == 0;
        outer[depth] = recursive ? outer[depth - 2] : random_frame(program);
        depth++;
    }
    stack->call_site = 0;
    if (fixture_random(program, 3) == 0) {
        outer[depth++] = (uint32_t)(fixture_random(program, FIXTURE_WRAPPERS) * FIXTURE_LINES + 1);
        stack->call_site = 1;
    }
    stack->depth = depth;
    for (uint32_t i = 0; i < depth; i++)
        stack->frames[i] = outer[depth - 1 - i];
    static const uint8_t habits[] = {HABIT_SHORT, HABIT_SHORT, HABIT_SHORT, HABIT_SHORT,
                                     HABIT_PHASE, HABIT_PHASE, HABIT_LONG,  HABIT_LEAK};
    stack->habit = habits[fixture_random(program, sizeof(habits))];
    stack->type =
        (uint8_t)(fixture_random(program, 5) < 2 ? 0 : fixture_random(program, FIXTURE_TYPES) + 1);
    static const uint8_t kinds[] = {0, 0, 0, 1, 4, 9, 9, 10};
    stack->kind = kinds[fixture_random(program, sizeof(kinds))];
    stack->base_size = (uint64_t)8 << fixture_random(program, 8);
    if (fixture_random(program, 60) == 0)
        stack->base_size = (uint64_t)64 << (10 + fixture_random(program, 3));
}

/* ---- addresses: free lists by size class over two growing areas ---- */

struct addresses {
    uint64_t *list[CLASSES];
    size_t count[CLASSES], capacity[CLASSES];
    uint64_t heap, mapped;
};

static unsigned size_class(uint64_t size, uint64_t *rounded)
{
    if (size <= 1024) {
        *rounded = size == 0 ? 16 : (size + 15) & ~UINT64_C(15);
        return (unsigned)(*rounded / 16);
    }
    unsigned bits = 64 - (unsigned)__builtin_clzll(size - 1);
    *rounded = UINT64_C(1) << bits;
    return 64 + bits;
}

static uint64_t address_take(struct addresses *addresses, uint64_t size)
{
    uint64_t rounded;
    unsigned class = size_class(size, &rounded);
    if (addresses->count[class] > 0)
        return addresses->list[class][--addresses->count[class]];
    uint64_t *area = rounded > 65536 ? &addresses->mapped : &addresses->heap;
    uint64_t address = *area;
    *area += rounded;
    return address;
}

static void address_give(struct addresses *addresses, uint64_t address, uint64_t size)
{
    uint64_t rounded;
    unsigned class = size_class(size, &rounded);
    if (addresses->count[class] == addresses->capacity[class]) {
        size_t capacity = addresses->capacity[class] * 2 + 64;
        addresses->list[class] = realloc(addresses->list[class], capacity * sizeof(uint64_t));
        if (!addresses->list[class])
            abort();
        addresses->capacity[class] = capacity;
    }
    addresses->list[class][addresses->count[class]++] = address;
}

/* ---- future frees: a binary heap by time ---- */

struct coming {
    uint64_t ns;
    uint32_t position;
};

static void coming_push(struct coming *heap, size_t *count, struct coming item)
{
    size_t i = (*count)++;
    while (i > 0 && heap[(i - 1) / 2].ns > item.ns) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = item;
}

static struct coming coming_pop(struct coming *heap, size_t *count)
{
    struct coming top = heap[0];
    struct coming last = heap[--(*count)];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= *count)
            break;
        if (child + 1 < *count && heap[child + 1].ns < heap[child].ns)
            child++;
        if (heap[child].ns >= last.ns)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

/* ---- the run ---- */

struct run {
    struct fixture_program *program;
    struct addresses addresses;
    struct coming *heap;
    size_t heap_count;
    uint64_t live_bytes;
    uint32_t completed;
};

static unsigned phase_of(const struct fixture_program *program, uint64_t ns)
{
    unsigned phase = FIXTURE_PHASES - 1;
    while (phase > 0 && ns < program->phase_ns[phase])
        phase--;
    return phase;
}

static uint64_t lifetime(struct fixture_program *program, uint8_t habit, uint64_t now)
{
    unsigned phase = phase_of(program, now);
    uint64_t phase_end =
        phase + 1 < FIXTURE_PHASES ? program->phase_ns[phase + 1] : program->duration_ns;
    switch (habit) {
    case HABIT_SHORT:
        return UINT64_C(1) << (6 + fixture_random(program, 15));
    case HABIT_PHASE:
        return phase_end - now + fixture_random(program, program->duration_ns / 100 + 1);
    case HABIT_LONG:
        return fixture_random(program, program->duration_ns);
    default:
        return fixture_random(program, 10) < 2 ? fixture_random(program, program->duration_ns)
                                               : FIXTURE_LIVE;
    }
}

static void begin(struct run *run, uint64_t now, const struct fixture_allocation *before)
{
    struct fixture_program *program = run->program;
    size_t stacks = program->options.stacks;
    uint32_t position = (uint32_t)program->count++;
    struct fixture_allocation *made = &program->allocations[position];
    /* Each phase prefers its own part of the stacks; squaring makes few stacks frequent. */
    uint64_t part = fixture_random(program, stacks) * fixture_random(program, stacks) / stacks;
    uint64_t chosen = (part + phase_of(program, now) * (stacks / 7)) % stacks;
    const struct fixture_stack *stack = &program->stacks[chosen];
    /* A few allocations have no stack. */
    made->stack = fixture_random(program, 300) == 0 ? 0 : (uint32_t)chosen + 1;
    made->alloc_ns = now;
    made->kind = stack->kind;
    made->type = stack->type;
    made->count = 1;
    made->thread = (uint16_t)(1 + (fixture_random(program, 4) == 0
                                       ? fixture_random(program, program->options.threads)
                                       : chosen % program->options.threads));
    made->size = stack->base_size +
                 (fixture_random(program, 4) == 0 ? fixture_random(program, stack->base_size) : 0);
    if (stack->kind == 1 || stack->kind == 10) {
        made->count = (uint32_t)(1 + fixture_random(program, 9));
        made->size *= made->count;
    }
    if (stack->kind == 4)
        made->alignment = 64;
    if (fixture_random(program, 500) == 0)
        made->size = 0;
    if (before) {
        made->kind = 2;
        made->size = before->size * 3 / 2 + 8;
        made->realloc_of = (uint32_t)(before - program->allocations) + 1;
        program->reallocs++;
    }
    if (program->options.huge > 0 && fixture_random(program, 40) == 0)
        made->size += program->options.huge;
    made->address = address_take(&run->addresses, made->size);
    made->free_ns = FIXTURE_LIVE;
    uint64_t life = lifetime(program, stack->habit, now);
    if (life != FIXTURE_LIVE && now + life < program->duration_ns)
        coming_push(run->heap, &run->heap_count, (struct coming){now + life, position});
    program->bytes += made->size;
    run->live_bytes += made->size;
    if (run->live_bytes > program->peak_bytes) {
        program->peak_bytes = run->live_bytes;
        program->peak_ns = now;
    }
}

static void finish_first(struct run *run)
{
    struct fixture_program *program = run->program;
    struct coming first = coming_pop(run->heap, &run->heap_count);
    struct fixture_allocation *ended = &program->allocations[first.position];
    ended->free_ns = first.ns;
    ended->free_thread = fixture_random(program, 8) == 0
                             ? (uint16_t)(1 + fixture_random(program, program->options.threads))
                             : ended->thread;
    if (fixture_random(program, 4) == 0)
        ended->free_stack = (uint32_t)(1 + fixture_random(program, program->options.stacks));
    run->live_bytes -= ended->size;
    program->by_id[run->completed] = first.position;
    ended->id = ++run->completed;
    address_give(&run->addresses, ended->address, ended->size);
    if (fixture_random(program, 25) == 0 && program->count < program->options.allocations &&
        first.ns + 40 < program->duration_ns && ended->size < 1 << 20)
        begin(run, first.ns + 40, ended);
}

static void run_program(struct run *run)
{
    struct fixture_program *program = run->program;
    /* Bursts: a phase begins fast and slows down. */
    uint64_t now = 1000;
    while (program->count < program->options.allocations) {
        if (run->heap_count > 0 && run->heap[0].ns <= now) {
            finish_first(run);
            continue;
        }
        begin(run, now, NULL);
        unsigned phase = phase_of(program, now);
        uint64_t gap = phase % 2 == 0 ? NS_AN_ALLOCATION : NS_AN_ALLOCATION / 3;
        now += fixture_random(program, gap) + 20;
        if (now >= program->duration_ns)
            now = program->duration_ns - 1;
    }
    while (run->heap_count > 0)
        finish_first(run);
    for (size_t i = 0; i < program->count; i++) {
        struct fixture_allocation *allocation = &program->allocations[i];
        if (allocation->free_ns != FIXTURE_LIVE)
            continue;
        program->by_id[run->completed] = (uint32_t)i;
        allocation->id = ++run->completed;
        program->live_count++;
        program->live_bytes += allocation->size;
    }
}

/* Lets one block in ten begin within the block before it, as the blocks of an arena do. */
static void nest(struct fixture_program *program)
{
    for (size_t i = 1; i < program->count; i += 10)
        program->allocations[i].address = program->allocations[i - 1].address + 8;
}

/* Makes all times multiples of the tick. */
static void round_times(struct fixture_program *program, uint64_t tick)
{
    for (size_t i = 0; i < program->count; i++) {
        struct fixture_allocation *allocation = &program->allocations[i];
        allocation->alloc_ns -= allocation->alloc_ns % tick;
        if (allocation->free_ns != FIXTURE_LIVE)
            allocation->free_ns -= allocation->free_ns % tick;
    }
}

bool fixture_program_make(struct fixture_program *program, const struct fixture_options *options)
{
    *program = (struct fixture_program){.options = *options};
    program->random = options->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    program->allocations = calloc(options->allocations, sizeof(*program->allocations));
    program->by_id = calloc(options->allocations, sizeof(*program->by_id));
    program->stacks = calloc(options->stacks, sizeof(*program->stacks));
    struct run run = {.program = program};
    run.addresses.heap = UINT64_C(0x55d0c4a00000);
    run.addresses.mapped = UINT64_C(0x7f3a40000000) + options->header;
    run.heap = calloc(options->allocations, sizeof(*run.heap));
    bool good = program->allocations && program->by_id && program->stacks && run.heap &&
                options->functions > 8 && options->stacks > 0 && options->threads > 0;
    if (good) {
        program->duration_ns = options->allocations * (NS_AN_ALLOCATION / 2) + 100000;
        for (unsigned i = 0; i < FIXTURE_PHASES; i++)
            program->phase_ns[i] = program->duration_ns * i / FIXTURE_PHASES;
        for (size_t i = 0; i < options->stacks; i++)
            make_stack(program, i);
        run_program(&run);
        if (options->nested)
            nest(program);
        if (options->tick > 0)
            round_times(program, options->tick);
    }
    for (unsigned i = 0; i < CLASSES; i++)
        free(run.addresses.list[i]);
    free(run.heap);
    return good;
}

void fixture_program_free(struct fixture_program *program)
{
    free(program->allocations);
    free(program->by_id);
    free(program->stacks);
}
