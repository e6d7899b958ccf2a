/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sampling by bytes, which decides what allocations are recorded.
 *
 * Sample points lie on the bytes that a thread asks for, one after the other, as a Poisson process
 * of one point in `mean` bytes. An allocation is recorded if a point falls into it. That happens
 * with the probability 1 - exp(-size / mean), whatever was allocated before. The distances between
 * points are exponential, and each thread draws its own. Since the exponential distribution has no
 * memory, the next distance starts again after an allocation that was recorded.
 */
#ifndef MPROF_CAPTURE_RECORD_SAMPLING_H
#define MPROF_CAPTURE_RECORD_SAMPLING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The sampling state of one thread. All zero: not begun. */
struct sample {
    _Atomic uint64_t left; /* whole bytes before the next point; only its thread uses it */
    uint64_t random;       /* state of the generator; 0: not seeded */
};

/* Bytes between points on average; 0: everything is recorded. Set once at the start. */
extern uint64_t sample_mean __attribute__((visibility("hidden")));

/* Sets the mean. MPROF_TEST_SEED=N in the environment makes the draws the same in each run. */
void sample_init(uint64_t mean);

/* Returns the whole bytes before the next point, for a uniform `random` that is not 0. That is the
 * floor of the exponential distance -mean * ln(random / 2^64), by integer arithmetic. */
uint64_t sample_distance(uint64_t random, uint64_t mean);

bool sample_takes_slow(struct sample *sample, uint64_t size);

/*
 * Returns true if an allocation of `size` bytes reaches the next point, and moves the point past
 * it. Otherwise, and for 0 bytes, which count as 1, it changes nothing. A signal handler that
 * allocates between the load and the store leaves a distance that is as random as the one it found.
 */
static inline bool sample_skips(struct sample *sample, uint64_t size)
{
    const uint64_t left = atomic_load_explicit(&sample->left, memory_order_relaxed);
    if (__builtin_expect(size - 1 >= left, 0))
        return false;
    atomic_store_explicit(&sample->left, left - size, memory_order_relaxed);
    return true;
}

/* Returns true if an allocation of `size` bytes is recorded. */
static inline bool sample_takes(struct sample *sample, uint64_t size)
{
    size += size == 0;
    return !sample_skips(sample, size) && sample_takes_slow(sample, size);
}

#endif
