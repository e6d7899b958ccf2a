/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tells which frames are the user's own code, by the built-in list (schemas/code/user_code.h).
 */
#ifndef MPROF_INGEST_REPLAY_USER_FRAMES_H
#define MPROF_INGEST_REPLAY_USER_FRAMES_H

#include "ingest/replay/frames.h"
#include "ingest/replay/scan.h"
#include "schemas/code/user_code.h"

/* All-zero is empty. */
struct user_frames {
    uint8_t *classes; /* by function row: enum user_code_class + 1, 0: not known yet */
    size_t capacity;
};

void user_frames_free(struct user_frames *user);

/* Makes room for the functions that `frames` has. False if memory is exhausted. */
bool user_frames_extend(struct user_frames *user, const struct frames *frames);

/* Returns the class of a row of functions for which there is room. */
enum user_code_class user_frames_class(struct user_frames *user, const struct frames *frames,
                                       const struct trace_scan *scan, uint32_t function);

#endif
