/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls mprof_stop() and mprof_restart() while other threads allocate without a pause, and threads
 * come and go. usage: restart_storm FOLDER ROUNDS. Ends with 0, recorded or not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/mprof.h"

enum { THREADS = 4, KEPT = 64 };

static volatile int finished;

static void *churn(void *short_lived)
{
    void *kept[KEPT] = {NULL};
    unsigned turns = short_lived ? 1000 : 0;
    for (unsigned i = 0; short_lived ? i < turns : !finished; i++) {
        void **one = &kept[i % KEPT];
        if (i % 3 == 0) {
            *one = realloc(*one, 16 + i % 512);
        } else {
            free(*one);
            *one = malloc(16 + i % 512);
        }
    }
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS], visitor;
    char path[4096];
    if (argc != 3)
        return 2;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, churn, NULL) != 0)
            return 3;
    for (int round = atoi(argv[2]); round > 0; round--) {
        int one = 1;
        if (pthread_create(&visitor, NULL, churn, &one) != 0)
            return 3;
        if (round % 2)
            mprof_stop();
        snprintf(path, sizeof(path), "%s/round.%d", argv[1], round);
        mprof_restart(path);
        pthread_join(visitor, NULL);
    }
    finished = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
