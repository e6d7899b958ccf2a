/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates a lot, in the same way each time it runs: many small blocks at one place, fewer large
 * ones at another, blocks that grow, blocks of all sizes, and some that stay; and all that in
 * arenas of its own, too. usage: sampled
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/mprof.h"

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
#define KEPT 1000u

static void *kept[KEPT];
static uint32_t state = 12345;

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

NOINLINE static void many_small(void)
{
    for (int i = 0; i < 40000; i++)
        free(malloc(16));
}

NOINLINE static void few_large(void)
{
    for (int i = 0; i < 200; i++)
        free(calloc(1, 100000));
}

NOINLINE static void all_sizes(void)
{
    for (int i = 0; i < 8000; i++) {
        void **place = &kept[draw(KEPT)];
        free(*place);
        *place = malloc(draw(3000));
    }
}

NOINLINE static void growing(void)
{
    for (int i = 0; i < 200; i++) {
        void *block = malloc(8);
        for (size_t size = 16; size <= 16384; size *= 2)
            block = realloc(block, size);
        free(realloc(block, 100));
    }
}

/* The memory that the arenas give out, each block in a page of its own. Nobody writes into it. */
static char memory[KEPT][4096];

/* Blocks that are freed one by one, but for those that are left at the end of the first round. */
NOINLINE static void pool_work(mprof_arena pool, int round)
{
    static bool taken[KEPT];
    if (round == 1) {
        mprof_arena_reset(pool);
        memset(taken, 0, sizeof taken);
    }
    for (int i = 0; i < 8000; i++) {
        uint32_t place = draw(KEPT);
        if (taken[place])
            mprof_arena_free(pool, memory[place]);
        mprof_arena_alloc(pool, memory[place], draw(3000), 1);
        taken[place] = true;
    }
}

/* Blocks that end with the arena that theirs lies in; some of the same places are freed later. */
NOINLINE static void scratch_work(mprof_arena outer, mprof_arena scratch)
{
    for (int reset = 0; reset < 100; reset++) {
        for (int i = 0; i < 100; i++)
            mprof_arena_alloc(scratch, memory[i], 500, 5);
        mprof_arena_reset(outer);
        for (int i = 0; i < 100; i++) {
            mprof_arena_alloc(scratch, memory[i], 60, 1);
            mprof_arena_realloc(scratch, memory[i], memory[i], 2000, 1);
            if (i % 2)
                mprof_arena_free(scratch, memory[i]);
        }
        mprof_arena_reset(scratch);
    }
}

int main(void)
{
    mprof_arena pool = mprof_arena_create("pool", 0), outer = mprof_arena_create("outer", 0);
    mprof_arena scratch = mprof_arena_create("scratch", outer);
    for (int round = 0; round < 2; round++) {
        many_small();
        few_large();
        all_sizes();
        growing();
        pool_work(pool, round);
        scratch_work(outer, scratch);
    }
    return 0;
}
