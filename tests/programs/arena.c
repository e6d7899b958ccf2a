/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An arena: one block from malloc, handed out from front to back, given back as a whole.
 * The three mprof_ lines let the profiler see what is in it.
 */
#include <stdint.h>
#include <stdlib.h>

#include "mprof.h"

struct arena {
    char *next, *end, *memory;
    mprof_arena id;
};

static struct arena arena_new(const char *name, size_t capacity)
{
    char *memory = malloc(capacity);
    return (struct arena){memory, memory + capacity, memory, mprof_arena_create(name, 0)};
}

static void *arena_alloc(struct arena *arena, size_t size, size_t align, size_t count)
{
    char *block = arena->next + (-(uintptr_t)arena->next & (align - 1));
    if (size * count > (size_t)(arena->end - block))
        abort();
    arena->next = block + size * count;
    mprof_arena_alloc(arena->id, block, size * count, count);
    return block;
}

static void arena_delete(struct arena *arena)
{
    mprof_arena_destroy(arena->id);
    free(arena->memory);
}

static int *squares(struct arena *arena, size_t count)
{
    int *all = arena_alloc(arena, sizeof *all, _Alignof(int), count);
    for (size_t i = 0; i < count; i++)
        all[i] = (int)(i * i);
    return all;
}

static double *halves(struct arena *arena, size_t count)
{
    int *whole = squares(arena, count);
    double *all = arena_alloc(arena, sizeof *all, _Alignof(double), count);
    for (size_t i = 0; i < count; i++)
        all[i] = whole[i] / 2.0;
    return all;
}

int main(void)
{
    struct arena kept = arena_new("kept", 1 << 20), scratch = arena_new("scratch", 1 << 20);
    double sum = 0;
    for (size_t i = 1; i <= 20; i++)
        sum += halves(&kept, 100)[i] + squares(&scratch, 50 * i)[i];
    arena_delete(&scratch);
    return sum > 0 ? 0 : 1;
}
