/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of stack_current(), in nanoseconds of processor time a call: at several depths, with the
 * stack unchanged and with inner frames that change. Printed, never asserted.
 *
 * "unchanged": the same call again and again. "callee": the innermost of the frames changes each
 * time. "five": the inner five frames are left and entered again by another path each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "capture/stack/stack.h"

#define NOINLINE __attribute__((noinline))
/* Keeps a call from becoming a jump, so that the frame stays. */
#define STAY() __asm__ volatile("" ::: "memory")

static struct stack_thread *state;
static uint32_t last;

static bool take_module(void *context, const struct stack_module *module)
{
    return true;
}

static bool take_node(void *context, const struct stack_node *node)
{
    return true;
}

static void end_module(void *context, uint32_t module)
{
}

static const struct stack_sink sink = {
    .module = take_module, .node = take_node, .module_end = end_module};

NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) static void entry(void)
{
    last = stack_current(state, __builtin_frame_address(0), NULL);
    STAY();
}

#define FRAME(name, next)                                                                          \
    NOINLINE static void name(void)                                                                \
    {                                                                                              \
        volatile char space[48] = {1};                                                             \
        (void)space;                                                                               \
        next();                                                                                    \
        STAY();                                                                                    \
    }
FRAME(left_4, entry)
FRAME(left_3, left_4)
FRAME(left_2, left_3)
FRAME(left_1, left_2)
FRAME(left, left_1)
FRAME(right_4, entry)
FRAME(right_3, right_4)
FRAME(right_2, right_3)
FRAME(right_1, right_2)
FRAME(right, right_1)

NOINLINE static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

enum pattern { UNCHANGED, CALLEE, FIVE };

NOINLINE static void loop(enum pattern pattern, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        if (pattern == UNCHANGED)
            entry();
        else if (pattern == CALLEE && i % 2)
            left_4();
        else if (pattern == CALLEE)
            right_4();
        else if (i % 2)
            left();
        else
            right();
        STAY();
    }
}

NOINLINE static void deep(unsigned depth, enum pattern pattern, unsigned long count)
{
    volatile char space[64] = {1};
    (void)space;
    if (depth)
        deep(depth - 1, pattern, count);
    else
        loop(pattern, count);
    STAY();
}

int main(void)
{
    static const unsigned depths[] = {10, 30, 100, 300};
    static const char *const names[] = {"unchanged", "callee", "five"};
    const unsigned long count = 2000000;
    stack_init(&(struct stack_options){.unwind = STACK_UNWIND_AUTO}, &sink);
    state =
        mmap(NULL, stack_thread_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_thread_init(state);
    printf("%-12s", "ns per stack");
    for (unsigned d = 0; d < sizeof(depths) / sizeof(depths[0]); d++)
        printf("  depth %3u", depths[d]);
    for (int pattern = UNCHANGED; pattern <= FIVE; pattern++) {
        printf("\n%-12s", names[pattern]);
        for (unsigned d = 0; d < sizeof(depths) / sizeof(depths[0]); d++) {
            deep(depths[d] - 4, (enum pattern)pattern, 1000);
            double begin = now();
            deep(depths[d] - 4, (enum pattern)pattern, count);
            printf("  %9.1f", (now() - begin) / (double)count);
        }
    }
    printf("\n");
    return last == 0;
}
