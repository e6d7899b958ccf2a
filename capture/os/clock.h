/* SPDX-License-Identifier: BSD-2-Clause */
/* The recorder's clock: the invariant TSC in ticks of 16 of its counts (3 to 16 ns), or nanoseconds
 * of CLOCK_MONOTONIC if the processor or the kernel does not vouch for the TSC.
 *
 * Finer ticks would say nothing: a read of the TSC takes longer than one tick, and the lower bits
 * would cost half a byte an event. Rounding down keeps the order of events. Readers tell events
 * with equal stamps apart (trace-format.md, "Time").
 *
 * There are two reads because the stamps of a block must be in the order in which it goes from
 * thread to thread. A free is stamped before the real call, an allocation after it. Two hand-overs
 * are possible:
 *
 * - A thread frees a block and another thread gets it. The stores that hand it over become visible
 *   only after all earlier instructions have retired, and the read of the counter is one of them.
 *   The other thread must not read its stamp before its loads have seen the block come free.
 * - A thread publishes a block and another thread frees it. The stamp of the allocation has retired
 *   before the pointer becomes visible. The other thread must not read its stamp before its load
 *   has brought the pointer.
 *
 * In both cases the receiver must wait. RDTSC is not a memory operation and waits for no load:
 * while the load of the pointer misses the cache, the processor may already have read the counter,
 * up to a microsecond too early. RDTSCP waits until all earlier instructions have executed and all
 * earlier loads are done (Intel SDM volume 2B, AMD APM volume 3), and costs less than LFENCE and
 * RDTSC. So if other threads record, all stamps are read by clock_after(). If none does, each block
 * is the thread's own, its stamps are in the order of its instructions, and the plain read is
 * enough. The kernel's CLOCK_MONOTONIC waits like RDTSCP. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct clock_pair {
    uint64_t ticks;
    uint64_t monotonic_ns;
};

/* Written once by clock_init(), read by every event. */
extern bool clock_is_tsc;

/* Chooses the clock. MPROF_TEST_CLOCK=ns in the environment forces CLOCK_MONOTONIC. */
void clock_init(void);

/* Reads both clocks at one moment. */
struct clock_pair clock_read_pair(void);

/* Reads one of the kernel's clocks: by its own function in the vDSO, or by a system call. The C
 * library's function may be replaced by the program. */
uint64_t clock_nanoseconds(clockid_t clock);

enum { CLOCK_TSC_SHIFT = 4 };

/* Read the TSC. Both need clock_is_tsc. <x86intrin.h> would take long to compile. */
static inline uint64_t clock_tsc_before(void)
{
    return __builtin_ia32_rdtsc() >> CLOCK_TSC_SHIFT;
}

static inline uint64_t clock_tsc_after(void)
{
    unsigned processor;
    return __builtin_ia32_rdtscp(&processor) >> CLOCK_TSC_SHIFT;
}

/* Reads the clock for a thread that records alone. */
static inline uint64_t clock_before(void)
{
    return clock_is_tsc ? clock_tsc_before() : clock_nanoseconds(CLOCK_MONOTONIC);
}

/* Reads the clock after all loads of the thread. */
static inline uint64_t clock_after(void)
{
    return clock_is_tsc ? clock_tsc_after() : clock_nanoseconds(CLOCK_MONOTONIC);
}
