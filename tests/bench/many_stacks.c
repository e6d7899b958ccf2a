/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * many_stacks [ALLOCATIONS]: asks for blocks of 500 sizes by up to 262,144 stacks, each 37 frames
 * deep or more. All stacks share their innermost frames. Twice as many events as allocations.
 */
#include <stdint.h>
#include <stdlib.h>

enum { DEPTH = 18, BLOCKS = 200000, SIZES = 500, RUN = 16 };

static uint64_t state = 88172645463325252u;
static void *blocks[BLOCKS];

/* Marsaglia's xorshift. */
static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

typedef void step(unsigned path, int depth, size_t size);
static step left, right;

/* One call at each step, and code after it, so that each step leaves a frame. */
static __attribute__((noinline)) void descend(unsigned path, int depth, size_t size)
{
    if (depth == 0) {
        void **block = &blocks[draw() % BLOCKS];
        free(*block);
        *block = malloc(size);
    } else if (path & 1) {
        left(path >> 1, depth - 1, size);
    } else {
        right(path >> 1, depth - 1, size);
    }
    __asm__ volatile("");
}

static __attribute__((noinline)) void left(unsigned path, int depth, size_t size)
{
    descend(path, depth, size);
    __asm__ volatile("");
}

static __attribute__((noinline)) void right(unsigned path, int depth, size_t size)
{
    descend(path, depth, size);
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    long allocations = argc > 1 ? atol(argv[1]) : 5000000;
    for (long i = 0; i < allocations; i += RUN) {
        unsigned path = (unsigned)(draw() % (1u << DEPTH));
        for (int k = 0; k < RUN; k++)
            descend(path, DEPTH, 16 + draw() % SIZES);
    }
}
