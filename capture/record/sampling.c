/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/sampling.h"

#include <stdlib.h>

#include "capture/os/clock.h"
#include "capture/os/os.h"

uint64_t sample_mean;
static uint64_t sample_seed; /* 0: threads seed themselves by time and number */

#define LN2_Q32 UINT64_C(0xb17217f8)

/* Steele, Lea and Flood's SplitMix64 (OOPSLA 2014): one addition and a mix of the bits. */
static uint64_t sample_random(struct sample *sample)
{
    uint64_t z = sample->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return z ? z : 1;
}

/* Reads a number from the environment; options.c says why not with strtoul. */
static uint64_t sample_read_seed(void)
{
    const char *text = secure_getenv("MPROF_TEST_SEED");
    uint64_t seed = 0;
    while (text && *text >= '0' && *text <= '9')
        seed = seed * 10 + (uint64_t)(*text++ - '0');
    return seed;
}

void sample_init(uint64_t mean)
{
    sample_mean = mean;
    sample_seed = sample_read_seed();
}

/*
 * Returns the logarithm to base 2 with 32 binary digits after the point. Each step finds one digit:
 * squaring a mantissa in [1, 2) doubles its logarithm. It is slow (a hundred cycles) and rarely
 * needed. It uses no floating point, because the flags of that belong to the program.
 */
static uint64_t sample_log2(uint64_t number)
{
    const unsigned zeros = (unsigned)__builtin_clzl(number);
    uint64_t mantissa = number << zeros, fraction = 0;
    for (unsigned digit = 0; digit < 32; digit++) {
        unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
        uint64_t high = (uint64_t)(square >> 64);
        bool two = high >> 63;
        mantissa = two ? high : (uint64_t)(square >> 63);
        fraction = fraction << 1 | two;
    }
    return (uint64_t)(63 - zeros) << 32 | fraction;
}

uint64_t sample_distance(uint64_t random, uint64_t mean)
{
    uint64_t log2 = (UINT64_C(64) << 32) - sample_log2(random); /* of 2^64 / random */
    return (uint64_t)((unsigned __int128)mean * log2 * LN2_Q32 >> 64);
}

static void set_left(struct sample *sample, uint64_t left)
{
    atomic_store_explicit(&sample->left, left, memory_order_relaxed);
}

bool sample_takes_slow(struct sample *sample, uint64_t size)
{
    if (!sample->random) {
        uint64_t thread = (uint64_t)os_thread_id();
        sample->random = sample_seed ? sample_seed : clock_before() ^ thread << 40;
        set_left(sample, sample_distance(sample_random(sample), sample_mean));
        if (sample_skips(sample, size))
            return false;
    }
    set_left(sample, sample_distance(sample_random(sample), sample_mean));
    return true;
}
