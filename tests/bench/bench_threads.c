/* SPDX-License-Identifier: BSD-2-Clause */
/* Processor time of threads that live shortly, in a process that has mapped much: each allocates
 * and frees one block. usage: bench_threads MAPPINGS THREADS; prints microseconds a thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE 4096u

static void *work(void *unused)
{
    void *volatile block = malloc(100);
    free(block);
    return unused;
}

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int run_threads(long count)
{
    pthread_t thread;
    for (long i = 0; i < count; i++)
        if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const long mappings = strtol(argv[1], NULL, 10), threads = strtol(argv[2], NULL, 10);
    /* Neighbours that may not do the same stay two mappings. */
    for (long i = 0; i < mappings; i++)
        if (mmap(NULL, PAGE, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
            return 1;
    if (run_threads(10) != 0) /* the first ones */
        return 1;
    const double before = microseconds();
    if (run_threads(threads) != 0)
        return 1;
    printf("%.1f\n", (microseconds() - before) / (double)threads);
    return 0;
}
