/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes stack_piece and piece_frame, the frames of all stacks, into the trees of the two tables
 * (btree.h), while SQLite has the file closed. The pages of piece_frame come after the others.
 *
 * Order of calls: writer_frame_tables_open(), writer_frame_tables_add() by ascending stack and
 * then by depth, writer_frame_tables_finish(), and always writer_frame_tables_close(). They return
 * false with the error of the pages set.
 */
#ifndef MPROF_INGEST_WRITE_FRAME_TABLES_H
#define MPROF_INGEST_WRITE_FRAME_TABLES_H

#include "ingest/write/btree.h"
#include "ingest/write/pieces.h"

/* The root pages of the two tables. */
struct writer_frame_roots {
    uint32_t stack_piece, piece_frame;
};

struct writer_frame_tables {
    struct writer_pages *pages;
    struct writer_frame_roots roots;
    struct writer_btree tree; /* of stack_piece */
    struct writer_pieces pieces;
    uint64_t stack; /* the present one, whose frames are not written yet */
    uint32_t *frames;
    size_t count, capacity;
};

/* `pages` must outlive the tables. */
void writer_frame_tables_open(struct writer_frame_tables *tables, struct writer_pages *pages,
                              struct writer_frame_roots roots);
bool writer_frame_tables_add(struct writer_frame_tables *tables, uint64_t stack, uint64_t frame);
bool writer_frame_tables_finish(struct writer_frame_tables *tables);
void writer_frame_tables_close(struct writer_frame_tables *tables);

#endif
