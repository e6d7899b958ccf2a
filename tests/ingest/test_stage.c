/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stages of ingest work beside the thread that fills their batches, in order, with few batches.
 * Sums of a stage are those that one thread counts.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ingest/base/stage.h"
#include "ingest/replay/totals.h"

enum { ROUNDS = 1000 };

struct work {
    uint64_t next, fails_at;
    sem_t begun, filled;
    pthread_t thread;
};

/* Waits for what the other thread does. One minute is for a machine that is busy. */
static bool wait_for(sem_t *semaphore)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    return sem_timedwait(semaphore, &until) == 0;
}

static bool count(void *context, void *batch)
{
    struct work *work = context;
    const uint64_t number = *(uint64_t *)batch;
    return number == work->next++ && number != work->fails_at;
}

/* A batch of one number is worked on when each side has seen the other at work. */
static bool meet(void *context, void *batch)
{
    struct work *work = context;
    work->thread = pthread_self();
    return sem_post(&work->begun) == 0 && wait_for(&work->filled) && count(context, batch);
}

static void test_overlap(void **state)
{
    struct work work = {.fails_at = UINT64_MAX};
    struct stage *stage = stage_new(sizeof(uint64_t), meet, &work);
    uint64_t *batch = stage_exchange(stage, NULL);
    sem_init(&work.begun, 0, 0);
    sem_init(&work.filled, 0, 0);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        *batch = i;
        batch = stage_exchange(stage, batch);
        assert_non_null(batch);
        assert_true(wait_for(&work.begun));
        *batch = UINT64_MAX; /* the stage has not finished the batch before */
        sem_post(&work.filled);
    }
    assert_true(stage_settle(stage));
    assert_int_equal(work.next, ROUNDS);
    assert_false(pthread_equal(work.thread, pthread_self()));
    stage_free(stage);
    sem_destroy(&work.begun);
    sem_destroy(&work.filled);
}

static void test_order(void **state)
{
    struct work work = {.fails_at = UINT64_MAX};
    struct stage *stage = stage_new(sizeof(uint64_t), count, &work);
    void *seen[STAGE_BATCHES] = {NULL};
    uint64_t *batch = stage_exchange(stage, NULL);
    for (uint64_t i = 0; i < 100 * ROUNDS; i++) {
        size_t at = 0;
        assert_non_null(batch);
        while (at < STAGE_BATCHES && seen[at] && seen[at] != batch)
            at++;
        assert_true(at < STAGE_BATCHES);
        seen[at] = batch;
        *batch = i;
        batch = stage_exchange(stage, batch);
    }
    *batch = 100 * ROUNDS;
    assert_true(stage_work_now(stage, batch));
    assert_int_equal(work.next, 100 * ROUNDS + 1);
    stage_free(stage);
}

static void test_failure(void **state)
{
    struct work work = {.fails_at = 30};
    struct stage *stage = stage_new(sizeof(uint64_t), count, &work);
    uint64_t *batch = stage_exchange(stage, NULL), given = 0;
    while (batch) {
        *batch = given++;
        batch = stage_exchange(stage, batch);
    }
    assert_in_range(given, 31, 30 + 1 + STAGE_BATCHES);
    assert_false(stage_settle(stage));
    assert_null(stage_exchange(stage, NULL));
    assert_int_equal(work.next, 31); /* no batch after it */
    stage_free(stage);
}

/* ---- sums ---------------------------------------------------------------------------------- */

enum { BLOCKS = 200, EVENTS = 100000, NS = 1000 };

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*seed >> 33) % below;
}

/* Counts random events, in a stage or not. */
static void count_events(struct totals *totals, bool staged)
{
    static struct totals_block blocks[BLOCKS];
    uint64_t seed = 38, order = 0;
    memset(blocks, 0, sizeof(blocks));
    totals_init(totals, (uint64_t)EVENTS * NS);
    assert_true(totals_sum_slots(totals, (uint64_t)EVENTS * NS, EVENTS));
    assert_true(!staged || totals_begin_stage(totals));
    for (uint64_t i = 0; i < EVENTS; i++) {
        struct totals_block *block = &blocks[draw(&seed, BLOCKS)];
        const uint64_t ns = i * NS, chosen = draw(&seed, 16);
        if (block->address == 0) {
            *block = (struct totals_block){.address = 16 + draw(&seed, UINT64_C(1) << 40),
                                           .size = draw(&seed, 5000),
                                           .order = ++order,
                                           .alloc_ns = ns,
                                           .stack = (uint32_t)draw(&seed, 500),
                                           .function = (uint32_t)draw(&seed, 30),
                                           .type = (uint32_t)draw(&seed, 20),
                                           .of_realloc = chosen == 0};
            assert_true(totals_allocate(totals, block));
        } else if (chosen == 0) {
            const uint32_t type = (uint32_t)draw(&seed, 20);
            assert_true(totals_rename(totals, block, type));
            block->type = type;
        } else if (chosen == 1) {
            assert_true(totals_know_size(totals, draw(&seed, 100000)));
        } else {
            assert_true(totals_free(totals, block, ns, ns - block->alloc_ns, chosen != 2));
            block->address = 0;
        }
    }
    assert_true(totals_finish(totals) && totals_finish_slots(totals));
}

static void check_slots(const struct slot_sums *one, const struct slot_sums *two)
{
    for (enum slot_key key = 0; key < SLOT_KEYS; key++) {
        struct slot_sums_part a, b;
        for (size_t i = 0, k = 0; slot_sums_next(one, key, &i, &a);) {
            assert_true(slot_sums_next(two, key, &k, &b));
            assert_int_equal(k, i);
            assert_int_equal(a.length, b.length);
            assert_memory_equal(a.data, b.data, a.length);
        }
    }
}

static void test_sums(void **state)
{
    static struct totals one, two;
    count_events(&one, false);
    count_events(&two, true);
    assert_int_equal(one.allocations, two.allocations);
    assert_int_equal(one.frees, two.frees);
    assert_true(one.reallocs > 0 && one.frees > 0 && one.frees < one.allocations);
    assert_int_equal(one.reallocs, two.reallocs);
    assert_int_equal(one.bytes, two.bytes);
    assert_int_equal(one.peak_ns, two.peak_ns);
    assert_int_equal(one.peak_bytes, two.peak_bytes);
    assert_int_equal(one.size_count, two.size_count);
    assert_memory_equal(one.sizes, two.sizes, one.size_count * sizeof(*one.sizes));
    assert_memory_equal(one.slots, two.slots, sizeof(one.slots));
    assert_memory_equal(one.stacks.sums, two.stacks.sums, 500 * sizeof(*one.stacks.sums));
    assert_memory_equal(one.stacks.shares, two.stacks.shares, 500 * sizeof(*one.stacks.shares));
    assert_memory_equal(one.functions, two.functions, 30 * sizeof(*one.functions));
    for (size_t type = 0; type < 20; type++) {
        const struct type_usage a = type_usages_of(&one.types, type),
                                b = type_usages_of(&two.types, type);
        assert_int_equal(a.allocations, b.allocations);
        assert_int_equal(a.at_peak_bytes, b.at_peak_bytes);
        assert_int_equal(a.peak_bytes, b.peak_bytes);
    }
    check_slots(one.slot_sums, two.slot_sums);
    totals_free_memory(&one);
    totals_free_memory(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
