/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/store/row_set.h"

#include <stdlib.h>
#include <string.h>

#include "session/store/column_store.h"
#include "session/store/error.h"

bool row_set_start(struct row_set *set, const struct column_store *columns, bool all,
                   struct session_error *error)
{
    *set = (struct row_set){.chunks = column_store_chunks(columns)};
    if (!(set->words = calloc((size_t)set->chunks * ROW_SET_WORDS + 1, sizeof(*set->words))))
        return session_fail_memory(error, "a set of allocations");
    for (uint32_t chunk = 0; all && chunk < set->chunks; chunk++) {
        uint64_t *words = row_set_chunk(set, chunk);
        uint32_t rows = column_store_chunk_rows(columns, chunk);
        memset(words, 0xff, rows / 64 * sizeof(*words));
        if (rows % 64 != 0)
            words[rows / 64] = (UINT64_C(1) << (rows % 64)) - 1;
    }
    return true;
}

void row_set_free(struct row_set *set)
{
    free(set->words);
    free(set->colors);
    *set = (struct row_set){.words = NULL};
}

uint32_t row_set_chunk_count(const struct row_set *set, uint32_t chunk)
{
    const uint64_t *words = row_set_chunk(set, chunk);
    uint32_t count = 0;
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(words[i]);
    return count;
}

bool row_set_chunk_empty(const struct row_set *set, uint32_t chunk)
{
    const uint64_t *words = row_set_chunk(set, chunk);
    size_t i = 0;
    while (i < ROW_SET_WORDS && words[i] == 0)
        i++;
    return i == ROW_SET_WORDS;
}

uint64_t *row_set_counts(const struct row_set *set, struct session_error *error)
{
    uint64_t *counts = calloc((size_t)set->chunks + 1, sizeof(*counts));
    if (!counts)
        return session_fail_memory_null(error, "a selection");
    for (uint32_t chunk = 0; chunk < set->chunks; chunk++)
        counts[chunk + 1] = counts[chunk] + row_set_chunk_count(set, chunk);
    return counts;
}

uint64_t row_set_rank(const struct row_set *set, const uint64_t *counts, uint64_t row)
{
    const uint64_t chunk = row / COLUMN_CHUNK_ROWS;
    uint64_t rank = counts[chunk];
    for (uint64_t word = chunk * ROW_SET_WORDS; word < row / 64; word++)
        rank += (uint64_t)__builtin_popcountll(set->words[word]);
    if (row % 64 != 0)
        rank +=
            (uint64_t)__builtin_popcountll(set->words[row / 64] & ((UINT64_C(1) << row % 64) - 1));
    return rank;
}

bool row_set_color(struct row_set *set, struct session_error *error)
{
    if (!set->colors)
        set->colors = calloc((size_t)set->chunks * COLUMN_CHUNK_ROWS + 1, 1);
    return set->colors || session_fail_memory(error, "the colours of a set");
}

/* Gives the rows of one chunk of `right` their colours in `left`. A row that was in `left` before
 * and has left it still has its colour there, which no longer counts. */
static void combine_colors(struct row_set *left, const struct row_set *right, uint32_t chunk)
{
    const uint64_t *words = row_set_chunk(left, chunk);
    uint8_t *colors = left->colors + (size_t)chunk * COLUMN_CHUNK_ROWS;
    const uint8_t *others =
        right->colors ? right->colors + (size_t)chunk * COLUMN_CHUNK_ROWS : NULL;
    ROW_SET_EACH(row_set_chunk(right, chunk), row)
    {
        if (!row_set_has(words, row) || colors[row] == 0)
            colors[row] = others ? others[row] : 0;
    }
}

bool row_set_combine(struct row_set *left, enum row_set_operation operation,
                     const struct row_set *right, struct session_error *error)
{
    if ((left->colors || right->colors) && operation != ROW_SET_MINUS) {
        if (!row_set_color(left, error))
            return false;
        for (uint32_t chunk = 0; chunk < left->chunks; chunk++)
            combine_colors(left, right, chunk);
    }
    for (size_t i = 0; i < (size_t)left->chunks * ROW_SET_WORDS; i++)
        if (operation == ROW_SET_PLUS)
            left->words[i] |= right->words[i];
        else if (operation == ROW_SET_MINUS)
            left->words[i] &= ~right->words[i];
        else
            left->words[i] &= right->words[i];
    left->sorted = false;
    return true;
}
