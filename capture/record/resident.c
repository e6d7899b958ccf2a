/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/record/resident.h"

#include "capture/os/arch_x86_64.h"
#include "capture/os/os.h"

uint64_t resident_bytes(void)
{
    char text[128];
    int descriptor = os_open_read("/proc/thread-self/statm");
    if (descriptor < 0)
        return 0;
    long length = os_read(descriptor, text, sizeof(text) - 1);
    os_close(descriptor);
    text[length > 0 ? length : 0] = 0;
    const char *at = text;
    while (*at && *at != ' ') /* skips the address space; the resident set comes second */
        at++;
    uint64_t pages = 0;
    for (at += *at == ' '; *at >= '0' && *at <= '9'; at++)
        pages = pages * 10 + (uint64_t)(*at - '0');
    return pages * ARCH_PAGE_SIZE;
}
