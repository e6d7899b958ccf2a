/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the frames of the stacks of several processes, which become one session, in a separate file
 * until the last process is done: writer_frames_begin(), writer_frames_add(), writer_frames_put(),
 * writer_frames_end().
 */
#ifndef MPROF_INGEST_WRITE_FRAMES_H
#define MPROF_INGEST_WRITE_FRAMES_H

#include "ingest/write/frame_tables.h"

struct writer_frame {
    uint32_t stack, frame;
};

struct writer_frames {
    int descriptor;                    /* of the file, empty at first; owned by the caller */
    uint64_t first_stack, first_frame; /* added to the ids of the session that is read */
    struct writer_frame *waiting;      /* not written yet */
    size_t waiting_count;
    uint64_t written;
    int error; /* errno of the first failure, 0: none */
};

/* Begins with an empty file. False with `error` set. */
bool writer_frames_begin(struct writer_frames *frames, int descriptor);

/* Adds a frame. Frames come by ascending stack and then by depth. False with `error` set. */
bool writer_frames_add(struct writer_frames *frames, uint64_t stack, uint64_t frame);

/*
 * Puts all frames into the two tables of the database file `session`, an open descriptor. Calls
 * `stop` from time to time. False with `error` set, which is EINTR if `stop` returned true.
 */
bool writer_frames_put(struct writer_frames *frames, int session, struct writer_frame_roots roots,
                       bool (*stop)(const void *context), const void *context);
void writer_frames_end(struct writer_frames *frames);

#endif
