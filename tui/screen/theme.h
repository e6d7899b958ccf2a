/* SPDX-License-Identifier: BSD-2-Clause */
/* Themes, and the colours of categories. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/cells.h"

/* ---- themes ------------------------------------------------------------------------------ */

/* The look of the screen: roles and the categories of a colouring, as styles. Views name a role,
 * never a colour number, so a category looks the same in every view of a session.
 *
 * One theme is in use at a time, in the whole program; THEME_DARK at first. */

enum theme_kind {
    THEME_DARK,        /* for a dark ground */
    THEME_LIGHT,       /* for a light one */
    THEME_COLOR_BLIND, /* on a dark ground: no meaning rests on red against green */
    THEME_MONO,        /* no colours, but patterns and attributes */
    THEME_KINDS
};

/* Returns "dark", "light", "colour-blind" or "mono". */
const char *theme_name(enum theme_kind kind);
/* Finds the theme with a name, also "color-blind". Returns false if there is none. */
bool theme_from_name(const char *name, enum theme_kind *kind);
void theme_use(enum theme_kind kind);
enum theme_kind theme_in_use(void);

enum theme_role {
    THEME_PLAIN,
    THEME_TITLE,      /* the title line */
    THEME_TAB,        /* the name of another view */
    THEME_TAB_ACTIVE, /* the name of the current view */
    THEME_HEADING,
    THEME_FAINT, /* units, axes, less important text */
    THEME_STRONG,
    THEME_FILTER, /* the filter line */
    THEME_ERROR,
    THEME_WARNING,
    THEME_GOOD,
    THEME_CURSOR,   /* the selected row or cell */
    THEME_SELECTED, /* selected, but keys go to another part */
    THEME_KEY,      /* a key in footer and help */
    THEME_MATCH,
    THEME_TRANSIENT, /* bytes that were live only inside a slot */
    THEME_FILTERED,  /* memory in use that the filter does not select */
    THEME_SHARE,     /* a bar behind a number */
    THEME_NEAR,      /* behind the cells of the block under the memory's cursor */
    THEME_POINT,     /* behind the memory's cursor */
    THEME_LINE,      /* a line over the colours of categories */
    THEME_PATH,      /* the boxes below a selected one, in the accent */
    THEME_CHOSEN,    /* a selected box, which has no hue, as a cursor */
    THEME_ROLES
};

struct cell_style theme_style(enum theme_role role);

/* The colours that tell categories apart. */
#define THEME_CATEGORIES 10

/* Returns the style of a category by its position in the legend, with its colour as foreground.
 * `fixed` is the colour that a filter gave it, -1: none. `rest` is the position of the last
 * category, which is grey. */
struct cell_style theme_category(const struct grid *grid, size_t position, size_t rest, int fixed);
/* Returns a box's style by its share of the whole, 0 to 1: a warm hue, hotter for more. */
struct cell_style theme_heat(const struct grid *grid, double share);
/* Returns a glyph that tells categories apart without colours. */
uint32_t theme_pattern(size_t position);

/* Returns the colour that the theme assumes for one of the terminal's own, as 0xrrggbb. */
uint32_t theme_paper(void);
uint32_t theme_ink(void);

/* Writes one character for each cell's style: '.' for the plain one, a letter for a role, a digit
 * for the colour of a category, 'r' for that of the rest, other letters for other styles in the
 * order of their first cell. Then writes a line for each character with its meaning. */
void theme_dump(const struct grid *grid, FILE *out);

/* ---- categories -------------------------------------------------------------------------- */

/* Assigns the theme's colours to the categories of a legend. A name has a colour of its own, the
 * same in every session. If two names of a legend have the same one, one of them gets another. A
 * category keeps its first colour, even if a filter removes others or changes their order. */

#define CATEGORY_COLORS_KNOWN 512

/* The colours assigned so far; all zeros: none. When it is full, it forgets the oldest. */
struct category_colors {
    struct {
        uint64_t label; /* hash of colouring and label, 0: empty */
        uint8_t slot;
    } known[CATEGORY_COLORS_KNOWN];
    size_t next;
};

/* Writes the colours, 0 to `slots` - 1, of the first `count` labels of a legend to `assigned`. All
 * differ while `count` <= `slots` <= 64. If two labels had the same colour before, the first one
 * keeps it. `kind` tells colourings apart. */
void category_colors_assign(struct category_colors *colors, unsigned kind,
                            const char *const labels[], size_t count, size_t slots,
                            uint8_t assigned[]);

/* Returns a name's colour: that in a legend of this colouring, otherwise its own. */
size_t category_colors_slot(const struct category_colors *colors, unsigned kind, const char *label,
                            size_t slots);

/* ---- 256 colours ------------------------------------------------------------------------- */

/* The 256 colours of xterm: 16 basic ones, a cube of six levels, and greys. */

/* Returns a colour, 0 to 255, as 0xrrggbb. A user may have changed the first 16. */
uint32_t xterm_color(int color);
/* Returns the nearest of the first `count` colours. */
int xterm_nearest(int color, int count);
