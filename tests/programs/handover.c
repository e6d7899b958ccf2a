/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that take blocks from one another the moment they are there: each exchanges a new block
 * for the one in a slot, and ends that one.
 * usage: handover HOW THREADS SLOTS WANTED SECONDS
 * HOW: heap (malloc and free), resize (realloc, then free), arena (mprof_arena_alloc and
 * mprof_arena_free).
 * Goes on until WANTED blocks were ended by another thread than the one that made them, and at most
 * SECONDS. Prints how many were made, and how many of them so ended.
 *
 * A block's maker lies in the low bits of its pointer: to read the block would be to wait for it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mprof.h"

enum { THREADS_MAX = 15, SLOTS_MAX = 64, SIZE = 48, LOOK = 256 };
static const uintptr_t maker_bits = 15;

struct slot {
    _Atomic uintptr_t block;
    char apart[56];
};
static struct slot slots[SLOTS_MAX] __attribute__((aligned(64)));

struct way {
    const char *name;
    void *(*make)(void);
    void (*end)(void *block);
};

static unsigned slot_count;
static unsigned long wanted;
static _Atomic unsigned long made, handed_over;
static _Atomic bool over;
static const struct way *how;
static mprof_arena arena;

static void *heap_make(void)
{
    return malloc(SIZE);
}

static void resize_end(void *block)
{
    free(realloc(block, SIZE + 16));
}

static void *arena_make(void)
{
    void *block = malloc(SIZE);
    mprof_arena_alloc(arena, block, SIZE, 1);
    return block;
}

static void arena_end(void *block)
{
    mprof_arena_free(arena, block);
    free(block);
}

static const struct way ways[] = {
    {"heap", heap_make, free},
    {"resize", heap_make, resize_end},
    {"arena", arena_make, arena_end},
};

/* Each thread on a processor of its own, as far as there are. */
static void stay_on(unsigned number)
{
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof allowed, &allowed);
    unsigned place = number % (unsigned)CPU_COUNT(&allowed);
    for (size_t processor = 0; processor < CPU_SETSIZE; processor++)
        if (CPU_ISSET(processor, &allowed) && place-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            sched_setaffinity(0, sizeof one, &one);
            return;
        }
}

static void *exchange(void *argument)
{
    const uintptr_t self = (uintptr_t)argument;
    unsigned long rounds = 0, taken = 0;
    stay_on((unsigned)self);
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        uintptr_t block = (uintptr_t)how->make() | self;
        block = atomic_exchange(&slots[rounds++ % slot_count].block, block);
        if (block)
            how->end((void *)(block & ~maker_bits));
        taken += block && (block & maker_bits) != self;
        if (rounds % LOOK == 0) {
            if (atomic_fetch_add(&handed_over, taken) + taken >= wanted)
                atomic_store(&over, true);
            taken = 0;
        }
    }
    atomic_fetch_add(&handed_over, taken);
    atomic_fetch_add(&made, rounds);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    if (argc != 6)
        return 2;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            how = &ways[i];
    const uintptr_t count = strtoul(argv[2], NULL, 10);
    slot_count = (unsigned)strtoul(argv[3], NULL, 10);
    wanted = strtoul(argv[4], NULL, 10);
    if (!how || count - 1 >= THREADS_MAX || slot_count - 1 >= SLOTS_MAX)
        return 2;
    arena = mprof_arena_create("handed over", 0);
    const time_t until = time(NULL) + strtol(argv[5], NULL, 10);
    for (uintptr_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, exchange, (void *)i) != 0)
            return 1;
    while (!atomic_load(&over)) {
        usleep(10000);
        if (time(NULL) > until)
            atomic_store(&over, true);
    }
    for (uintptr_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < slot_count; i++)
        if (slots[i].block)
            how->end((void *)(slots[i].block & ~maker_bits));
    printf("%lu %lu\n", (unsigned long)made, (unsigned long)handed_over);
    return 0;
}
