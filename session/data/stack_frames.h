/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the tables piece_frame and stack_piece as a whole: the frames of all stacks, innermost
 * first. Straight from the pages of the file, which takes a small part of the time of SELECT.
 *
 * Most stacks share their outer frames, so pieces are kept as they are stored: a session of
 * 1.5 million stacks takes a quarter of the memory that a list of all frames takes.
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

/*
 * Each piece takes SESSION_PIECE_FRAMES numbers. Frames of a shorter one lie at the end of them.
 * Only the innermost piece of a stack is shorter: a stack that is not so gets pieces of its own.
 */
struct stack_frames {
    uint32_t (*pieces)[SESSION_PIECE_FRAMES]; /* frame ids, innermost first */
    uint8_t *lengths;                         /* by piece */
    uint32_t *places;       /* the pieces of all stacks, innermost first, stack by stack */
    uint32_t *first;        /* by stack, one more than stacks: its first place */
    size_t count, capacity; /* places */
    size_t piece_count, piece_capacity, length_capacity;
    size_t stored; /* pieces that are rows of the file */
    uint32_t stacks;
    uint32_t frame_count; /* frame ids from here on become 0 */
    uint32_t next;        /* the first stack whose first place is not known yet */
    uint64_t depth;       /* frames of the stack before it so far */
    bool by_sqlite;       /* they were not read from the file */
    /* Frames of that stack, if it needs pieces of its own. */
    uint32_t *loose;
    size_t loose_count, loose_capacity;
};

/* Makes an empty one. Returns false if memory is exhausted. */
bool stack_frames_begin(struct stack_frames *all, uint32_t stacks, uint32_t frame_count);
/* Adds a row of piece_frame. They come by piece, then by position. */
bool stack_frames_add(struct stack_frames *all, int64_t piece, int64_t position, int64_t frame);
/* Adds a row of stack_piece. They come by stack, then by depth. */
bool stack_frames_add_piece(struct stack_frames *all, int64_t stack, int64_t depth, int64_t piece);
/* Adds a row of the table stack_frame of earlier sessions instead. They come by stack, then by
 * depth.
 */
bool stack_frames_add_frame(struct stack_frames *all, int64_t stack, int64_t depth, int64_t frame);
/* Returns false if memory is exhausted. */
bool stack_frames_end(struct stack_frames *all);
void stack_frames_free(struct stack_frames *all);

/*
 * After the end, the frames of a stack are at stack_frames_first(), innermost, up to the one before
 * stack_frames_behind(). stack_frames_at() gives the id of one.
 */
static inline uint64_t stack_frames_first(const struct stack_frames *all, uint32_t stack)
{
    const uint64_t place = all->first[stack];
    const unsigned unused = place == all->first[stack + 1]
                                ? 0
                                : SESSION_PIECE_FRAMES - (unsigned)all->lengths[all->places[place]];
    return place * SESSION_PIECE_FRAMES + unused;
}

static inline uint64_t stack_frames_behind(const struct stack_frames *all, uint32_t stack)
{
    return (uint64_t)all->first[stack + 1] * SESSION_PIECE_FRAMES;
}

static inline uint32_t stack_frames_at(const struct stack_frames *all, uint64_t at)
{
    return all->pieces[all->places[at / SESSION_PIECE_FRAMES]][at % SESSION_PIECE_FRAMES];
}

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
