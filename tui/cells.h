/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An in-memory grid of cells: what a screen shows, before any terminal sees it.
 *
 * Coordinates: x counts columns from 0 at the left, y rows from 0 at the top. Everything is
 * drawn through an area, a rectangle of a grid; what falls outside its area is clipped, never
 * an error, so a view may draw without asking whether the terminal is large enough.
 *
 * A glyph is one Unicode code point. A wide glyph takes two cells: the first has width 2, the
 * second width 0. Combining marks and control characters are not stored. A grid made for an
 * ASCII terminal stores the nearest ASCII character instead of any other.
 *
 * Colours are the 256 of xterm; CELL_DEFAULT is the terminal's own. How many colours the
 * terminal can show is kept in the grid, so that views can fall back to patterns.
 */
#ifndef MPROF_TUI_CELLS_H
#define MPROF_TUI_CELLS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CELL_DEFAULT (-1)

enum cell_attribute {
    CELL_BOLD = 1,
    CELL_DIM = 2,
    CELL_REVERSE = 4,
    CELL_UNDERLINE = 8,
};

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

/* NULL where memory is short. `colors` is 256, 16 or 0 (monochrome). */
struct grid *grid_new(int width, int height, int colors, bool ascii);
void grid_free(struct grid *grid);
/* Changes the size and clears; false (and unchanged) where memory is short. */
bool grid_resize(struct grid *grid, int width, int height);
void grid_clear(struct grid *grid);
int grid_width(const struct grid *grid);
int grid_height(const struct grid *grid);
int grid_colors(const struct grid *grid);
bool grid_ascii(const struct grid *grid);
/* The cell at a place inside the grid. */
const struct cell *grid_cell(const struct grid *grid, int x, int y);

/* Writes the rows as UTF-8 lines, spaces at the ends of lines cut. */
void grid_dump_text(const struct grid *grid, FILE *out);
/*
 * Writes one letter a cell for its style, '.' for the default one, in the order in which the
 * styles are met, then a line for each letter that says what it stands for.
 */
void grid_dump_styles(const struct grid *grid, FILE *out);

/* ---- areas ------------------------------------------------------------------------------ */

struct area {
    struct grid *grid;
    int x, y, width, height; /* in the grid; never outside it */
};

struct area area_whole(struct grid *grid);
/* The part of an area at (x, y) relative to it, cut to what lies inside. */
struct area area_part(const struct area *area, int x, int y, int width, int height);

void area_put(const struct area *area, int x, int y, uint32_t glyph, struct cell_style style);
void area_fill(const struct area *area, int x, int y, int width, int height, uint32_t glyph,
               struct cell_style style);
/* Gives what is already there another style, keeping the glyphs. */
void area_restyle(const struct area *area, int x, int y, int width, struct cell_style style);
/* Writes UTF-8 text; malformed bytes show as '?'. Returns the columns it takes, clipped or not. */
int area_text(const struct area *area, int x, int y, struct cell_style style, const char *text);
int area_print(const struct area *area, int x, int y, struct cell_style style, const char *format,
               ...) __attribute__((format(printf, 5, 6)));
/* Writes text into exactly `width` columns: padded by spaces, or cut with an ellipsis. */
void area_field(const struct area *area, int x, int y, int width, struct cell_style style,
                const char *text);
/*
 * The same for the name of a function: one without a symbol ("module+0x4fd0") is cut before
 * its offset, which tells it from the others.
 */
void area_name(const struct area *area, int x, int y, int width, struct cell_style style,
               const char *name);
/*
 * area_name() for a type or another category: what is too long loses scopes in front
 * ("leveldb::(anonymous namespace)::" of a class) before it is cut at the end. Returns the columns
 * that it takes, `width` at most.
 */
int area_category(const struct area *area, int x, int y, int width, struct cell_style style,
                  const char *name);
/* area_field(), flush right. */
void area_field_right(const struct area *area, int x, int y, int width, struct cell_style style,
                      const char *text);

/* ---- text ------------------------------------------------------------------------------- */

/* Decodes one code point at *text and moves past it; '?' for a malformed byte, 0 at the end. */
uint32_t text_next(const char **text);
/* Encodes a code point; `out` holds at least 5 bytes. Returns the length without the NUL. */
int text_encode(uint32_t glyph, char *out);
/* Columns that text takes. */
int text_width(const char *text);
/* Columns that a glyph takes: 0 (not stored), 1 or 2. */
int glyph_width(uint32_t glyph);

#endif
