/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The three calls of 1988 in a program whose threads outlive them. usage: calls_1988 FILE
 * Sizes tell the phases: 1000 recorded, 2000 between mprof_stop() and mprof_restart(FILE), 3000 in
 * the second trace, 4000 after the second stop, 5000 in a third trace, again in FILE.
 */
#include <pthread.h>
#include <stdlib.h>

#include "capture/mprof.h"

enum { THREADS = 4, EACH = 500 };

static pthread_barrier_t begin, end;
static size_t size;
static volatile int finished;

static void *worker(void *unused)
{
    for (;;) {
        void *kept = NULL;
        pthread_barrier_wait(&begin);
        if (finished)
            return unused;
        for (int i = 0; i < EACH; i++) {
            void *block = malloc(size);
            free(kept);
            kept = block;
        }
        free(kept);
        pthread_barrier_wait(&end);
    }
}

static void phase(size_t of_size)
{
    size = of_size;
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc != 2)
        return 2;
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&end, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    mprof_arena arena = mprof_arena_create("through all", 0);
    void *early = malloc(1001);
    set_mprof_autosave(100);
    phase(1000);
    mprof_stop();
    phase(2000);
    mprof_stop();
    void *between = malloc(2001);
    mprof_restart(argv[1]);
    free(early);
    mprof_arena_alloc(arena, &arena, 3002, 1);
    phase(3000);
    mprof_stop();
    phase(4000);
    set_mprof_autosave(0);
    mprof_restart(argv[1]);
    phase(5000);
    mprof_restart(argv[1]); /* stops first */
    finished = 1;
    pthread_barrier_wait(&begin);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free(between);
    return 0;
}
