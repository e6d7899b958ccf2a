/*
 * A loop of malloc and free at a given stack depth, for measuring what recording adds.
 * usage: bench_allocate DEPTH EVENTS THREADS; prints ns per event.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIVE 1000

static unsigned long events;
static unsigned depth_asked;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static __attribute__((noinline)) void *make(size_t size)
{
    return malloc(size);
}

static __attribute__((noinline)) void *make_other(size_t size)
{
    void *block = malloc(size + 8);
    __asm__ volatile("" : "+r"(block));
    return block;
}

static __attribute__((noinline)) void loop(void)
{
    static _Thread_local void *live[LIVE];
    uint64_t random = 88172645463325252u;
    for (unsigned long i = 0; i < events / 2; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        void **place = &live[random % LIVE];
        free(*place);
        size_t size = (random >> 32) % 200 + 8;
        *place = random & (UINT64_C(1) << 60) ? make(size) : make_other(size);
    }
    for (unsigned i = 0; i < LIVE; i++)
        free(live[i]);
}

static __attribute__((noinline)) unsigned descend(unsigned depth)
{
    unsigned here = depth;
    if (depth == 0)
        loop();
    else
        here += descend(depth - 1);
    __asm__ volatile("" : "+r"(here));
    return here;
}

static void *run(void *unused)
{
    (void)unused;
    descend(depth_asked);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    depth_asked = (unsigned)atoi(argv[1]);
    events = strtoul(argv[2], NULL, 10);
    unsigned count = (unsigned)atoi(argv[3]);
    pthread_t threads[64];
    double from = seconds();
    for (unsigned i = 1; i < count && i < 64; i++)
        if (pthread_create(&threads[i], NULL, run, NULL) != 0)
            return 1;
    run(NULL);
    for (unsigned i = 1; i < count && i < 64; i++)
        pthread_join(threads[i], NULL);
    printf("%.1f\n", (seconds() - from) / (double)events * 1e9);
    return 0;
}
