/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Does the same work each time it runs, and goes on when it is told. usage: rotates [MILLISECONDS]
 *
 * Each line of the input is a step: it replaces blocks in a table, by malloc, calloc, realloc and
 * aligned_alloc, and blocks of an arena, tells the types of some, and answers with the number of
 * the step. A point frees one of many small blocks; the end frees the rest. A runtime owns the
 * arena: its function is on the stacks, and while the program waits for input, its collection goes
 * on. With a number of milliseconds it says "begins" after the first blocks, takes that long
 * instead and reads no input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/mprof.h"

enum { KEPT = 4000, STEP = 6000, SPARE = 20000 };

static void *kept[KEPT], *spare[SPARE];
static uint32_t state = 12345;
static mprof_arena pool;
static char pool_bytes[1000][64];
static mprof_runtime toy;
static mprof_kind cells[2];
static const char widget_tag; /* represents a type, by its name */

static unsigned frames(void *data, struct mprof_frame *out, unsigned max)
{
    (void)data;
    out->key = "work";
    out->check = out->line = 7;
    out->address = NULL;
    return max > 0;
}

static void name(void *data, const void *key, struct mprof_frame_name *out)
{
    (void)data;
    strcpy(out->function, key);
}

static uint32_t draw(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void renew(uint32_t at)
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

/* Half of the blocks of malloc() have a type that the program tells. */
static void replace(uint32_t at)
{
    renew(at);
    if (at % 16 == 3)
        mprof_type(0, kept[at], &widget_tag, 0, 8);
    else if (at % 16 == 7)
        mprof_type_kind(0, kept[at], cells[1]);
}

static void take(uint32_t at)
{
    mprof_arena_alloc_kind(pool, pool_bytes[at], 64, 1, cells[at % 2]);
    if (at % 4 == 2)
        mprof_type(pool, pool_bytes[at], &widget_tag, 0, 16);
}

static void step(void)
{
    for (int i = 0; i < STEP; i++)
        replace(draw(KEPT));
    for (int i = 0; i < 100; i++) {
        const uint32_t at = draw(1000);
        mprof_arena_free(pool, pool_bytes[at]);
        take(at);
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
    static const struct mprof_runtime_calls calls = {frames, name};
    toy = mprof_runtime_create("toy", &calls, NULL);
    cells[0] = mprof_kind_create(toy, "even");
    cells[1] = mprof_kind_create(toy, "odd");
    pool = mprof_arena_create("pool", 0);
    for (uint32_t i = 0; i < 1000; i++)
        take(i);
    for (uint32_t i = 0; i < KEPT; i++)
        replace(i);
    if (argc > 1) {
        puts("begins");
        fflush(stdout);
        for (const double end = now() + atof(argv[1]); now() < end;)
            step();
        return 0;
    }
    for (int i = 0; i < SPARE; i++)
        spare[i] = malloc(1);
    setvbuf(stdin, input, _IONBF, 0);
    setvbuf(stdout, output, _IOLBF, sizeof(output));
    mprof_collection(toy, 1);
    while ((c = getchar()) != EOF) {
        if (c == '.' && spares < SPARE)
            free(spare[spares++]);
        if (c != '\n')
            continue;
        mprof_collection(toy, 0);
        step();
        mprof_collection(toy, 1);
        printf("%d\n", ++steps);
    }
    while (spares < SPARE)
        free(spare[spares++]);
    return 0;
}
