/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls mprof_stop() and mprof_restart() while other threads allocate without a pause, and threads
 * come and go. After each restart each of four threads makes 300 turns, each with one allocation,
 * before the next round begins. usage: restart_storm FOLDER ROUNDS. Ends with 0, recorded or not.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/mprof.h"

enum { THREADS = 4, KEPT = 64, TURNS_A_ROUND = 300, TURNS_OF_VISITOR = 1000 };

static atomic_int finished;
static atomic_uint turns_made[THREADS];

/* Allocates and frees: a visitor, whose `turns` is NULL, for 1,000 turns, the others until the end.
 */
static void *churn(void *turns)
{
    void *kept[KEPT] = {NULL};
    for (unsigned i = 0; turns ? !finished : i < TURNS_OF_VISITOR; i++) {
        void **one = &kept[i % KEPT];
        if (i % 3 == 0) {
            *one = realloc(*one, 16 + i % 512);
        } else {
            free(*one);
            *one = malloc(16 + i % 512);
        }
        if (turns)
            atomic_fetch_add((atomic_uint *)turns, 1);
    }
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
    return NULL;
}

/* Waits until every thread has made the turns of one round. */
static void await_turns(void)
{
    for (int i = 0; i < THREADS; i++)
        for (unsigned begun = turns_made[i]; turns_made[i] - begun < TURNS_A_ROUND;)
            sched_yield();
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS], visitor;
    char path[4096];
    if (argc != 3)
        return 2;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, churn, &turns_made[i]) != 0)
            return 3;
    for (int round = atoi(argv[2]); round > 0; round--) {
        if (pthread_create(&visitor, NULL, churn, NULL) != 0)
            return 3;
        if (round % 2)
            mprof_stop();
        snprintf(path, sizeof(path), "%s/round.%d", argv[1], round);
        mprof_restart(path);
        pthread_join(visitor, NULL);
        await_turns();
    }
    finished = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
