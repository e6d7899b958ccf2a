/* SPDX-License-Identifier: BSD-2-Clause */
/* A grid of cells in memory: the content of a screen, independent of a terminal.
 *
 * Coordinates: x counts columns from 0 at the left, y rows from 0 at the top. Everything is drawn
 * through an area, a rectangle of a grid. Cells outside the area are clipped, which is not an
 * error: a view may draw without asking whether the terminal is large enough.
 *
 * A glyph is one Unicode code point. A wide glyph takes two cells: the first has width 2, the
 * second width 0. Combining marks and control characters are not stored. A grid for an ASCII
 * terminal stores the nearest ASCII character instead of any other.
 *
 * Colours are the 256 of xterm; CELL_DEFAULT is the terminal's own. The grid knows how many colours
 * the terminal can show, so that views can use patterns instead. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CELL_DEFAULT (-1)

enum cell_attribute { CELL_BOLD = 1, CELL_DIM = 2, CELL_REVERSE = 4, CELL_UNDERLINE = 8 };

struct cell_style {
    int16_t foreground, background;
    uint16_t attributes; /* enum cell_attribute, or'ed */
};

struct cell {
    uint32_t glyph;
    struct cell_style style;
    uint8_t width;
};

struct grid;

/* Returns NULL if memory is exhausted. `colors` is 256, 16 or 0 (monochrome). */
struct grid *grid_new(int width, int height, int colors, bool ascii);
void grid_free(struct grid *grid);
/* Changes the size and clears. Returns false if memory is exhausted; the grid is then unchanged. */
bool grid_resize(struct grid *grid, int width, int height);
void grid_clear(struct grid *grid);
int grid_width(const struct grid *grid);
int grid_height(const struct grid *grid);
int grid_colors(const struct grid *grid); /* 0 if they are not allowed */
/* Says if views may use the colours that the terminal has. They may at first. */
void grid_allow_colors(struct grid *grid, bool allowed);
bool grid_ascii(const struct grid *grid);
/* Returns the cell at a position inside the grid. */
const struct cell *grid_cell(const struct grid *grid, int x, int y);

/* Writes the rows as UTF-8 lines without spaces at their ends. */
void grid_dump_text(const struct grid *grid, FILE *out);
/* Writes a picture in SVG: the cells in a fixed font, with their colours on the ground that
 * the theme is for. */
void grid_dump_svg(const struct grid *grid, FILE *out);

/* ---- areas ------------------------------------------------------------------------------ */

struct area {
    struct grid *grid;
    int x, y, width, height; /* in the grid; never outside it */
};

struct area area_whole(struct grid *grid);
/* Returns the part of an area at (x, y) relative to it, cut to the area. */
struct area area_part(const struct area *area, int x, int y, int width, int height);

void area_put(const struct area *area, int x, int y, uint32_t glyph, struct cell_style style);
void area_fill(const struct area *area, int x, int y, int width, int height, uint32_t glyph,
               struct cell_style style);
/* Gives cells another style and keeps their glyphs. */
void area_restyle(const struct area *area, int x, int y, int width, struct cell_style style);
/* Writes UTF-8 text, malformed bytes as '?'. A text that reaches beyond the area ends in an
 * ellipsis after its last whole word. Returns the columns of all of it. */
int area_text(const struct area *area, int x, int y, struct cell_style style, const char *text);
int area_print(const struct area *area, int x, int y, struct cell_style style, const char *format,
               ...) __attribute__((format(printf, 5, 6)));
/* Writes one of several parts of a line whole or, if it does not fit, an ellipsis in place of it.
 * Returns the columns it would take; parts after one that does not fit are not written. */
int area_whole_text(const struct area *area, int x, int y, struct cell_style style,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Writes text into exactly `width` columns: pads it by spaces, or cuts it with an ellipsis. */
void area_field(const struct area *area, int x, int y, int width, struct cell_style style,
                const char *text);
/* Writes text, only its end after an ellipsis if it is wider than `width`. Pads no text that fits.
 */
void area_text_end(const struct area *area, int x, int y, int width, struct cell_style style,
                   const char *text);
/* Does the same for the name of a function, in its short form as it fits (format.h). It cuts a
 * name without a symbol ("module+0x4fd0") before its offset, which tells such names apart. */
void area_name(const struct area *area, int x, int y, int width, struct cell_style style,
               const char *name);
/* Does the same for names with " ← " between them. */
void area_path(const struct area *area, int x, int y, int width, struct cell_style style,
               const char *names);
/* Returns the columns that area_name() needs for all of a name, at most `most`. */
int area_name_width(const char *name, int most);
/* Does the same as area_name() for a type or another category, but pads nothing. Returns the
 * columns that it takes, at most `width`. */
int area_category(const struct area *area, int x, int y, int width, struct cell_style style,
                  const char *name);
/* Does the same as area_field(), flush right. */
void area_field_right(const struct area *area, int x, int y, int width, struct cell_style style,
                      const char *text);

/* ---- text ------------------------------------------------------------------------------- */

/* Decodes one code point at *text and moves past it: '?' for a malformed byte, 0 at the end. */
uint32_t text_next(const char **text);
/* Encodes a code point; `out` holds at least 5 bytes. Returns the length without the NUL. */
int text_encode(uint32_t glyph, char *out);
/* Returns the columns that text takes. */
int text_width(const char *text);
/* Returns a glyph's columns: 0 (not stored, as all that steers a terminal), 1 or 2. */
int glyph_width(uint32_t glyph);
/* Returns true if a glyph could steer a terminal (schemas/printable.h). */
bool glyph_steers(uint32_t glyph);
/* Returns a copy with each byte that is not text or could steer a terminal as \xHH; line ends and
 * tabs stay. The caller frees it. NULL if memory is exhausted. */
char *text_clean_lines(const char *text);
