/* SPDX-License-Identifier: BSD-2-Clause */
/* The set of live blocks: far apart, swept, shared by threads, and in a forked child. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtimes/ecl/blocks.h"

#define MIB ((uintptr_t)1 << 20)

static uintptr_t ended[16];
static _Atomic unsigned ended_count;

static void note_end(uintptr_t address)
{
    const unsigned place = atomic_fetch_add(&ended_count, 1);
    if (place < 16)
        ended[place] = address;
}

static bool all_dead(uintptr_t address)
{
    (void)address;
    return true;
}

static bool odd_dead(uintptr_t address)
{
    return address & 16;
}

static unsigned sweep(bool (*is_dead)(uintptr_t))
{
    atomic_store(&ended_count, 0);
    blocks_sweep(is_dead, note_end);
    return atomic_load(&ended_count);
}

static void adds_and_removes(void **state)
{
    (void)state;
    assert_false(blocks_remove(4096));
    assert_true(blocks_add(4096));
    assert_false(blocks_add(4096));
    assert_false(blocks_remove(4112));
    assert_true(blocks_remove(4096));
    assert_false(blocks_remove(4096));
    assert_int_equal(sweep(all_dead), 0);
}

static void takes_all_addresses_of_programs(void **state)
{
    (void)state;
    const uintptr_t last = ((uintptr_t)1 << 47) - 16;
    assert_true(blocks_add(last));
    assert_false(blocks_add(last + 16));
    assert_false(blocks_remove(last + 16));
    assert_false(blocks_add(UINTPTR_MAX - 15));
    assert_true(blocks_add(64 * MIB - 16));
    assert_true(blocks_add(64 * MIB));
    assert_int_equal(sweep(all_dead), 3);
}

static void sweeps_in_place(void **state)
{
    (void)state;
    for (uintptr_t i = 0; i < 10; i++)
        assert_true(blocks_add(700 * MIB + 16 * i));
    assert_true(blocks_add(701 * MIB));
    assert_int_equal(sweep(odd_dead), 5);
    for (uintptr_t i = 0; i < 5; i++)
        assert_int_equal(ended[i], 700 * MIB + 16 + 32 * i);
    assert_int_equal(sweep(odd_dead), 0);
    assert_true(blocks_add(700 * MIB + 16));
    assert_false(blocks_add(700 * MIB));
    assert_int_equal(sweep(all_dead), 7);
}

static void is_empty_in_a_child(void **state)
{
    int status;
    (void)state;
    assert_true(blocks_add(900 * MIB));
    const pid_t child = fork();
    if (child == 0)
        _exit(!blocks_remove(900 * MIB) && sweep(all_dead) == 0 && blocks_add(900 * MIB) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(blocks_remove(900 * MIB));
}

enum { THREADS = 4, EACH = 20000 };
static pthread_barrier_t barrier;
static _Atomic unsigned swept, running;

static void count_end(uintptr_t address)
{
    (void)address;
    atomic_fetch_add(&swept, 1);
}

/* Adds blocks whose bits lie in the same words as those of the other threads. */
static void *add_between(void *number)
{
    pthread_barrier_wait(&barrier);
    for (uintptr_t i = 0; i < EACH; i++)
        if (!blocks_add(2048 * MIB + 16 * (THREADS * i + (uintptr_t)number)))
            abort();
    atomic_fetch_sub(&running, 1);
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    atomic_store(&running, THREADS);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_between, (void *)i), 0);
    pthread_barrier_wait(&barrier);
    do
        blocks_sweep(all_dead, count_end);
    while (atomic_load(&running) > 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    blocks_sweep(all_dead, count_end);
    assert_int_equal(atomic_load(&swept), THREADS * EACH);
    pthread_barrier_destroy(&barrier);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_and_removes), cmocka_unit_test(takes_all_addresses_of_programs),
        cmocka_unit_test(sweeps_in_place), cmocka_unit_test(is_empty_in_a_child),
        cmocka_unit_test(threads_lose_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
