/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much room on the disk a session will take, as far as its traces tell before they are read.
 */
#ifndef MPROF_INGEST_ROOM_H
#define MPROF_INGEST_ROOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ingest/processes.h"

struct room {
    /* Bytes, as a part of the traces suggests: a third more or less. */
    uint64_t needed;
    uint64_t available; /* bytes that a user may still write where the session goes; 0: not known */
};

/* Traces that cannot be read count nothing: whoever reads them says why. */
struct room room_of(const struct trace_list *traces, const char *session);

/* Says it in a line, where it is more than a few megabytes, or, where `only_short`, only if it does
 * not fit. */
void room_say(FILE *out, const struct room *room, const char *session, bool only_short);

#endif
