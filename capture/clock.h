/*
 * The recorder's clock: the invariant TSC in ticks of 16 of its counts (3 to 16 ns), or nanoseconds
 * of CLOCK_MONOTONIC where the processor or the kernel does not vouch for its TSC.
 *
 * Why not finer: reading the TSC alone takes longer than a tick, so the lower bits say nothing and
 * cost half a byte an event. Rounding down keeps what was in order in order; what it makes equal is
 * told apart by readers (trace-format.md, "Time").
 *
 * Why two reads. A free is stamped before the real call with clock_before(), an allocation
 * after it with clock_after(); another thread that is given the freed block must get a later
 * stamp. The stores that hand the block over become visible only after all earlier
 * instructions have retired, the plain RDTSC among them, so clock_before() needs no fence.
 * RDTSC is no memory operation, though: the processor may read it before the loads of the
 * allocator have seen that block come free. RDTSCP waits until all earlier instructions have
 * executed and all earlier loads are done (Intel SDM volume 2B, AMD APM volume 3), and costs less
 * than LFENCE and RDTSC. Hence RDTSCP in clock_after(). Where no other thread records, a block
 * can only be one that this thread freed, and the plain read does.
 */
#ifndef MPROF_CAPTURE_CLOCK_H
#define MPROF_CAPTURE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

struct clock_pair {
    uint64_t ticks;
    uint64_t monotonic_ns;
};

/* Written once by clock_init(), read by every event. */
extern bool clock_is_tsc;

/*
 * Chooses the clock. MPROF_TEST_CLOCK=ns in the environment forces CLOCK_MONOTONIC.
 */
void clock_init(void);

/* Both clocks at one moment. */
struct clock_pair clock_read_pair(void);

static inline uint64_t clock_nanoseconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

enum { CLOCK_TSC_SHIFT = 4 };

/* Where clock_is_tsc. */
static inline uint64_t clock_tsc_before(void)
{
    return __rdtsc() >> CLOCK_TSC_SHIFT;
}

static inline uint64_t clock_tsc_after(void)
{
    unsigned processor;
    return __rdtscp(&processor) >> CLOCK_TSC_SHIFT;
}

static inline uint64_t clock_before(void)
{
    return clock_is_tsc ? clock_tsc_before() : clock_nanoseconds(CLOCK_MONOTONIC);
}

static inline uint64_t clock_after(void)
{
    return clock_is_tsc ? clock_tsc_after() : clock_nanoseconds(CLOCK_MONOTONIC);
}

#endif
