/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a grid as text, for scripts and golden screens. */
#include <string.h>

#include "tui/screen/cells.h"

#define STYLES_MOST 52

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

static bool same_style(struct cell_style a, struct cell_style b)
{
    return a.foreground == b.foreground && a.background == b.background &&
           a.attributes == b.attributes;
}

static void describe_style(char letter, struct cell_style style, FILE *out)
{
    fprintf(out, "%c:", letter);
    if (style.foreground != CELL_DEFAULT)
        fprintf(out, " foreground %d", style.foreground);
    if (style.background != CELL_DEFAULT)
        fprintf(out, " background %d", style.background);
    static const char *const names[] = {"bold", "dim", "reverse", "underline"};
    for (int i = 0; i < 4; i++)
        if (style.attributes & (1 << i))
            fprintf(out, " %s", names[i]);
    fputc('\n', out);
}

void grid_dump_styles(const struct grid *grid, FILE *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct cell_style styles[STYLES_MOST];
    int count = 0;
    const struct cell_style plain = {CELL_DEFAULT, CELL_DEFAULT, 0};
    for (int y = 0; y < grid_height(grid); y++) {
        for (int x = 0; x < grid_width(grid); x++) {
            struct cell_style style = grid_cell(grid, x, y)->style;
            if (same_style(style, plain)) {
                fputc('.', out);
                continue;
            }
            int i = 0;
            while (i < count && !same_style(styles[i], style))
                i++;
            if (i == count && count < STYLES_MOST)
                styles[count++] = style;
            fputc(i < STYLES_MOST ? letters[i] : '*', out);
        }
        fputc('\n', out);
    }
    for (int i = 0; i < count; i++)
        describe_style(letters[i], styles[i], out);
}
