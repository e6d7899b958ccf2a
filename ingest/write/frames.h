/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the frames of the stacks of several processes, which become one session, in a separate file
 * until the last process is done: writer_frames_begin(), writer_frames_add(), writer_frames_each(),
 * writer_frames_end().
 */
#ifndef MPROF_INGEST_WRITE_FRAMES_H
#define MPROF_INGEST_WRITE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * Calls `each` for all frames, in the order in which they were added. False if `each` returned
 * false, or with `error` set.
 */
bool writer_frames_each(struct writer_frames *frames,
                        bool (*each)(void *context, uint64_t stack, uint64_t frame), void *context);
void writer_frames_end(struct writer_frames *frames);

#endif
