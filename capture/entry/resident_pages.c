/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/entry/resident_pages.h"

#include <sys/syscall.h>

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"

#define ENTRIES 128u /* read at once; they lie on the stack, which may be small */
#define PRESENT (UINT64_C(1) << 63)

static bool count_pages(int file, uint64_t page, uint64_t last, uint64_t *bytes)
{
    uint64_t entries[ENTRIES];
    while (page < last) {
        const uint64_t left = (last - page) / ARCH_PAGE_SIZE;
        const uint64_t count = left < ENTRIES ? left : ENTRIES;
        const long got =
            os_call_retry(SYS_pread64, file, (long)entries, (long)(count * sizeof(*entries)),
                          (long)(page / ARCH_PAGE_SIZE * sizeof(*entries)));
        if (got < (long)sizeof(*entries))
            return false;
        for (uint64_t i = 0; i < (uint64_t)got / sizeof(*entries); i++, page += ARCH_PAGE_SIZE)
            *bytes += entries[i] & PRESENT ? ARCH_PAGE_SIZE : 0;
    }
    return true;
}

bool resident_pages_count(uint64_t address, uint64_t length, uint64_t *bytes)
{
    const uint64_t within = address % ARCH_PAGE_SIZE;
    *bytes = 0;
    if (length > RESIDENT_PAGES_MOST || address > UINT64_MAX - length - ARCH_PAGE_SIZE)
        return false;
    const int file = os_open_read("/proc/thread-self/pagemap");
    if (file < 0)
        return false;
    const uint64_t last = (address + length + ARCH_PAGE_SIZE - 1) & ~(uint64_t)(ARCH_PAGE_SIZE - 1);
    const bool good = count_pages(file, address - within, last, bytes);
    os_close(file);
    return good;
}
