/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs programs: one chunk at a time, 64 rows in a word. */
#include <string.h>

#include "session/data/session_state.h"
#include "session/filter/program.h"

/* Sets the bits after the chunk's last row to 0. */
static void trim(uint64_t *words, uint32_t rows)
{
    if (rows % 64 != 0)
        words[rows / 64] &= (UINT64_C(1) << (rows % 64)) - 1;
    size_t first = (rows + 63) / 64;
    memset(words + first, 0, (ROW_SET_WORDS - first) * sizeof(*words));
}

static void fill(uint64_t *words, bool value, uint32_t rows)
{
    memset(words, value ? 0xff : 0, ROW_SET_WORDS * sizeof(*words));
    trim(words, rows);
}

/*
 * Evaluates `expression` with `row` from 0 to rows - 1. It does not read beyond the last row.
 */
#define SCAN(words, rows, expression)                                                              \
    do {                                                                                           \
        for (uint32_t first_ = 0; first_ < (rows); first_ += 64) {                                 \
            uint32_t here_ = (rows)-first_ < 64 ? (rows)-first_ : 64;                              \
            uint64_t bits_ = 0;                                                                    \
            for (uint32_t bit_ = 0; bit_ < here_; bit_++) {                                        \
                size_t row = first_ + bit_;                                                        \
                bits_ |= (uint64_t)(expression) << bit_;                                           \
            }                                                                                      \
            (words)[first_ / 64] = bits_;                                                          \
        }                                                                                          \
        trim((words), (rows));                                                                     \
    } while (0)

static bool scan_range(struct session *session, struct column_reader *reader,
                       const struct filter_program *leaf, uint32_t chunk, uint32_t rows,
                       uint64_t *words, struct session_error *error)
{
    uint64_t min = column_store_min(session->columns, chunk, leaf->column);
    uint64_t max = column_store_max(session->columns, chunk, leaf->column);
    if (max < leaf->low || min > leaf->high || (min >= leaf->low && max <= leaf->high)) {
        bool inside = min >= leaf->low && max <= leaf->high;
        fill(words, inside != leaf->outside, rows);
        return true;
    }
    struct column_view view;
    if (!column_reader_get(reader, chunk, leaf->column, &view, error))
        return false;
    uint64_t low = leaf->low;
    uint64_t span = leaf->high - low;
    bool outside = leaf->outside;
    SCAN(words, rows, (column_view_at(&view, row) - low <= span) != outside);
    return true;
}

static bool scan_life(struct session *session, struct column_reader *reader,
                      const struct filter_program *leaf, uint32_t chunk, uint32_t rows,
                      uint64_t *words, struct session_error *error)
{
    struct column_view begin;
    struct column_view life;
    if (!column_reader_get(reader, chunk, COLUMN_ALLOC_NS, &begin, error) ||
        !column_reader_get(reader, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    uint64_t low = leaf->low;
    uint64_t span = leaf->high - low;
    uint64_t end = session->duration_ns;
    bool outside = leaf->outside;
    if (leaf->leaf == LEAF_FREE_TIME) {
        SCAN(words, rows, ({
                 uint64_t life_ns = column_view_at(&life, row);
                 uint64_t freed = column_view_at(&begin, row) + life_ns - 1;
                 (life_ns != 0) & ((freed - low <= span) != outside);
             }));
    } else {
        SCAN(words, rows, ({
                 uint64_t life_ns = column_view_at(&life, row);
                 uint64_t began = column_view_at(&begin, row);
                 uint64_t to_end = end > began ? end - began : 0;
                 uint64_t lifetime = life_ns == 0 ? to_end : life_ns - 1;
                 (lifetime - low <= span) != outside;
             }));
    }
    return true;
}

static bool scan_live_at(struct session *session, struct column_reader *reader, uint64_t ns,
                         uint32_t chunk, uint32_t rows, uint64_t *words,
                         struct session_error *error)
{
    if (column_store_min(session->columns, chunk, COLUMN_ALLOC_NS) > ns) {
        fill(words, false, rows);
        return true;
    }
    struct column_view begin;
    struct column_view life;
    if (!column_reader_get(reader, chunk, COLUMN_ALLOC_NS, &begin, error) ||
        !column_reader_get(reader, chunk, COLUMN_LIFE_NS, &life, error))
        return false;
    /* Live: began, and not freed in the time since. For life 0, life - 1 is the largest number. */
    SCAN(words, rows, ({
             uint64_t began = column_view_at(&begin, row);
             (began <= ns) & (column_view_at(&life, row) - 1 > ns - began);
         }));
    return true;
}

static bool scan_table(struct column_reader *reader, const struct filter_program *leaf,
                       uint32_t chunk, uint32_t rows, uint64_t *words, struct session_error *error)
{
    struct column_view view;
    if (!column_reader_get(reader, chunk, leaf->column, &view, error))
        return false;
    const uint8_t *table = leaf->table;
    SCAN(words, rows, table[column_view_at(&view, row)]);
    return true;
}

static bool scan_leaf(struct session *session, struct column_reader *reader,
                      const struct filter_program *leaf, uint32_t chunk, const uint8_t *colors,
                      uint64_t *words, struct session_error *error)
{
    uint32_t rows = column_store_chunk_rows(session->columns, chunk);
    switch (leaf->leaf) {
    case LEAF_CONSTANT:
        fill(words, leaf->low != 0, rows);
        return true;
    case LEAF_RANGE:
        return scan_range(session, reader, leaf, chunk, rows, words, error);
    case LEAF_FREE_TIME:
    case LEAF_LIFETIME:
        return scan_life(session, reader, leaf, chunk, rows, words, error);
    case LEAF_ID: {
        uint64_t first_id = (uint64_t)chunk * COLUMN_CHUNK_ROWS + 1;
        uint64_t span = leaf->high - leaf->low;
        SCAN(words, rows, (first_id + row - leaf->low <= span) != leaf->outside);
        return true;
    }
    case LEAF_LIVE_AT:
        return scan_live_at(session, reader, leaf->low, chunk, rows, words, error);
    case LEAF_TABLE:
        return scan_table(reader, leaf, chunk, rows, words, error);
    case LEAF_COLOR: {
        if (!colors) {
            fill(words, leaf->table[0] != 0, rows);
            return true;
        }
        const uint8_t *of_row = colors + (size_t)chunk * COLUMN_CHUNK_ROWS;
        SCAN(words, rows, leaf->table[of_row[row]]);
        return true;
    }
    }
    return true;
}

static bool any(const uint64_t *words)
{
    uint64_t all = 0;
    for (size_t i = 0; i < ROW_SET_WORDS; i++)
        all |= words[i];
    return all != 0;
}

bool filter_program_run(struct session *session, struct column_reader *reader,
                        const struct filter_program *program, uint32_t chunk, const uint8_t *colors,
                        uint64_t *words, struct session_error *error)
{
    if (program->kind == PREDICATE_TEST)
        return scan_leaf(session, reader, program, chunk, colors, words, error);
    if (!filter_program_run(session, reader, program->left, chunk, colors, words, error))
        return false;
    if (program->kind == PREDICATE_NOT) {
        for (size_t i = 0; i < ROW_SET_WORDS; i++)
            words[i] = ~words[i];
        trim(words, column_store_chunk_rows(session->columns, chunk));
        return true;
    }
    if (program->kind == PREDICATE_AND && !any(words))
        return true;
    if (!filter_program_run(session, reader, program->right, chunk, colors, program->scratch,
                            error))
        return false;
    for (size_t i = 0; i < ROW_SET_WORDS; i++) {
        if (program->kind == PREDICATE_AND)
            words[i] &= program->scratch[i];
        else
            words[i] |= program->scratch[i];
    }
    return true;
}
