/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/panes.h"

#include "tui/screen/theme.h"

enum { BESIDE_WIDTH = 140, BELOW_HEIGHT = 14, TALL = 30, MAIN_LEAST = 5 };

struct panes panes_lay_out(int width, int height, int lines, size_t rows)
{
    struct panes panes = {.main = {0, lines, width, height - lines}};
    panes.main.height = panes.main.height > 2 ? panes.main.height : 2;
    if (width >= BESIDE_WIDTH && height >= BELOW_HEIGHT) {
        panes.beside = true;
        panes.side =
            (struct table_place){width - width * 2 / 5, lines, width * 2 / 5, panes.main.height};
        panes.main.width = panes.side.x - 2;
    } else if (height >= BELOW_HEIGHT) {
        int below = height >= TALL ? height * 2 / 5 : height / 3 + 1;
        const int needed = rows < MAIN_LEAST ? MAIN_LEAST : rows < 1000 ? (int)rows + 1 : 1000;
        if (panes.main.height - below > needed)
            below = panes.main.height - needed;
        panes.main.height -= below;
        panes.side = (struct table_place){0, lines + panes.main.height, width, below};
    }
    return panes;
}

struct table_place panes_side_table(const struct panes *panes)
{
    struct table_place place = panes->side;
    place.y++;
    place.height = place.height > 1 ? place.height - 1 : 0;
    return place;
}

struct area panes_area(const struct area *area, const struct table_place *place)
{
    return area_part(area, place->x, place->y, place->width, place->height);
}

void panes_render_title(const struct panes *panes, const struct area *area, const char *title,
                        bool focused)
{
    const struct table_place *side = &panes->side;
    const struct cell_style faint = theme_style(THEME_FAINT);
    if (side->height == 0)
        return;
    if (panes->beside) {
        for (int y = 0; y < side->height; y++)
            area_put(area, side->x - 1, side->y + y, 0x2502, faint);
    } else {
        area_fill(area, side->x, side->y, side->width, 1, 0x2500, faint);
    }
    const int width = text_width(title) < side->width - 2 ? text_width(title) : side->width - 2;
    area_field(area, side->x + 1, side->y, width,
               theme_style(focused ? THEME_STRONG : THEME_HEADING), title);
}
