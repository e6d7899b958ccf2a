/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/os/disk_space.h"

#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "capture/os/os.h"

bool disk_space_look(int descriptor, struct disk_space_limit limit, struct disk_space *space)
{
    struct statfs about;
    *space = (struct disk_space){0, 0};
    if (limit.bytes == 0 || os_call(SYS_fstatfs, descriptor, (long)&about, 0, 0, 0, 0) != 0 ||
        about.f_blocks == 0)
        return false;
    const uint64_t block = (uint64_t)(about.f_frsize ? about.f_frsize : about.f_bsize);
    /* Blocks first, since bytes times a hundred may not fit. */
    const uint64_t part = about.f_blocks * limit.percent / 100 * block;
    space->available = about.f_bavail * block;
    space->must_stay_free = part < limit.bytes ? part : limit.bytes;
    return true;
}

const char *disk_space_text(uint64_t bytes, char text[DISK_SPACE_TEXT])
{
    static const char *const units[] = {" KiB", " MiB", " GiB", " TiB"};
    char *end = text + DISK_SPACE_TEXT - sizeof(" KiB");
    uint64_t count = bytes >> 10;
    unsigned unit = 0;
    for (; count >= 10240 && unit < 3; unit++)
        count >>= 10;
    memcpy(end, units[unit], sizeof(" KiB"));
    return os_decimal(end, count);
}
