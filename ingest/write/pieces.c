/* SPDX-License-Identifier: BSD-2-Clause */
#include "ingest/write/pieces.h"

#include <stdlib.h>
#include <string.h>

/* Returns the id of a piece, which is new or known. 0: memory is exhausted. */
static uint32_t find(struct writer_pieces *pieces, const struct writer_piece *piece)
{
    const uint64_t hash = hash_bytes(hash_seed(), piece, sizeof(*piece));
    uint32_t index;
    for (size_t probe = index_map_begin(&pieces->map, hash);
         (index = index_map_next(&pieces->map, hash, &probe)) != INDEX_NONE;)
        if (memcmp(&pieces->rows[index], piece, sizeof(*piece)) == 0)
            return index + 1;
    if (pieces->count >= UINT32_MAX - 1 ||
        !array_reserve(&pieces->rows, &pieces->capacity, pieces->count + 1,
                       sizeof(*pieces->rows)) ||
        !index_map_insert(&pieces->map, hash, (uint32_t)pieces->count))
        return 0;
    pieces->rows[pieces->count] = *piece;
    return (uint32_t)++pieces->count;
}

bool writer_pieces_cut(struct writer_pieces *pieces, const uint32_t *frames, size_t count,
                       writer_piece_function *put, void *context)
{
    size_t length = count % SESSION_PIECE_FRAMES; /* of the innermost piece */
    if (length == 0)
        length = SESSION_PIECE_FRAMES;
    for (size_t depth = 0; depth < count; depth += length, length = SESSION_PIECE_FRAMES) {
        struct writer_piece piece = {{0}};
        memcpy(piece.frames, frames + depth, length * sizeof(*frames));
        const uint32_t id = find(pieces, &piece);
        if (id == 0 || !put(context, depth, id))
            return false;
    }
    return true;
}

bool writer_pieces_frames(const struct writer_pieces *pieces, size_t first,
                          writer_piece_frame_function *put, void *context)
{
    for (size_t i = first; i < pieces->count; i++) {
        const uint32_t *frames = pieces->rows[i].frames;
        for (uint64_t position = 0; position < SESSION_PIECE_FRAMES && frames[position] != 0;
             position++)
            if (!put(context, i + 1, position, frames[position]))
                return false;
    }
    return true;
}

void writer_pieces_free(struct writer_pieces *pieces)
{
    free(pieces->rows);
    index_map_free(&pieces->map);
    *pieces = (struct writer_pieces){.rows = NULL};
}
