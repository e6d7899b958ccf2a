/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers as cells: stacked columns, lines of bars, spark lines. Eighth blocks with foreground
 * and background give eight levels a row. A cell that more than two layers meet in shows the
 * two with the larger share of it.
 */
#ifndef MPROF_TUI_BARS_H
#define MPROF_TUI_BARS_H

#include "tui/cells.h"

#include <stddef.h>
#include <stdint.h>

#define BARS_LAYERS 16

struct bar_layer {
    uint64_t value;
    struct cell_style style; /* foreground: the layer's colour */
    uint32_t pattern;        /* glyph where there is no colour */
};

/*
 * Draws layers upon each other from the bottom of column `x` of the area, the whole height
 * standing for `scale`. At most BARS_LAYERS are drawn. `background` is what shows above.
 */
void bars_column(const struct area *area, int x, const struct bar_layer *layers, size_t count,
                 uint64_t scale, int16_t background);

/* A horizontal bar of `value` out of `scale` in `width` columns of a row. */
void bars_row(const struct area *area, int x, int y, int width, uint64_t value, uint64_t scale,
              struct cell_style style);

/* The next number of the form 1, 2, 5 × 10^n (for sizes: × 1024^n) that is not below `value`. */
uint64_t bars_nice_size(uint64_t value);
uint64_t bars_nice_count(uint64_t value);

#endif
