/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/capture/stacks/shapes.h"

#include <alloca.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/capture/stacks/event.h"

#define NOINLINE __attribute__((noinline))
/* An instruction after the call, so that the call does not become a jump. */
#define STAY() __asm__ volatile("" ::: "memory")

unsigned shapes_random(unsigned *random, unsigned below)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) % below;
}

NOINLINE static void shape_small(unsigned *random, unsigned depth)
{
    shapes_descend(random, depth);
    STAY();
}

NOINLINE static void shape_large(unsigned *random, unsigned depth)
{
    volatile char space[5000] = {1};
    (void)space;
    shapes_descend(random, depth);
    STAY();
}

/* Uses all callee-saved registers, rbp among them, as ordinary ones. */
NOINLINE static void shape_registers(unsigned *random, unsigned depth)
{
    unsigned a = shapes_random(random, 9), b = shapes_random(random, 9);
    unsigned c = shapes_random(random, 9), d = shapes_random(random, 9);
    unsigned e = shapes_random(random, 9), f = shapes_random(random, 9);
    shapes_descend(random, depth);
    __asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
    STAY();
}

NOINLINE static void shape_alloca(unsigned *random, unsigned depth)
{
    unsigned size = 16 + shapes_random(random, 500);
    char *space = alloca(size);
    memset(space, 1, size);
    __asm__ volatile("" ::"r"(space) : "memory");
    shapes_descend(random, depth);
    STAY();
}

NOINLINE static void shape_aligned(unsigned *random, unsigned depth)
{
    _Alignas(64) char space[128];
    memset(space, 1, sizeof(space));
    __asm__ volatile("" ::"r"(space) : "memory");
    shapes_descend(random, depth);
    STAY();
}

/* Has a frame that is both realigned and of variable size. */
NOINLINE static void shape_aligned_array(unsigned *random, unsigned depth)
{
    _Alignas(32) char space[64];
    char array[1 + shapes_random(random, 100)];
    __asm__ volatile("" ::"r"(space), "r"(array) : "memory");
    shapes_descend(random, depth);
    __asm__ volatile("" ::"r"(space), "r"(array) : "memory");
}

NOINLINE static void shape_tail(unsigned *random, unsigned depth)
{
    if (depth % 2)
        shape_small(random, depth); /* a jump */
    else
        shape_registers(random, depth);
}

NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) static void
shape_frame_pointer(unsigned *random, unsigned depth)
{
    shapes_descend(random, depth);
    STAY();
}

static _Thread_local unsigned *sort_random;
static _Thread_local unsigned sort_depth, sort_calls;

static int compare(const void *a, const void *b)
{
    if (++sort_calls == 3)
        shapes_descend(sort_random, sort_depth);
    return *(const int *)a - *(const int *)b;
}

NOINLINE static void shape_callback(unsigned *random, unsigned depth)
{
    int numbers[8] = {5, 3, 8, 1, 9, 2, 7, 4};
    sort_random = random;
    sort_depth = depth;
    sort_calls = 0;
    qsort(numbers, 8, sizeof(numbers[0]), compare);
    STAY();
}

static _Thread_local jmp_buf *landing;

NOINLINE static void shape_jump(unsigned *random, unsigned depth)
{
    jmp_buf here, *volatile outer = landing;
    if (setjmp(here) == 0) {
        landing = &here;
        shapes_descend(random, depth);
        if (landing == &here && shapes_random(random, 2))
            longjmp(here, 1);
    }
    landing = outer;
    event();
    STAY();
}

typedef void shape(unsigned *random, unsigned depth);

void shapes_descend(unsigned *random, unsigned depth)
{
    static shape *const shapes[] = {
        shape_small,         shape_large, shape_registers,     shape_alloca,   shape_aligned,
        shape_aligned_array, shape_tail,  shape_frame_pointer, shape_callback, shape_jump};
    if (shapes_random(random, 4) == 0 || !depth)
        event();
    if (depth)
        shapes[shapes_random(random, sizeof(shapes) / sizeof(shapes[0]))](random, depth - 1);
    if (shapes_random(random, 4) == 0)
        event();
    STAY();
}

NOINLINE static void twin(void)
{
    event();
    STAY();
}

void shapes_twin_left(void)
{
    volatile char space[40] = {1};
    (void)space;
    twin();
    STAY();
}

void shapes_twin_right(void)
{
    volatile char space[40] = {1};
    (void)space;
    twin();
    STAY();
}

/* Two frames of equal size over two of equal size. */
NOINLINE static void branch_one(void)
{
    volatile char space[24] = {1};
    (void)space;
    twin();
    STAY();
}

NOINLINE static void branch_two(void)
{
    volatile char space[24] = {1};
    (void)space;
    twin();
    STAY();
}

NOINLINE static void trunk_one(unsigned inner)
{
    volatile char space[40] = {1};
    (void)space;
    if (inner)
        branch_one();
    else
        branch_two();
    STAY();
}

NOINLINE static void trunk_two(unsigned inner)
{
    volatile char space[40] = {1};
    (void)space;
    if (inner)
        branch_one();
    else
        branch_two();
    STAY();
}

void shapes_branch(unsigned outer, unsigned inner)
{
    if (outer)
        trunk_one(inner);
    else
        trunk_two(inner);
    STAY();
}

/* The distance of the two places of one frame. The caller's room and its own add up to three times
 * that. */
#define MOVED_BY 256u

NOINLINE static void moved_event(unsigned left)
{
    if (left) {
        event();
        __asm__ volatile("nop");
    } else {
        event();
        __asm__ volatile("nop; nop");
    }
    STAY();
}

/* The room is not written to, so its earlier contents stay. */
NOINLINE static void moved(size_t room, unsigned both)
{
    __asm__ volatile("" : : "r"(alloca(room)) : "memory");
    for (unsigned left = both + 1; left--;)
        moved_event(left);
    STAY();
}

void shapes_moved(unsigned caller, unsigned lower, unsigned both)
{
    size_t room = lower ? 2 * MOVED_BY : MOVED_BY;
    __asm__ volatile("" : : "r"(alloca(room)) : "memory");
    if (caller) {
        moved(3 * MOVED_BY - room, both);
        __asm__ volatile("nop");
    } else {
        moved(3 * MOVED_BY - room, both);
        __asm__ volatile("nop; nop");
    }
    STAY();
}

void shapes_below(void)
{
    __asm__ volatile("" : : "r"(alloca(8 * MOVED_BY)) : "memory");
    event();
    STAY();
}

void shapes_recurse(unsigned depth, unsigned every)
{
    if (depth % every == 0)
        event();
    if (depth)
        shapes_recurse(depth - 1, every);
    STAY();
}
