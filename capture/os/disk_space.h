/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The space that must stay free on the disk of a trace (--min-free).
 */
#ifndef MPROF_CAPTURE_OS_DISK_SPACE_H
#define MPROF_CAPTURE_OS_DISK_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* The limit: this many bytes or this part of the whole disk, the smaller one. 0 bytes: none. */
struct disk_space_limit {
    uint64_t bytes;
    uint32_t percent;
};
#define DISK_SPACE_LIMIT_DEFAULT                                                                   \
    {                                                                                              \
        .bytes = UINT64_C(1) << 30, .percent = 5                                                   \
    }

struct disk_space {
    uint64_t available;      /* bytes that a user may still write */
    uint64_t must_stay_free; /* bytes, part of `available` */
};

/* Looks at the disk of an open file. False if there is no limit or the kernel does not answer; then
 * nothing must stay free. */
bool disk_space_look(int descriptor, struct disk_space_limit limit, struct disk_space *space);

#define DISK_SPACE_TEXT 32u
/* Writes the bytes in KiB, MiB, GiB or TiB, rounded down. Returns where the text begins. */
const char *disk_space_text(uint64_t bytes, char text[DISK_SPACE_TEXT]);

#endif
