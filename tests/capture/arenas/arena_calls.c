/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes every call of mprof.h about arenas, once or a few times; arenas.sh says what each means.
 * In C and in C++. Ends with 0 whether it is recorded or not.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/mprof.h"

static char memory[1 << 16];
static const char widget_tag = 0; /* represents a type, by its name */

__attribute__((noinline)) static void *pool_take(mprof_arena pool, size_t at, size_t size,
                                                 size_t count)
{
    mprof_arena_alloc(pool, memory + at, size, count);
    return memory + at;
}

__attribute__((noinline)) static void outer_caller(mprof_arena pool)
{
    pool_take(pool, 5000, 501, 1);
    __asm__ volatile("" ::: "memory");
}

static void nested(mprof_arena parent)
{
    mprof_arena child = mprof_arena_create("child", parent);
    mprof_arena grandchild = mprof_arena_create("grandchild", child);
    pool_take(parent, 8192, 4096, 1);  /* the child's memory */
    pool_take(child, 8192, 1024, 1);   /* the grandchild's memory, at the same address */
    pool_take(grandchild, 8192, 8, 1); /* and a block of the grandchild there */
    pool_take(grandchild, 8200, 8, 1);
    mprof_arena_free(grandchild, memory + 8200);
    mprof_arena_reset(parent);
    pool_take(child, 8192, 77, 1);
}

static int forked(mprof_arena pool)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        pool_take(pool, 40000, 4321, 3);
        mprof_arena_free(pool, memory + 40000);
        _exit(0);
    }
    return waitpid(child, &status, 0) == child ? status : 1;
}

int main(void)
{
    mprof_arena pool = mprof_arena_create("pool", 0);
    mprof_arena parent = mprof_arena_create("parent", 0);
    void *heap = malloc(999);
    pool_take(pool, 0, 100, 10);
    mprof_type(pool, memory, &widget_tag, 0, 20);
    mprof_type(0, heap, &widget_tag, 3, 0);
    pool_take(pool, 100, 30, 1);
    mprof_arena_free(pool, memory + 100);
    mprof_arena_free(pool, memory + 100);   /* twice */
    mprof_arena_free(pool, memory + 60000); /* never allocated */
    mprof_arena_free(pool, NULL);
    mprof_arena_alloc(pool, NULL, 1 << 20, 1);
    mprof_arena_alloc(0, memory, 1, 1);
    pool_take(pool, 200, 40, 4);
    mprof_type(pool, memory + 200, &widget_tag, 0, 10);
    mprof_arena_realloc(pool, memory + 200, memory + 300, 80, 8);
    mprof_arena_realloc(pool, memory + 300, memory + 300, 120, 12);
    mprof_arena_realloc(pool, memory + 300, NULL, 9999, 1); /* failed */
    mprof_arena_realloc(pool, NULL, memory + 600, 50, 5);
    outer_caller(pool);
    nested(parent);
    mprof_pause();
    pool_take(pool, 7000, 7001, 1);
    mprof_arena_realloc(pool, memory + 600, memory + 700, 60, 6);
    mprof_resume();
    mprof_arena_destroy(mprof_arena_create("short", pool));
    free(heap);
    return forked(pool);
}
