/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/clock.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "capture/os/os.h"

#define PAIR_ATTEMPTS 4
#define PAIR_CLOSE 125u /* ticks: half a microsecond or so */

bool clock_is_tsc;

/* Tells whether the kernel trusts the TSC. It takes the TSC off this list when it sees it drift
 * between processors. */
static bool kernel_trusts_tsc(void)
{
    char text[256];
    int descriptor =
        os_open_read("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    if (descriptor < 0)
        return true;
    long length = os_read(descriptor, text, sizeof(text) - 1);
    os_close(descriptor);
    if (length <= 0)
        return true;
    text[length] = 0;
    return strstr(text, "tsc") != NULL;
}

void clock_init(void)
{
    const char *forced = secure_getenv("MPROF_TEST_CLOCK");
    unsigned a, b, c, features, power;
    const unsigned rdtscp = 1u << 27, invariant = 1u << 8;
    clock_is_tsc = !(forced && strcmp(forced, "ns") == 0) &&
                   __get_cpuid(0x80000001, &a, &b, &c, &features) && (features & rdtscp) &&
                   __get_cpuid(0x80000007, &a, &b, &c, &power) && (power & invariant) &&
                   kernel_trusts_tsc();
}

struct clock_pair clock_read_pair(void)
{
    struct clock_pair pair = {0, 0};
    if (!clock_is_tsc) {
        pair.ticks = pair.monotonic_ns = clock_nanoseconds(CLOCK_MONOTONIC);
        return pair;
    }
    /* A thread that was interrupted between the two reads tries again. The closest pair counts. */
    uint64_t closest = UINT64_MAX;
    for (int attempt = 0; attempt < PAIR_ATTEMPTS && closest > PAIR_CLOSE; attempt++) {
        uint64_t before = clock_after();
        uint64_t nanoseconds = clock_nanoseconds(CLOCK_MONOTONIC);
        uint64_t apart = clock_after() - before;
        if (apart < closest) {
            closest = apart;
            pair = (struct clock_pair){before + apart / 2, nanoseconds};
        }
    }
    return pair;
}
