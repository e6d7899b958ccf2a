/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/state.h"

#include <time.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/clock.h"
#include "capture/os/os.h"
#include "capture/record/file.h"
#include "capture/record/real.h"

_Static_assert(sizeof(union recorder_page) == ARCH_PAGE_SIZE, "the page is wiped as a whole");

union recorder_page recorder_page __attribute__((aligned(4096)));
struct recorder_inherited recorder_inherited;

_Static_assert(offsetof(union recorder_page, entering) == 64, "what changes lies apart");

/* Gives the entry points the real functions for what a sample skips, or takes them back. Another
 * thread may change the state at the same time: each thread repeats until the state stays. */
static void update_skipped(void)
{
    uint32_t state;
    do {
        state = atomic_load(&recorder_page.state);
        const bool skips = state == RECORDER_RECORDING && real_detours() == REAL_SAMPLED;
        atomic_store(&recorder_page.skipped.malloc, skips ? real.malloc : NULL);
        atomic_store(&recorder_page.skipped.calloc, skips ? real.calloc : NULL);
        atomic_store(&recorder_page.skipped.realloc, skips ? real.realloc : NULL);
        atomic_store(&recorder_page.skipped.free, skips ? real.free : NULL);
    } while (atomic_load(&recorder_page.state) != state);
}

void recorder_set_state(enum recorder_state state)
{
    if (state == RECORDER_OFF || state == RECORDER_STOPPED)
        recorder_inherited.off = true;
    atomic_store(&recorder_page.state, state);
    update_skipped();
}

bool recorder_change_state(uint32_t from, uint32_t to)
{
    const bool changed = atomic_compare_exchange_strong(&recorder_page.state, &from, to);
    if (changed)
        update_skipped();
    return changed;
}

uint32_t recorder_wait_for_rotation(void)
{
    const uint64_t most_ns = UINT64_C(2000000000);
    uint32_t state = atomic_load(&recorder_page.state);
    if (__builtin_expect(state != RECORDER_ROTATING, 1))
        return state;
    const uint64_t begin = clock_nanoseconds(CLOCK_MONOTONIC);
    do {
        os_yield();
        state = atomic_load(&recorder_page.state);
    } while (state == RECORDER_ROTATING && clock_nanoseconds(CLOCK_MONOTONIC) - begin < most_ns);
    return state;
}

bool recorder_can_record(void)
{
    uint32_t state = atomic_load(&recorder_page.state);
    return state != RECORDER_OFF && state != RECORDER_STOPPED;
}

void recorder_sealed(void)
{
    recorder_inherited.halted = true;
    recorder_set_state(RECORDER_OFF);
}

void recorder_out_of_room(uint64_t events)
{
    uint32_t now = atomic_load(&recorder_page.state);
    if ((now == RECORDER_RECORDING || now == RECORDER_PAUSED || now == RECORDER_WAITING) &&
        trace_file_is_stopped())
        recorder_set_state(RECORDER_STOPPED);
    if (now != RECORDER_UNKNOWN && now != RECORDER_OFF)
        trace_file_count_dropped(events);
}

void recorder_stop_for(const char *why)
{
    trace_file_stop(why);
    recorder_out_of_room(0);
}
