/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of blocks of the program's own allocators: hands out and takes back COUNT blocks of an
 * arena on a depth of 20 frames, and prints the processor's nanoseconds for each event. usage:
 * arena_events COUNT
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "capture/mprof.h"

enum { BLOCKS = 1000, DEPTH = 20 };

static char memory[BLOCKS * 64];
static volatile int depth_reached;

static void work(mprof_arena arena, long count)
{
    for (long i = 0; i < count; i++) {
        char *block = memory + i % BLOCKS * 64;
        mprof_arena_alloc(arena, block, 16 + (size_t)(i % 7) * 8, 1);
        mprof_arena_free(arena, block);
    }
}

static __attribute__((noinline)) void descend(int depth, mprof_arena arena, long count)
{
    if (depth == 0)
        work(arena, count);
    else
        descend(depth - 1, arena, count);
    depth_reached = depth; /* no call at the end, which would leave no frame */
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    mprof_arena arena = mprof_arena_create("bench", 0);
    const clock_t before = clock();
    descend(DEPTH, arena, count);
    const double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    printf("%.1f\n", seconds * 1e9 / (2.0 * (double)count));
    return 0;
}
