/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of allocations: one bit for each row (id - 1), and for each row the `color` step that
 * coloured it last. Chunk c has the words [c * ROW_SET_WORDS, (c + 1) * ROW_SET_WORDS). Bits beyond
 * the last row are 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schemas/column_codec.h"
#include "session/session.h"

#define ROW_SET_WORDS (COLUMN_CHUNK_ROWS / 64)

struct column_store;

struct row_set {
    uint64_t *words;
    uint8_t *colors;  /* by row: number of the color step from 1, 0: none; NULL: no row has one */
    uint64_t sort_ns; /* of the fields that pins_find() finds: the time that they are about */
    uint32_t chunks;
    unsigned sort_field; /* a field of the filter language */
    uint32_t sort_frame; /* of the field "frame" */
    bool sort_at_end;    /* sort_ns is that of `live at end` */
    bool sorted;         /* by `sort_field`; otherwise by id */
    bool descending;
};

/* Runs the next statement once for each set bit of a chunk's words. */
/* NOLINTBEGIN(bugprone-macro-parentheses): `row` is declared here */
#define ROW_SET_EACH(words, row)                                                                   \
    for (size_t word_ = 0; word_ < ROW_SET_WORDS; word_++)                                         \
        for (uint64_t bits_ = (words)[word_], row = 0;                                             \
             bits_ != 0 && (row = word_ * 64 + (size_t)__builtin_ctzll(bits_), true);              \
             bits_ &= bits_ - 1)
/* NOLINTEND(bugprone-macro-parentheses) */

enum row_set_operation { ROW_SET_PLUS, ROW_SET_MINUS, ROW_SET_BOTH };

/* Makes an empty set, or one of all rows. Returns false with `error` set if memory is exhausted. */
bool row_set_start(struct row_set *set, const struct column_store *columns, bool all,
                   struct session_error *error);
void row_set_free(struct row_set *set);

static inline uint64_t *row_set_chunk(const struct row_set *set, uint32_t chunk)
{
    return set->words + (size_t)chunk * ROW_SET_WORDS;
}

/* Returns true if a row has its bit in the words, which begin with that of row 0. */
static inline bool row_set_has(const uint64_t *words, uint64_t row)
{
    return (words[row / 64] >> (row % 64) & 1) != 0;
}

/* Clears the bits of a chunk's words that the others do not have. Returns whether any is left. */
static inline bool row_set_keep(uint64_t words[ROW_SET_WORDS], const uint64_t others[ROW_SET_WORDS])
{
    uint64_t any = 0;
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        any |= words[i] &= others[i];
    return any != 0;
}

/* Returns the number of set bits of one chunk. */
uint32_t row_set_chunk_count(const struct row_set *set, uint32_t chunk);
/* Returns true if a chunk has no set bit. */
bool row_set_chunk_empty(const struct row_set *set, uint32_t chunk);

/* Returns how many rows lie before each chunk, then how many there are: chunks + 1 numbers, for
 * free(). NULL with `error` set if memory is exhausted. */
uint64_t *row_set_counts(const struct row_set *set, struct session_error *error);
/* Returns how many rows of the set lie before `row` (id - 1), with what row_set_counts() returned.
 */
uint64_t row_set_rank(const struct row_set *set, const uint64_t *counts, uint64_t row);

/* Allocates the colours. Returns false with `error` set if memory is exhausted. */
bool row_set_color(struct row_set *set, struct session_error *error);

/* Sets `left` to left + right, left - right or left & right. A row of both sets keeps its colour in
 * `left`, if it has one there. The order is by id again. */
bool row_set_combine(struct row_set *left, enum row_set_operation operation,
                     const struct row_set *right, struct session_error *error);
