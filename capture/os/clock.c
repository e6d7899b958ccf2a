/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/clock.h"

#include <cpuid.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "capture/os/elf_symbols.h"
#include "capture/os/os.h"

#define PAIR_ATTEMPTS 4
#define PAIR_CLOSE 125u /* ticks: half a microsecond or so */

bool clock_is_tsc;

typedef int clock_function(clockid_t clock, struct timespec *now);

/* The kernel's function in the vDSO. NULL: there is none, or nobody has looked for it yet. */
static _Atomic(clock_function *) vdso_clock;
static _Atomic bool vdso_is_known;

/* Finds it in the image of the vDSO, whose headers lie at its beginning. */
static clock_function *find_vdso_clock(void)
{
    const uint64_t start = getauxval(AT_SYSINFO_EHDR);
    if (!start)
        return NULL;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)start;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(start + header->e_phoff);
    const ElfW(Phdr) *first = NULL, *dynamic = NULL;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && !first)
            first = &segments[i];
        if (segments[i].p_type == PT_DYNAMIC)
            dynamic = &segments[i];
    }
    if (!first || !dynamic)
        return NULL;
    const uint64_t bias = start + first->p_offset - first->p_vaddr;
    return (clock_function *)loaded_symbol(bias, (const ElfW(Dyn) *)(bias + dynamic->p_vaddr),
                                           "__vdso_clock_gettime");
}

uint64_t clock_nanoseconds(clockid_t clock)
{
    struct timespec now = {0, 0};
    if (!atomic_load_explicit(&vdso_is_known, memory_order_acquire)) {
        atomic_store_explicit(&vdso_clock, find_vdso_clock(), memory_order_relaxed);
        atomic_store_explicit(&vdso_is_known, true, memory_order_release);
    }
    clock_function *const by_vdso = atomic_load_explicit(&vdso_clock, memory_order_relaxed);
    if (!by_vdso || by_vdso(clock, &now) != 0)
        os_call(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Returns true if the kernel trusts the TSC. It takes the TSC off this list when it sees it drift
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
