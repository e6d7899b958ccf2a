/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much must stay free on the disk that a trace is written to (--min-free).
 */
#ifndef MPROF_CAPTURE_DISK_SPACE_H
#define MPROF_CAPTURE_DISK_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* The smaller one of so many bytes, and so much of the whole disk; 0 bytes: nothing. */
struct disk_space_limit {
    uint64_t bytes;
    uint32_t percent;
};
#define DISK_SPACE_LIMIT_DEFAULT                                                                   \
    {                                                                                              \
        .bytes = UINT64_C(1) << 30, .percent = 5                                                   \
    }

struct disk_space {
    uint64_t available; /* bytes that a user may still write */
    uint64_t kept;      /* of them, bytes that are not to be used */
};

/* Looks at the disk of an open file. False where the kernel does not say; nothing is kept then. */
bool disk_space_look(int descriptor, struct disk_space_limit limit, struct disk_space *space);

#define DISK_SPACE_TEXT 32u
/* The bytes in KiB, MiB or GiB, four digits at most, rounded down. Returns where it begins. */
const char *disk_space_text(uint64_t bytes, char text[DISK_SPACE_TEXT]);

#endif
