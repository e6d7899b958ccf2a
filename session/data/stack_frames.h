/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the whole table stack_frame: the frames of all stacks, innermost first. Straight from the
 * pages of the file, which takes a twentieth of the time of SELECT.
 */
#ifndef MPROF_SESSION_DATA_STACK_FRAMES_H
#define MPROF_SESSION_DATA_STACK_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Frame ids of stack s: frames[first[s]] to frames[first[s + 1] - 1]. */
struct stack_frames {
    uint64_t *first;  /* by stack, one more than stacks; free() */
    uint32_t *frames; /* free() */
    uint64_t count, capacity;
    uint32_t stacks;
    uint32_t frame_count; /* frame ids from here on become 0 */
    uint32_t next;        /* the first stack whose first frame is not known yet */
    int64_t depth;        /* of the last frame */
    bool by_sqlite;       /* they were not read from the file */
};

/* Makes an empty one. The functions return false if memory is exhausted, or as they say. */
bool stack_frames_begin(struct stack_frames *all, uint32_t stacks, uint32_t frame_count);
/* Adds a frame. They come by stack, then by depth from 0. Also false if one does not. */
bool stack_frames_add(struct stack_frames *all, int64_t stack, int64_t depth, int64_t frame);
void stack_frames_end(struct stack_frames *all);
void stack_frames_free(struct stack_frames *all);

/*
 * Adds all frames from the file, whose table has the root page `root`. Also false if the table
 * cannot be read this way, or `stop` says so, which is asked every millisecond or so. Then `all`
 * holds a part of it.
 */
bool stack_frames_read(struct stack_frames *all, const char *path, uint32_t root,
                       bool (*stop)(const void *context), const void *context);

#endif
