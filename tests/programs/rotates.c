/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the same work each time it runs, and goes on when it is told. usage: rotates [MILLISECONDS]
 *
 * Each line of the input is a step: it replaces blocks in a table, by malloc, calloc, realloc and
 * aligned_alloc, and blocks of an arena, and answers with the number of the step. A point frees
 * one of many small blocks; the end frees the rest. With a number of milliseconds it takes that
 * long instead and reads no input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "capture/mprof.h"

enum { KEPT = 4000, STEP = 6000, SPARE = 20000 };

static void *kept[KEPT], *spare[SPARE];
static uint32_t state = 12345;
static mprof_arena pool;
static char pool_bytes[1000][64];

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void replace(uint32_t at)
{
    const size_t size = draw(2000);
    switch (at % 4) {
    case 0:
        kept[at] = realloc(kept[at], size + 1);
        return;
    case 1:
        free(kept[at]);
        kept[at] = calloc(1, size);
        return;
    case 2:
        free(kept[at]);
        kept[at] = aligned_alloc(64, (size + 63) / 64 * 64);
        return;
    default:
        free(kept[at]);
        kept[at] = malloc(size);
    }
}

static void step(void)
{
    for (int i = 0; i < STEP; i++)
        replace(draw(KEPT));
    for (int i = 0; i < 100; i++) {
        const uint32_t at = draw(1000);
        mprof_arena_free(pool, pool_bytes[at]);
        mprof_arena_alloc(pool, pool_bytes[at], 64, 1);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
    static char input[1], output[64];
    int steps = 0, spares = 0, c;
    pool = mprof_arena_create("pool", 0);
    for (int i = 0; i < 1000; i++)
        mprof_arena_alloc(pool, pool_bytes[i], 64, 1);
    for (uint32_t i = 0; i < KEPT; i++)
        replace(i);
    if (argc > 1) {
        for (const double end = now() + atof(argv[1]); now() < end;)
            step();
        return 0;
    }
    for (int i = 0; i < SPARE; i++)
        spare[i] = malloc(1);
    setvbuf(stdin, input, _IONBF, 0);
    setvbuf(stdout, output, _IOLBF, sizeof(output));
    while ((c = getchar()) != EOF) {
        if (c == '.' && spares < SPARE)
            free(spare[spares++]);
        if (c != '\n')
            continue;
        step();
        printf("%d\n", ++steps);
    }
    while (spares < SPARE)
        free(spare[spares++]);
    return 0;
}
