/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cuts stacks into pieces, which the tables stack_piece and piece_frame hold. Stacks share their
 * outer frames, so a piece of equal frames is stored once.
 *
 * A stack is cut from its outermost frame on. All pieces have SESSION_PIECE_FRAMES frames, but for
 * the innermost one, which may have fewer.
 */
#ifndef MPROF_INGEST_WRITE_PIECES_H
#define MPROF_INGEST_WRITE_PIECES_H

#include "ingest/base/array.h"
#include "schemas/session_ids.h"

struct writer_piece {
    uint32_t frames[SESSION_PIECE_FRAMES]; /* ids, innermost first; 0 after the last one */
};

/* All zero: there are none yet. */
struct writer_pieces {
    struct writer_piece *rows; /* rows[0] has the id 1 */
    size_t count, capacity;
    struct index_map map;
};

/* Receives a row of stack_piece of the stack that is cut. */
typedef bool writer_piece_function(void *context, uint64_t depth, uint64_t piece);

/*
 * Calls `put` for each piece of a stack of `count` frames, innermost first. Frame ids are from 1
 * on. Returns false if memory is exhausted or `put` returned false.
 */
bool writer_pieces_cut(struct writer_pieces *pieces, const uint32_t *frames, size_t count,
                       writer_piece_function *put, void *context);

/* Receives a row of piece_frame. */
typedef bool writer_piece_frame_function(void *context, uint64_t piece, uint64_t position,
                                         uint32_t frame);

/* Calls `put` for each frame of the pieces from rows[first] on. Returns false if it did. */
bool writer_pieces_frames(const struct writer_pieces *pieces, size_t first,
                          writer_piece_frame_function *put, void *context);

void writer_pieces_free(struct writer_pieces *pieces);

#endif
