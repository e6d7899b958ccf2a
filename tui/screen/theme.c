/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/theme.h"

#define NONE CELL_DEFAULT

struct cell_style theme_style(enum theme_role role)
{
    static const struct cell_style styles[THEME_ROLES] = {
        [THEME_PLAIN] = {NONE, NONE, 0},
        [THEME_TITLE] = {NONE, NONE, CELL_BOLD},
        [THEME_TAB] = {NONE, NONE, CELL_DIM},
        [THEME_TAB_ACTIVE] = {NONE, NONE, CELL_BOLD | CELL_REVERSE},
        [THEME_HEADING] = {74, NONE, CELL_BOLD},
        [THEME_FAINT] = {245, NONE, 0},
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
    };
    return styles[role < THEME_ROLES ? role : THEME_PLAIN];
}

/*
 * The colours of categories. Neighbours in the legend differ in lightness as well as in hue, after
 * the set that Okabe and Ito made for colour-blind readers (2008).
 */
static const int16_t colors_256[] = {74, 214, 36, 175, 227, 25, 166, 140, 107, 137};
static const int16_t colors_16[] = {6, 3, 2, 5, 11, 4, 1, 13, 10, 9};
#define COLOR_COUNT (sizeof(colors_256) / sizeof(colors_256[0]))

struct cell_style theme_category(const struct grid *grid, size_t position, size_t rest, int fixed)
{
    struct cell_style style = {NONE, NONE, 0};
    if (grid_colors(grid) == 0)
        return style;
    if (fixed >= 0 && fixed < 256)
        style.foreground = (int16_t)fixed;
    else if (position >= rest)
        style.foreground = grid_colors(grid) > 16 ? 245 : 8;
    else
        style.foreground = grid_colors(grid) > 16 ? colors_256[position % COLOR_COUNT]
                                                  : colors_16[position % COLOR_COUNT];
    return style;
}

uint32_t theme_pattern(size_t position)
{
    static const char patterns[] = "#o+x=%*@&s~";
    return (uint32_t)patterns[position % (sizeof(patterns) - 1)];
}
