/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a grid as text, for scripts and golden screens. */
#include "tui/screen/cells.h"

void grid_dump_text(const struct grid *grid, FILE *out)
{
    for (int y = 0; y < grid_height(grid); y++) {
        int end = grid_width(grid);
        while (end > 0 && grid_cell(grid, end - 1, y)->glyph == ' ')
            end--;
        for (int x = 0; x < end; x++) {
            const struct cell *cell = grid_cell(grid, x, y);
            char text[5];
            if (cell->width == 0)
                continue;
            text_encode(cell->glyph, text);
            fputs(text, out);
        }
        fputc('\n', out);
    }
}
