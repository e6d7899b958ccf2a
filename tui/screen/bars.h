/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws numbers as cells: stacked columns, horizontal bars, spark lines. Eighth blocks with
 * foreground and background give eight levels in each row. If more than two layers meet in a cell,
 * it shows the two with the largest shares. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tui/screen/cells.h"

#define BARS_LAYERS 16

struct bar_layer {
    uint64_t value;
    struct cell_style style; /* foreground: the layer's colour */
    uint32_t pattern;        /* the glyph on a terminal without colours */
};

/* Stacks layers from the bottom of column `x` of the area. The whole height represents `scale`.
 * Draws at most BARS_LAYERS. `background` shows above them. */
void bars_column(const struct area *area, int x, const struct bar_layer *layers, size_t count,
                 uint64_t scale, int16_t background);

/* The same from the top of column `x` down. */
void bars_hanging(const struct area *area, int x, const struct bar_layer *layers, size_t count,
                  uint64_t scale);

/* Draws a horizontal bar of `value` out of `scale` in `width` columns of a row. */
void bars_row(const struct area *area, int x, int y, int width, uint64_t value, uint64_t scale,
              struct cell_style style);

/* Writes a spark line: for each value, which the largest one scales, a block of one to eight
 * eighths, and a dot for 0. `size` is 3 bytes for each and 1 at least. */
void bars_spark(char *out, size_t size, const uint64_t *values, size_t count);

/* Return the next round step of an axis not below `value`, or `value` if there is none. Sizes are
 * written in binary units: up to seven steps of a size are round in these, too. */
uint64_t bars_nice_size(uint64_t value);
uint64_t bars_nice_count(uint64_t value);
