/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that come and go. usage: threads short COUNT | names | late | running
 * short: COUNT threads, four at a time, each allocating three blocks. names: threads that name
 * themselves. late: a key destructor that allocates in every round. running: main returns while
 * threads allocate.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static _Atomic unsigned long running_count;

static void *work_shortly(void *argument)
{
    for (int i = 0; i < 3; i++)
        free(malloc(5000 + (size_t)i));
    return argument;
}

static int start_many(int count)
{
    pthread_t threads[4];
    for (int i = 0; i < count; i += 4) {
        for (int k = 0; k < 4; k++)
            if (pthread_create(&threads[k], NULL, work_shortly, NULL) != 0)
                return 1;
        for (int k = 0; k < 4; k++)
            pthread_join(threads[k], NULL);
    }
    return 0;
}

static void *name_self(void *argument)
{
    free(malloc(100));
    pthread_setname_np(pthread_self(), "first-name");
    free(malloc(101));
    /* Not seen at once; the thread's end reads it. */
    prctl(PR_SET_NAME, "second-name");
    return argument;
}

static pthread_key_t late_key;

static void allocate_late(void *value)
{
    uintptr_t round = (uintptr_t)value;
    free(malloc(7000 + round));
    if (round < 10)
        pthread_setspecific(late_key, (void *)(round + 1));
}

static void *work_late(void *argument)
{
    pthread_setspecific(late_key, (void *)1);
    free(malloc(6000));
    return argument;
}

static void *work_on(void *argument)
{
    for (;;) {
        free(malloc(64));
        atomic_fetch_add(&running_count, 1);
    }
    return argument;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread;
    if (strcmp(what, "short") == 0)
        return start_many(atoi(argv[2]));
    if (strcmp(what, "names") == 0) {
        pthread_create(&thread, NULL, name_self, NULL);
        return pthread_join(thread, NULL);
    }
    if (strcmp(what, "late") == 0) {
        for (int i = 0; i < 20; i++) {
            if (i == 0)
                pthread_key_create(&late_key, allocate_late);
            pthread_create(&thread, NULL, work_late, NULL);
            pthread_join(thread, NULL);
        }
        return 0;
    }
    if (strcmp(what, "running") == 0) {
        for (int i = 0; i < 4; i++)
            pthread_create(&thread, NULL, work_on, NULL);
        while (atomic_load(&running_count) < 20000)
            sched_yield();
        return 0;
    }
    return 2;
}
