/* SPDX-License-Identifier: BSD-2-Clause */
/* The inner loops of scans. They are compiled with -O3 and, for x86-64, a second time for AVX2:
 * each call takes what the processor has. Callers pass whole chunks, or batches of KERNEL_ROWS
 * rows.
 *
 * Bitmaps have the form of a row_set: a chunk has ROW_SET_WORDS words, bits beyond its last row are
 * 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/store/column_store.h"

#define KERNEL_ROWS 1024
#define KERNEL_WORDS (KERNEL_ROWS / 64)
#define KERNEL_BATCHES (COLUMN_CHUNK_ROWS / KERNEL_ROWS)

/* Numbers between two bounds, both included; `outside`: all others. */
struct kernel_range {
    uint64_t low, high;
    bool outside;
};

/* ---- tests: one bit for each row of a chunk ---- */

void kernel_in_range(const struct column_view *view, const struct kernel_range *range,
                     uint64_t *words);
/* Tests free times. `life` is 0 for a block that was never freed: no range has it. */
void kernel_freed_in_range(const struct column_view *begin, const struct column_view *life,
                           const struct kernel_range *range, uint64_t *words);
/* Tests lifetimes. That of a block that was never freed lasts until `end`. */
void kernel_lifetime_in_range(const struct column_view *begin, const struct column_view *life,
                              uint64_t end, const struct kernel_range *range, uint64_t *words);
/* Returns true if a block is live at `ns`. Life 0 is never freed: life - 1 is the largest. */
static inline bool kernel_is_live(uint64_t began, uint64_t life, uint64_t ns)
{
    return began <= ns && life - 1 > ns - began;
}
/* Tells which blocks are live at `ns`: began at or before it, and freed after it or never. */
void kernel_live_at(const struct column_view *begin, const struct column_view *life, uint64_t ns,
                    uint64_t *words);
/* Tests table[value]; the table holds 0 and 1 up to the view's max. */
void kernel_in_table(const struct column_view *view, const uint8_t *table, uint64_t *words);

/* ---- values of selected rows ---- */

/* Some rows of a batch of a chunk. */
struct kernel_rows {
    size_t first; /* the row where the batch begins */
    size_t count;
    uint16_t row[KERNEL_ROWS]; /* from `first`, ascending */
};

/* Lists the set bits of the batch number `batch` of a chunk's words. Returns their number. */
size_t kernel_list(const uint64_t *words, size_t batch, struct kernel_rows *rows);
/* Stores the values of these rows, one after another. */
void kernel_take(const struct column_view *view, const struct kernel_rows *rows, uint64_t *values);

/* Calls the next statement for each batch that has selected rows. */
#define KERNEL_EACH_BATCH(words, rows)                                                             \
    for (size_t batch_ = 0; batch_ < KERNEL_BATCHES; batch_++)                                     \
        if (kernel_list((words), batch_, (rows)) != 0)

/* Return the sum of values, and the sum of those whose key is 0 (`values` NULL: their number). */
uint64_t kernel_sum(const uint64_t *values, size_t count);
uint64_t kernel_sum_of_zero(const uint64_t *values, const uint64_t *keys, size_t count);

/* Returns the sum of the values of a chunk's selected rows. */
uint64_t kernel_sum_selected(const struct column_view *view, const uint64_t *words);

/* Returns the number of set bits of `count` words. */
uint64_t kernel_count(const uint64_t *words, size_t count);
