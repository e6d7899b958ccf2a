/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Estimates the disk space that a session will take, before its traces are read in full.
 */
#ifndef MPROF_INGEST_DISK_SPACE_H
#define MPROF_INGEST_DISK_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ingest/processes.h"

struct disk_space {
    /* Bytes, estimated from a part of the traces: up to a third more or less is possible. */
    uint64_t needed;
    uint64_t available; /* bytes free for users on the session's file system; 0: not known */
};

/* Estimates the space. Traces that cannot be read count as 0 bytes; the ingest tells why. */
struct disk_space disk_space_estimate(const struct trace_list *traces, const char *session);

/* Prints it in one line, if it is more than a few megabytes. With `only_short` it prints only if
 * the session does not fit. */
void disk_space_print(FILE *out, const struct disk_space *space, const char *session,
                      bool only_short);

#endif
