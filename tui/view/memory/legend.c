/* SPDX-License-Identifier: BSD-2-Clause */
/* The legend of the memory view: the colours that are on the screen, in one line or two. */
#include <string.h>

#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/memory/grid.h"

enum { LABEL_MOST = 40, LABEL_LEAST = 7, BETWEEN = 2, MORE_WIDTH = 9 };

/* The labels of the legend, each behind a glyph and a space. */
struct placed {
    struct alike_field labels[SESSION_COLORS]; /* row: position in the session's legend */
    size_t shown, colors;                      /* of so many colours on the screen */
    int end_x, end_y;                          /* after the last label */
};

/* Returns the positions that have cells on the screen, as bits. */
static unsigned colors_shown(const struct memory_grid *grid)
{
    unsigned shown = 0;
    for (int i = 0; grid->cells && i < grid->rows * grid->map.columns; i++)
        if (grid->cells[i].used > 0)
            shown |= 1U << grid->cells[i].color;
    return shown;
}

/* Returns true if another function of the legend has the same name: it needs room to differ. */
static bool has_namesake(const struct session_legend *legend, size_t at)
{
    for (size_t i = 0; i < legend->count; i++)
        if (i != at && strcmp(legend->entry[i].label, legend->entry[at].label) == 0)
            return true;
    return false;
}

/* Places labels of at most `most` columns. Returns false if not all have room. */
static bool place_within(const struct session_legend *legend, unsigned shown, int width, int rows,
                         int most, struct placed *placed)
{
    int x = 1, y = 0;
    *placed = (struct placed){.end_x = 1};
    for (size_t i = 0; i < legend->count; i++)
        placed->colors += shown >> i & 1;
    for (size_t i = 0; i < legend->count; i++) {
        if (!(shown >> i & 1))
            continue;
        const int whole = text_width(legend->entry[i].label);
        const int label = whole < most && !has_namesake(legend, i) ? whole : most;
        /* The last line keeps room for the number of those that have none. */
        const bool last = placed->shown + 1 == placed->colors;
        if (x + 2 + label + (y + 1 == rows && !last ? BETWEEN + MORE_WIDTH : 0) > width) {
            if (++y == rows)
                return false;
            x = 1;
            if (x + 2 + label > width)
                return false;
        }
        placed->labels[placed->shown++] = (struct alike_field){x + 2, y, label, i, NULL};
        x += 2 + label + BETWEEN;
        placed->end_x = x;
        placed->end_y = y;
    }
    return true;
}

/* Places all labels, cut as little as that needs, or as many of the shortest as have room. */
static void place(const struct memory_grid *grid, const struct session_legend *legend, int width,
                  int rows, struct placed *placed)
{
    const unsigned shown = colors_shown(grid);
    int most = LABEL_MOST;
    while (!place_within(legend, shown, width, rows, most, placed) && most > LABEL_LEAST)
        most--;
}

size_t memory_legend_at(const struct memory_grid *grid, const struct exploration *exploration,
                        const struct memory_layout *layout, int x, int y)
{
    struct placed placed;
    place(grid, &exploration->legend, layout->legend_width, layout->legend_rows, &placed);
    for (size_t i = 0; i < placed.shown; i++) {
        const struct alike_field *label = &placed.labels[i];
        if (y - layout->legend_y == label->y && x >= label->x - 2 && x < label->x + label->width)
            return label->row;
    }
    return SIZE_MAX;
}

void memory_legend_render(const struct memory_grid *grid, const struct exploration *exploration,
                          const struct area *area, const struct memory_layout *layout)
{
    const struct area lines =
        area_part(area, 0, layout->legend_y, layout->legend_width, layout->legend_rows);
    struct placed placed;
    if (grid->alternate) {
        area_text(&lines, 1, 0, theme_style(THEME_FAINT),
                  "colours only tell neighbours apart; a goes back");
        return;
    }
    place(grid, &exploration->legend, layout->legend_width, layout->legend_rows, &placed);
    for (size_t i = 0; i < placed.shown; i++) {
        const struct alike_field *label = &placed.labels[i];
        area_put(&lines, label->x - 2, label->y,
                 grid_colors(lines.grid) ? 0x2588 : exploration_pattern(exploration, label->row),
                 exploration_category(exploration, lines.grid, label->row));
        area_category(&lines, label->x, label->y, label->width, theme_style(THEME_PLAIN),
                      exploration->legend.entry[label->row].label);
    }
    if (placed.shown < placed.colors)
        area_print(&lines, placed.end_x, placed.end_y, theme_style(THEME_FAINT), "%zu more",
                   placed.colors - placed.shown);
    struct legend_names names = {exploration->session, &exploration->legend};
    alike_rewrite(&lines, placed.labels, placed.shown, list_legend_name, &names);
}
