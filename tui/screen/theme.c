/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/theme.h"

#include <string.h>

#define NONE CELL_DEFAULT
#define GREY 245 /* on any ground */

static const char *const names[THEME_KINDS] = {
    [THEME_DARK] = "dark",
    [THEME_LIGHT] = "light",
    [THEME_COLOR_BLIND] = "colour-blind",
    [THEME_MONO] = "mono",
};

static enum theme_kind in_use = THEME_DARK;

static const struct cell_style dark[THEME_ROLES] = {
    [THEME_PLAIN] = {NONE, NONE, 0},
    [THEME_TITLE] = {NONE, NONE, CELL_BOLD},
    [THEME_TAB] = {NONE, NONE, CELL_DIM},
    [THEME_TAB_ACTIVE] = {NONE, NONE, CELL_BOLD | CELL_REVERSE},
    [THEME_HEADING] = {74, NONE, CELL_BOLD},
    [THEME_FAINT] = {GREY, NONE, 0},
    [THEME_STRONG] = {NONE, NONE, CELL_BOLD},
    [THEME_FILTER] = {36, NONE, 0},
    [THEME_ERROR] = {167, NONE, CELL_BOLD | CELL_UNDERLINE},
    [THEME_WARNING] = {172, NONE, CELL_BOLD},
    [THEME_GOOD] = {36, NONE, 0},
    [THEME_CURSOR] = {NONE, NONE, CELL_REVERSE},
    [THEME_SELECTED] = {NONE, 238, CELL_UNDERLINE},
    [THEME_KEY] = {74, NONE, CELL_BOLD},
    [THEME_MATCH] = {172, NONE, CELL_BOLD},
    [THEME_TRANSIENT] = {240, NONE, 0},
    [THEME_FILTERED] = {240, NONE, CELL_DIM},
    [THEME_SHARE] = {NONE, 237, 0},
    [THEME_NEAR] = {NONE, 238, 0},
    [THEME_POINT] = {NONE, 15, 0},
};

static const struct cell_style light[THEME_ROLES] = {
    [THEME_PLAIN] = {NONE, NONE, 0},
    [THEME_TITLE] = {NONE, NONE, CELL_BOLD},
    [THEME_TAB] = {242, NONE, 0},
    [THEME_TAB_ACTIVE] = {NONE, NONE, CELL_BOLD | CELL_REVERSE},
    [THEME_HEADING] = {25, NONE, CELL_BOLD},
    [THEME_FAINT] = {242, NONE, 0},
    [THEME_STRONG] = {NONE, NONE, CELL_BOLD},
    [THEME_FILTER] = {23, NONE, 0},
    [THEME_ERROR] = {124, NONE, CELL_BOLD | CELL_UNDERLINE},
    [THEME_WARNING] = {130, NONE, CELL_BOLD},
    [THEME_GOOD] = {22, NONE, 0},
    [THEME_CURSOR] = {NONE, NONE, CELL_REVERSE},
    [THEME_SELECTED] = {NONE, 253, CELL_UNDERLINE},
    [THEME_KEY] = {25, NONE, CELL_BOLD},
    [THEME_MATCH] = {130, NONE, CELL_BOLD},
    [THEME_TRANSIENT] = {247, NONE, 0},
    [THEME_FILTERED] = {247, NONE, 0},
    [THEME_SHARE] = {NONE, 254, 0},
    [THEME_NEAR] = {NONE, 252, 0},
    [THEME_POINT] = {NONE, 254, 0},
};

/* Good is blue and a warning yellow; an error is underlined as well. */
static const struct cell_style color_blind[THEME_ROLES] = {
    [THEME_PLAIN] = {NONE, NONE, 0},
    [THEME_TITLE] = {NONE, NONE, CELL_BOLD},
    [THEME_TAB] = {NONE, NONE, CELL_DIM},
    [THEME_TAB_ACTIVE] = {NONE, NONE, CELL_BOLD | CELL_REVERSE},
    [THEME_HEADING] = {75, NONE, CELL_BOLD},
    [THEME_FAINT] = {GREY, NONE, 0},
    [THEME_STRONG] = {NONE, NONE, CELL_BOLD},
    [THEME_FILTER] = {117, NONE, 0},
    [THEME_ERROR] = {208, NONE, CELL_BOLD | CELL_UNDERLINE},
    [THEME_WARNING] = {220, NONE, CELL_BOLD},
    [THEME_GOOD] = {39, NONE, 0},
    [THEME_CURSOR] = {NONE, NONE, CELL_REVERSE},
    [THEME_SELECTED] = {NONE, 238, CELL_UNDERLINE},
    [THEME_KEY] = {75, NONE, CELL_BOLD},
    [THEME_MATCH] = {220, NONE, CELL_BOLD},
    [THEME_TRANSIENT] = {240, NONE, 0},
    [THEME_FILTERED] = {240, NONE, CELL_DIM},
    [THEME_SHARE] = {NONE, 237, 0},
    [THEME_NEAR] = {NONE, 238, 0},
    [THEME_POINT] = {NONE, 15, 0},
};

static const struct cell_style mono[THEME_ROLES] = {
    [THEME_PLAIN] = {NONE, NONE, 0},
    [THEME_TITLE] = {NONE, NONE, CELL_BOLD},
    [THEME_TAB] = {NONE, NONE, CELL_DIM},
    [THEME_TAB_ACTIVE] = {NONE, NONE, CELL_BOLD | CELL_REVERSE},
    [THEME_HEADING] = {NONE, NONE, CELL_BOLD},
    [THEME_FAINT] = {NONE, NONE, CELL_DIM},
    [THEME_STRONG] = {NONE, NONE, CELL_BOLD},
    [THEME_FILTER] = {NONE, NONE, 0},
    [THEME_ERROR] = {NONE, NONE, CELL_BOLD | CELL_UNDERLINE},
    [THEME_WARNING] = {NONE, NONE, CELL_BOLD},
    [THEME_GOOD] = {NONE, NONE, 0},
    [THEME_CURSOR] = {NONE, NONE, CELL_REVERSE},
    [THEME_SELECTED] = {NONE, NONE, CELL_UNDERLINE},
    [THEME_KEY] = {NONE, NONE, CELL_BOLD},
    [THEME_MATCH] = {NONE, NONE, CELL_BOLD | CELL_UNDERLINE},
    [THEME_TRANSIENT] = {NONE, NONE, CELL_DIM},
    [THEME_FILTERED] = {NONE, NONE, CELL_DIM},
    [THEME_SHARE] = {NONE, NONE, CELL_UNDERLINE},
    [THEME_NEAR] = {NONE, NONE, 0},
    [THEME_POINT] = {NONE, NONE, CELL_REVERSE},
};

static const struct cell_style *const styles[THEME_KINDS] = {
    [THEME_DARK] = dark,
    [THEME_LIGHT] = light,
    [THEME_COLOR_BLIND] = color_blind,
    [THEME_MONO] = mono,
};

/*
 * The colours of categories. Each set was chosen from xterm's colours so that its least distance in
 * Oklab (Ottosson, 2020) is as large as possible, with a contrast of at least 3 to the ground. For
 * the colour-blind theme the distance is the least of four: as seen by all, and without one of the
 * three kinds of cones, after Machado, Oliveira and Fernandes (2009).
 */
static const int16_t colors_256[THEME_KINDS][THEME_CATEGORIES] = {
    [THEME_DARK] = {39, 220, 77, 205, 208, 183, 51, 98, 231, 28},
    [THEME_LIGHT] = {26, 202, 28, 91, 124, 105, 23, 169, 19, 52},
    [THEME_COLOR_BLIND] = {33, 214, 79, 189, 166, 120, 61, 231, 147, 95},
};
static const int16_t colors_16[THEME_KINDS][THEME_CATEGORIES] = {
    [THEME_DARK] = {6, 3, 2, 5, 11, 4, 1, 13, 10, 9},
    [THEME_LIGHT] = {4, 1, 2, 5, 6, 12, 9, 13, 3, 0},
    [THEME_COLOR_BLIND] = {12, 11, 6, 5, 15, 4, 9, 14, 3, 13},
};

const char *theme_name(enum theme_kind kind)
{
    return names[kind];
}

bool theme_from_name(const char *name, enum theme_kind *kind)
{
    if (strcmp(name, "color-blind") == 0)
        name = names[THEME_COLOR_BLIND];
    for (int i = 0; i < THEME_KINDS; i++) {
        if (strcmp(names[i], name) == 0) {
            *kind = (enum theme_kind)i;
            return true;
        }
    }
    return false;
}

void theme_use(enum theme_kind kind)
{
    in_use = kind;
}

enum theme_kind theme_in_use(void)
{
    return in_use;
}

struct cell_style theme_style(enum theme_role role)
{
    return styles[in_use][role < THEME_ROLES ? role : THEME_PLAIN];
}

struct cell_style theme_category(const struct grid *grid, size_t position, size_t rest, int fixed)
{
    struct cell_style style = {NONE, NONE, 0};
    if (grid_colors(grid) == 0 || in_use == THEME_MONO)
        return style;
    if (fixed >= 0 && fixed < 256)
        style.foreground = (int16_t)fixed;
    else if (position >= rest)
        style.foreground = grid_colors(grid) > 16 ? GREY : 8;
    else
        style.foreground =
            (grid_colors(grid) > 16 ? colors_256 : colors_16)[in_use][position % THEME_CATEGORIES];
    return style;
}

uint32_t theme_pattern(size_t position)
{
    static const char patterns[] = "#o+x=%*@&s~";
    return (uint32_t)patterns[position % (sizeof(patterns) - 1)];
}

uint32_t theme_paper(void)
{
    return in_use == THEME_LIGHT ? 0xffffff : 0x1c1c1c;
}

uint32_t theme_ink(void)
{
    return in_use == THEME_LIGHT ? 0x1c1c1c : 0xd0d0d0;
}
