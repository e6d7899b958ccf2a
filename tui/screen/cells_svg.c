/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a grid of cells as a picture. */
#include <inttypes.h>
#include <string.h>

#include "tui/screen/cells.h"
#include "tui/screen/theme.h"
#include "tui/screen/xterm_colors.h"

/* Sizes in the picture's units. */
enum { CELL_WIDTH = 9, CELL_HEIGHT = 18, BASELINE = 14, FONT = 15 };

/* Returns the colour that a picture shows for one of xterm's 256: its blue is hard to read on a
 * dark ground. */
static uint32_t rgb(int color)
{
    enum { BLUE = 4, BRIGHT_BLUE = 12 };
    return color == BLUE ? 0x4a7bd0 : color == BRIGHT_BLUE ? 0x7fa8ff : xterm_color(color);
}

struct look {
    uint32_t ink, paper;
    uint16_t attributes;
};

static struct look look_of(const struct cell *cell)
{
    const struct cell_style *style = &cell->style;
    struct look look = {
        .ink = style->foreground == CELL_DEFAULT ? theme_ink() : rgb(style->foreground & 255),
        .paper = style->background == CELL_DEFAULT ? theme_paper() : rgb(style->background & 255),
        .attributes = style->attributes};
    if (style->attributes & CELL_REVERSE) {
        const uint32_t ink = look.ink;
        look.ink = look.paper;
        look.paper = ink;
    }
    return look;
}

static bool same_look(const struct look *a, const struct look *b)
{
    return a->ink == b->ink && a->paper == b->paper && a->attributes == b->attributes;
}

static void put_glyph(FILE *out, uint32_t glyph)
{
    char encoded[5];
    text_encode(glyph, encoded);
    if (glyph == '<')
        fputs("&lt;", out);
    else if (glyph == '&')
        fputs("&amp;", out);
    else
        fputs(encoded, out);
}

/* Writes the cells from `from` to `to` of a row, which look the same. */
static void put_run(FILE *out, const struct grid *grid, int from, int to, int y,
                    const struct look *look)
{
    bool blank = true;
    for (int x = from; x < to; x++)
        blank = blank && (grid_cell(grid, x, y)->glyph == ' ' || grid_cell(grid, x, y)->glyph == 0);
    const int left = from * CELL_WIDTH, top = y * CELL_HEIGHT, width = (to - from) * CELL_WIDTH;
    if (look->paper != theme_paper())
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06" PRIx32 "\"/>\n",
                left, top, width, CELL_HEIGHT, look->paper);
    if (blank)
        return;
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\" "
            "fill=\"#%06" PRIx32 "\"%s%s%s>",
            left, top + BASELINE, width, look->ink,
            look->attributes & CELL_BOLD ? " font-weight=\"bold\"" : "",
            look->attributes & CELL_DIM ? " opacity=\"0.6\"" : "",
            look->attributes & CELL_UNDERLINE ? " text-decoration=\"underline\"" : "");
    for (int x = from; x < to; x++) {
        const struct cell *cell = grid_cell(grid, x, y);
        if (cell->width > 0)
            put_glyph(out, cell->glyph ? cell->glyph : ' ');
    }
    fputs("</text>\n", out);
}

void grid_dump_svg(const struct grid *grid, FILE *out)
{
    const int width = grid_width(grid), height = grid_height(grid);
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"monospace\" font-size=\"%d\" xml:space=\"preserve\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n",
            width * CELL_WIDTH, height * CELL_HEIGHT, FONT, (unsigned)theme_paper());
    for (int y = 0; y < height; y++) {
        for (int from = 0, to = 0; from < width; from = to) {
            const struct look look = look_of(grid_cell(grid, from, y));
            for (to = from + 1; to < width; to++) {
                const struct look next = look_of(grid_cell(grid, to, y));
                if (!same_look(&look, &next))
                    break;
            }
            put_run(out, grid, from, to, y, &look);
        }
    }
    fputs("</svg>\n", out);
}
