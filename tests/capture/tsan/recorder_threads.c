/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder under ThreadSanitizer. Threads call every entry point at once, hand blocks to one
 * another, come and go, while another pauses, marks, stops and restarts. They run functions of a
 * runtime, whose names and kinds all of them use. With `meet` they are all inside its frames() at
 * one moment, before the other begins, and half of the names are told before it stops the first
 * time.
 * The capture sources are compiled into this program as for libmprof.a, so that the sanitizer sees
 * their loads and stores. The real allocator is the sanitizer's own.
 * usage: recorder_threads ROUNDS [meet]
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "capture/mprof.h"
#include "capture/record/gate.h"
#include "capture/record/thread.h"
#include "capture/stack/stack.h"

#define WORKERS 4u

/*
 * The recorder maps memory by its own system calls, which the sanitizer does not see. It would
 * confuse the new memory with the old at the same addresses. So these functions call the C library.
 */
void *__wrap_os_map(size_t size);
void __wrap_os_unmap(void *memory, size_t size);

void *__wrap_os_map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void __wrap_os_unmap(void *memory, size_t size)
{
    munmap(memory, size);
}

#define SLOTS 64u

static _Atomic(void *) slots[SLOTS];
static _Atomic unsigned running;
static unsigned rounds = 200;

/* ---- the runtime ---- */

#define FUNCTIONS 50u

struct call {
    uintptr_t function; /* from 1 */
    unsigned line;
    const void *evaluator;
    struct call *outer;
};

static __thread struct call *volatile top __attribute__((tls_model("initial-exec")));
static __thread bool has_met __attribute__((tls_model("initial-exec")));
static _Atomic unsigned met, named;
static _Atomic bool has_name[FUNCTIONS + 1];
static bool meet;
static mprof_runtime toy;
static mprof_kind kinds[4];

static unsigned frames(void *data, struct mprof_frame *out, unsigned max)
{
    unsigned count = 0;
    (void)data;
    if (!top)
        return 0;
    if (meet && !has_met) {
        has_met = true;
        atomic_fetch_add(&met, 1);
        while (atomic_load(&met) < WORKERS)
            sched_yield();
    }
    for (struct call *call = top; call && count < max; call = call->outer)
        out[count++] = (struct mprof_frame){.key = (const void *)call->function,
                                            .check = call->function % 7,
                                            .address = call->evaluator,
                                            .line = call->line};
    return count;
}

static void name(void *data, const void *key, struct mprof_frame_name *out)
{
    (void)data;
    if (!atomic_exchange(&has_name[(uintptr_t)key], true))
        atomic_fetch_add(&named, 1);
    snprintf(out->function, sizeof(out->function), "toy-%u", (unsigned)(uintptr_t)key);
    snprintf(out->file, sizeof(out->file), "%u.toy", (unsigned)(uintptr_t)key % 3);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void *allocate_one(unsigned *random)
{
    size_t size = next_random(random) % 400 + 1;
    void *block = NULL;
    switch (next_random(random) % 8) {
    case 0:
        return calloc(2, size);
    case 1:
        return posix_memalign(&block, 64, size) == 0 ? block : NULL;
    case 2:
        return aligned_alloc(64, (size + 63) & ~(size_t)63);
    case 3:
        return memalign(32, size);
    case 4:
        return reallocarray(NULL, 2, size);
    default:
        return malloc(size);
    }
}

/* Recursion makes many different stacks. */
static __attribute__((noinline)) void *allocate_deep(unsigned *random, unsigned depth)
{
    void *block = depth ? allocate_deep(random, depth - 1) : allocate_one(random);
    __asm__ volatile("" ::: "memory");
    return block;
}

/* Makes one call, on a block that any thread may have made. */
static void step(unsigned *random)
{
    _Atomic(void *) *slot = &slots[next_random(random) % SLOTS];
    void *old = atomic_exchange(slot, NULL), *block;
    if (old && next_random(random) % 4 == 0)
        block = realloc(old, next_random(random) % 500 + 1);
    else {
        free(old);
        block = allocate_deep(random, next_random(random) % 20);
    }
    free(atomic_exchange(slot, block));
}

static void *short_thread(void *seed)
{
    unsigned random = *(unsigned *)seed;
    pthread_setname_np(pthread_self(), "short");
    for (unsigned i = 0; i < 20; i++)
        step(&random);
    return NULL;
}

/* Does what dlclose() of the shared library does. No library is loaded here, because the
 * sanitizer's reports and the loader wait for each other. */
static void modules_changed(void)
{
    struct thread *thread = recorder_enter(__builtin_frame_address(0), RECORDER_NOTE);
    if (thread) {
        stack_modules_changed(thread);
        recorder_leave();
    }
}

static void use_arena(unsigned *random)
{
    char memory[100];
    mprof_arena arena = mprof_arena_create("pool", 0);
    mprof_arena_alloc(arena, memory, 10, 1);
    mprof_arena_realloc(arena, memory, memory + 10, next_random(random) % 90, 1);
    if (next_random(random) % 2)
        mprof_arena_free(arena, memory + 10);
    mprof_arena_reset(arena);
    mprof_arena_destroy(arena);
}

/* A heap with cells of several kinds, of which a collection takes some. */
static void use_heap(unsigned *random)
{
    char cells[8][16];
    bool told[8];
    mprof_arena heap = mprof_arena_create("toy heap", 0);
    for (unsigned i = 0; i < 8; i++) {
        told[i] = !mprof_arena_skips(heap, cells[i], 16);
        if (told[i])
            mprof_arena_alloc_kind(heap, cells[i], 16, 1, kinds[next_random(random) % 4]);
    }
    mprof_collection(toy, 1);
    mprof_collected(heap, NULL);
    for (unsigned i = 0; i < 8; i += 2)
        if (told[i])
            mprof_collected(heap, cells[i]);
    mprof_collection(toy, 0);
    mprof_arena_reset(heap);
    mprof_arena_destroy(heap);
}

/* Runs functions of the runtime, some in one native frame and some further inward. */
static __attribute__((noinline)) void evaluate(unsigned *random, unsigned depth)
{
    char here;
    struct call outer = {next_random(random) % FUNCTIONS + 1, 1, &here, top};
    struct call inner = {next_random(random) % FUNCTIONS + 1, 2, &here, &outer};
    top = &inner;
    if (depth > 0)
        evaluate(random, depth - 1);
    step(random);
    top = &outer;
    outer.line = 3;
    step(random);
    top = outer.outer;
    __asm__ volatile("" ::: "memory");
}

static void *worker(void *number)
{
    unsigned random = (unsigned)(size_t)number * 7919u + 1;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < 30; i++)
            step(&random);
        if (round % 8 == 3) {
            pthread_t thread;
            unsigned seed = random;
            if (pthread_create(&thread, NULL, short_thread, &seed) == 0)
                pthread_join(thread, NULL);
        }
        if (round % 16 == 5)
            modules_changed();
        use_arena(&random);
        evaluate(&random, round % 5);
        use_heap(&random);
    }
    atomic_fetch_sub(&running, 1);
    return NULL;
}

/* Makes requests to the recorder while the workers run. */
static void *controller(void *unused)
{
    (void)unused;
    while (meet && atomic_load(&met) < WORKERS)
        sched_yield();
    for (unsigned turn = 0; atomic_load(&running) > 0; turn++) {
        mprof_mark("turn");
        mprof_pause();
        free(malloc(10));
        mprof_resume();
        mprof_snapshot("turn");
        if (turn < 4)
            mprof_kind_create(mprof_runtime_create("other", &(struct mprof_runtime_calls){0}, NULL),
                              "late");
        if (turn % 50 == 20) {
            while (meet && atomic_load(&named) < FUNCTIONS / 2 && atomic_load(&running) > 0)
                sched_yield();
            mprof_stop();
            mprof_restart(NULL);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[WORKERS + 1];
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    meet = argc > 2;
    static const struct mprof_runtime_calls calls = {frames, name};
    toy = mprof_runtime_create("toy", &calls, NULL);
    for (size_t i = 0; i < 4; i++)
        kinds[i] = mprof_kind_create(toy, "cell");
    atomic_store(&running, WORKERS);
    for (size_t i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, worker, (void *)i) != 0)
            return 1;
    if (pthread_create(&threads[WORKERS], NULL, controller, NULL) != 0)
        return 1;
    for (size_t i = 0; i <= WORKERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < SLOTS; i++)
        free(atomic_load(&slots[i]));
    puts("ran");
    return 0;
}
