/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steady_events THREADS RATE SECONDS COUNTER: makes RATE allocations and frees a second in all, as
 * evenly as the machine lets it, by THREADS threads from some hundred stacks. The file COUNTER
 * holds the number of allocations so far, 8 bytes in the machine's order.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 500, BLOCKS = 20000, DEPTH = 7 };

static _Atomic uint64_t *allocations;
static uint64_t rate; /* allocations a second of one thread */
static double seconds;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Marsaglia's xorshift. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* Replaces a block, from one of 2^DEPTH stacks. */
static __attribute__((noinline)) void replace(void **block, size_t size, unsigned path, int depth)
{
    if (depth == 0) {
        free(*block);
        *block = malloc(size);
    } else if (path & 1) {
        replace(block, size, path >> 1, depth - 1);
        __asm__ volatile("nop");
    } else {
        replace(block, size, path >> 1, depth - 1);
        __asm__ volatile("");
    }
}

static void *work(void *argument)
{
    void **blocks = calloc(BLOCKS, sizeof(*blocks));
    uint64_t state = 88172645463325252u + (uintptr_t)argument, done = 0;
    const uint64_t start = now_ns(), end = start + (uint64_t)(seconds * 1e9);
    for (uint64_t now = start; blocks && now < end; now = now_ns()) {
        const uint64_t due = start + (uint64_t)((double)done / (double)rate * 1e9);
        if (due > now) {
            const struct timespec rest = {0, (long)(due - now < 999999999 ? due - now : 999999999)};
            nanosleep(&rest, NULL);
        }
        for (int i = 0; i < BATCH; i++) {
            const uint64_t random = draw(&state);
            replace(&blocks[random % BLOCKS], 16 + (random >> 20) % 400, (unsigned)(random >> 40),
                    DEPTH);
        }
        done += BATCH;
        atomic_fetch_add(allocations, BATCH);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    const int count = argc == 5 ? atoi(argv[1]) : 0;
    const int file = argc == 5 ? open(argv[4], O_RDWR | O_CREAT, 0600) : -1;
    if (count < 1 || count > 64 || file < 0 || ftruncate(file, sizeof(*allocations)) != 0)
        return 2;
    allocations = mmap(NULL, sizeof(*allocations), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (allocations == MAP_FAILED)
        return 1;
    rate = (uint64_t)atol(argv[2]) / 2 / (uint64_t)count;
    seconds = atof(argv[3]);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
