/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads hand the blocks of an arena to each other, which a collector reclaims in between.
 * Each thread waits while the other one acts, so the order of all events is known.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "capture/mprof.h"

enum { ROUNDS = 50, KEPT = 7, LATE = 9 };

static char memory[4096];
static sem_t turn[2];
static mprof_arena pool;
static mprof_runtime runtime;

static unsigned no_frames(void *data, struct mprof_frame *out, unsigned max)
{
    (void)data, (void)out, (void)max;
    return 0;
}

static void no_name(void *data, const void *key, struct mprof_frame_name *out)
{
    (void)data, (void)key, (void)out;
}

static void give_turn(int from)
{
    sem_post(&turn[!from]);
    sem_wait(&turn[from]);
}

/* Uses addresses that the other thread has used. With a clock that is read now and then, the stamps
 * of this thread are old. */
static void *other(void *nothing)
{
    sem_wait(&turn[1]);
    mprof_arena_alloc(pool, memory + 2048, 1, 1);
    for (int round = 0; round < ROUNDS; round++) {
        give_turn(1);
        mprof_arena_alloc(pool, memory + 16, 100, 1); /* after the reclaim of the same block */
        give_turn(1);
        mprof_arena_free(pool, memory + 32); /* the other thread has just made it */
        free(malloc(10));
    }
    give_turn(1);
    mprof_arena_alloc(pool, memory + 64, LATE, 1);
    sem_post(&turn[0]);
    return nothing;
}

/* Makes and frees blocks, so that this thread reads its clock. */
static void pass_time(void)
{
    for (int i = 0; i < 40; i++) {
        mprof_arena_alloc(pool, memory + 128, 50, 1);
        mprof_arena_free(pool, memory + 128);
    }
}

int main(void)
{
    static const struct mprof_runtime_calls calls = {no_frames, no_name};
    pthread_t thread;
    runtime = mprof_runtime_create("toy", &calls, NULL);
    pool = mprof_arena_create("pool", 0);
    sem_init(&turn[0], 0, 0);
    sem_init(&turn[1], 0, 0);
    if (pthread_create(&thread, NULL, other, NULL) != 0)
        return 1;
    mprof_arena_alloc(pool, memory + 256, KEPT, 1);
    give_turn(0);
    for (int round = 0; round < ROUNDS; round++) {
        mprof_arena_alloc(pool, memory + 16, 200, 1);
        pass_time();
        mprof_collection(runtime, 1);
        mprof_collected(pool, memory + 16);
        mprof_collection(runtime, 0);
        give_turn(0);
        mprof_arena_free(pool, memory + 16);
        pass_time();
        mprof_arena_alloc(pool, memory + 32, 300, 1);
        give_turn(0);
    }
    pass_time();
    mprof_collection(runtime, 1);
    mprof_collection(runtime, 0);
    give_turn(0);
    return pthread_join(thread, NULL);
}
