/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/frame_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "ingest/write/record.h"

void writer_frame_tables_open(struct writer_frame_tables *tables, struct writer_pages *pages,
                              struct writer_frame_roots roots)
{
    *tables = (struct writer_frame_tables){.pages = pages, .roots = roots};
    writer_btree_open(&tables->tree, pages, roots.stack_piece, WRITER_BTREE_INDEX);
}

/* Puts a row of three numbers into one of the trees. */
static bool put_row(struct writer_btree *tree, uint64_t first, uint64_t second, uint64_t third)
{
    uint8_t record[4 + 3 * 8], *end = record + 4;
    record[0] = 4;
    end = writer_put_number(record + 1, end, (int64_t)first);
    end = writer_put_number(record + 2, end, (int64_t)second);
    end = writer_put_number(record + 3, end, (int64_t)third);
    return writer_btree_put_key(tree, record, (size_t)(end - record));
}

static bool put_piece(void *context, uint64_t depth, uint64_t piece)
{
    struct writer_frame_tables *tables = context;
    return put_row(&tables->tree, tables->stack, depth, piece);
}

static bool fail_memory(struct writer_frame_tables *tables)
{
    if (tables->pages->error == 0)
        tables->pages->error = ENOMEM;
    return false;
}

/* Writes the pieces of the present stack. */
static bool end_stack(struct writer_frame_tables *tables)
{
    const bool good =
        writer_pieces_cut(&tables->pieces, tables->frames, tables->count, put_piece, tables);
    tables->count = 0;
    return good || fail_memory(tables);
}

bool writer_frame_tables_add(struct writer_frame_tables *tables, uint64_t stack, uint64_t frame)
{
    if (stack != tables->stack && !end_stack(tables))
        return false;
    tables->stack = stack;
    if (tables->count == tables->capacity &&
        !array_reserve(&tables->frames, &tables->capacity, tables->count + 1,
                       sizeof(*tables->frames)))
        return fail_memory(tables);
    tables->frames[tables->count++] = (uint32_t)frame;
    return true;
}

static bool put_piece_frame(void *tree, uint64_t piece, uint64_t position, uint32_t frame)
{
    return put_row(tree, piece, position, frame);
}

bool writer_frame_tables_finish(struct writer_frame_tables *tables)
{
    struct writer_btree tree;
    if (!end_stack(tables) || !writer_btree_finish(&tables->tree))
        return false;
    writer_btree_open(&tree, tables->pages, tables->roots.piece_frame, WRITER_BTREE_INDEX);
    const bool good = writer_pieces_frames(&tables->pieces, 0, put_piece_frame, &tree) &&
                      writer_btree_finish(&tree);
    writer_btree_close(&tree);
    return good;
}

void writer_frame_tables_close(struct writer_frame_tables *tables)
{
    writer_btree_close(&tables->tree);
    writer_pieces_free(&tables->pieces);
    free(tables->frames);
    *tables = (struct writer_frame_tables){.pages = NULL};
}
