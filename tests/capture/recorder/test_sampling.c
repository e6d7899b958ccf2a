/* SPDX-License-Identifier: BSD-2-Clause */
/* Sampling by bytes: the draws, and the table of taken blocks. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture/os/options.h"
#include "capture/record/sampling.h"

static void distance_is_that_of_the_logarithm(void **unused)
{
    uint64_t random = 1;
    for (int i = 0; i < 10000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double exact = -524288.0 * log((double)random / 18446744073709551616.0);
        assert_true(fabs((double)sample_distance(random, 524288) - exact) < 1.01);
    }
    assert_int_equal(sample_distance(UINT64_MAX, 524288), 0);
    /* The furthest point possible is 64 ln 2 times the mean. */
    assert_true(fabs((double)sample_distance(1, OPTIONS_SAMPLE_MAX) / (double)OPTIONS_SAMPLE_MAX -
                     64 * log(2)) < 1e-6);
}

/* Returns how often blocks of one size are taken, in standard deviations from the expected value
 * 1 - exp(-size / mean). */
static double deviation(uint64_t size, uint64_t mean, int count)
{
    struct sample sample = {0};
    int taken = 0;
    setenv("MPROF_TEST_SEED", "7", 1);
    sample_init(mean);
    for (int i = 0; i < count; i++)
        taken += sample_takes(&sample, size);
    double p = -expm1(-(double)(size ? size : 1) / (double)mean);
    return (taken - count * p) / sqrt(count * p * (1 - p));
}

static void takes_as_often_as_it_says(void **unused)
{
    assert_true(fabs(deviation(1, 64, 1000000)) < 4);
    assert_true(fabs(deviation(0, 64, 1000000)) < 4);
    assert_true(fabs(deviation(16, 512, 1000000)) < 4);
    assert_true(fabs(deviation(512, 512, 1000000)) < 4);
    assert_true(fabs(deviation(2000, 512, 1000000)) < 4);
    assert_true(fabs(deviation(1, 1, 1000000)) < 4);
}

static void threads_do_not_draw_alike(void **unused)
{
    struct sample one = {0}, other = {0};
    unsetenv("MPROF_TEST_SEED");
    sample_init(1000);
    sample_takes(&one, 1);
    sample_takes(&other, 1);
    assert_true(one.random != other.random);
}

static void knows_its_blocks(void **unused)
{
    sampled_blocks_reset();
    for (uint64_t address = 0x10000; address < 0x10000 + 16 * 100000; address += 32)
        assert_true(sampled_blocks_add(address));
    for (uint64_t address = 0x10000; address < 0x10000 + 16 * 100000; address += 16) {
        assert_int_equal(sampled_blocks_has(address), address % 32 == 0);
        assert_int_equal(sampled_blocks_remove(address), address % 32 == 0);
        assert_false(sampled_blocks_remove(address));
    }
    /* A block that is added twice is removed once. */
    assert_true(sampled_blocks_add(64));
    assert_true(sampled_blocks_add(64));
    assert_true(sampled_blocks_remove(64));
    assert_false(sampled_blocks_has(64));
    assert_true(sampled_blocks_add(64));
    sampled_blocks_reset();
    assert_false(sampled_blocks_remove(64));
}

/* A full table refuses blocks and still knows those that it has, even under full counters. */
static void is_bounded(void **unused)
{
    uint64_t taken = 0, refused = 0, wrong = 0;
    const uint64_t end = 16 * (SAMPLED_BLOCKS_SLOTS + 100000);
    sampled_blocks_reset();
    uint8_t *in = calloc(end / 16, 1);
    for (uint64_t address = 16; address < end; address += 16) {
        in[address / 16] = sampled_blocks_add(address);
        taken += in[address / 16];
        refused += !in[address / 16];
    }
    assert_true(refused >= 100000 - 1);
    assert_true(taken > SAMPLED_BLOCKS_SLOTS / 10 * 9);
    for (uint64_t address = 16; address < end; address += 16)
        wrong += sampled_blocks_remove(address) != in[address / 16];
    assert_int_equal(wrong, 0);
    free(in);
    sampled_blocks_reset();
}

#define PER_THREAD 20000u

/* Each thread has its own addresses, which share buckets and counters with those of others. */
static void *add_and_remove(void *argument)
{
    const uint64_t first = (uint64_t)(uintptr_t)argument * 16;
    for (unsigned round = 0; round < 20; round++) {
        for (uint64_t i = 0; i < PER_THREAD; i++)
            if (!sampled_blocks_add(first + i * 64))
                return "refused";
        for (uint64_t i = 0; i < PER_THREAD; i++)
            if (!sampled_blocks_remove(first + i * 64))
                return "lost";
    }
    return NULL;
}

static void threads_share_it(void **unused)
{
    pthread_t threads[4];
    sampled_blocks_reset();
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_and_remove, (void *)(i + 1)), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    for (unsigned i = 0; i < SAMPLED_BLOCKS_FILTER; i++)
        assert_true(sampled_blocks_filter[i] == 0 || sampled_blocks_filter[i] == 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_is_that_of_the_logarithm),
        cmocka_unit_test(takes_as_often_as_it_says),
        cmocka_unit_test(threads_do_not_draw_alike),
        cmocka_unit_test(knows_its_blocks),
        cmocka_unit_test(is_bounded),
        cmocka_unit_test(threads_share_it),
    };
    if (!sampled_blocks_init())
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
