/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the tables piece_frame and stack_piece as a whole: the frames of all stacks, innermost
 * first. Straight from the pages of the file, which takes a small part of the time of SELECT.
 *
 * Order of calls: stack_frames_begin(), all rows of piece_frame, all of stack_piece,
 * stack_frames_end(). A function that adds a row returns false if memory is exhausted, or if the
 * row does not fit those before it: pieces are dense from 1 and have SESSION_PIECE_FRAMES frames at
 * most, the pieces of a stack follow each other without a gap, and each exists. So no stack can
 * have more frames than its rows explain.
 */
#ifndef MPROF_SESSION_DATA_STACK_FRAMES_H
#define MPROF_SESSION_DATA_STACK_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/session_ids.h"

/* Frame ids of stack s: frames[first[s]] to frames[first[s + 1] - 1]. */
struct stack_frames {
    uint64_t *first;  /* by stack, one more than stacks; free() */
    uint32_t *frames; /* free() */
    size_t count, capacity;
    uint32_t stacks;
    uint32_t frame_count; /* frame ids from here on become 0 */
    uint32_t next;        /* the first stack whose first frame is not known yet */
    bool by_sqlite;       /* they were not read from the file */
    struct stack_frames_piece {
        uint32_t frames[SESSION_PIECE_FRAMES], count;
    } * pieces; /* by id - 1, until stack_frames_end() */
    uint32_t piece_count;
    size_t piece_capacity;
};

/* Makes an empty one. Returns false if memory is exhausted. */
bool stack_frames_begin(struct stack_frames *all, uint32_t stacks, uint32_t frame_count);
/* Adds a row of piece_frame. They come by piece, then by position. */
bool stack_frames_add(struct stack_frames *all, int64_t piece, int64_t position, int64_t frame);
/* Adds a row of stack_piece. They come by stack, then by depth. */
bool stack_frames_add_piece(struct stack_frames *all, int64_t stack, int64_t depth, int64_t piece);
void stack_frames_end(struct stack_frames *all);
void stack_frames_free(struct stack_frames *all);

/* The root pages of the two tables. */
struct stack_frames_roots {
    uint32_t piece_frame, stack_piece;
};

/*
 * Adds all rows of both tables from the file. Also false if a table cannot be read this way, or
 * `stop` says so, which is asked every millisecond or so. Then `all` holds a part of it.
 */
bool stack_frames_read(struct stack_frames *all, const char *path, struct stack_frames_roots roots,
                       bool (*stop)(const void *context), const void *context);

#endif
