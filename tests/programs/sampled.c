/*
 * Allocates a lot, in the same way each time it runs: many small blocks at one place, fewer large
 * ones at another, blocks that grow, blocks of all sizes, and some that stay. usage: sampled
 */
#include <stdint.h>
#include <stdlib.h>

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

int main(void)
{
    for (int round = 0; round < 2; round++) {
        many_small();
        few_large();
        all_sizes();
        growing();
    }
    return 0;
}
