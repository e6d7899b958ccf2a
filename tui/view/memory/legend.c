/* SPDX-License-Identifier: BSD-2-Clause */
/* The legend of the memory view: one line, with as many entries as have room. */
#include <string.h>

#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/memory/grid.h"

/* Tells whether another function of the legend has the same name: it needs room to differ. */
static bool has_namesake(const struct session_legend *legend, size_t at)
{
    for (size_t i = 0; i < legend->count; i++)
        if (i != at && strcmp(legend->entry[i].label, legend->entry[at].label) == 0)
            return true;
    return false;
}

/* Places the labels in a line, each behind a glyph and a space. Returns how many have room. */
static size_t place(const struct session_legend *legend, int width,
                    struct alike_field labels[SESSION_COLORS])
{
    const int count = (int)legend->count;
    const int most = count > 0 && width / count > 26 ? width / count - 4 : 22;
    size_t shown = 0;
    for (int x = 1; shown < legend->count; shown++) {
        const int whole = text_width(legend->entry[shown].label);
        const int label = whole < most && !has_namesake(legend, shown) ? whole : most;
        if (x + label + 3 > width)
            break;
        labels[shown] = (struct alike_field){x + 2, 0, label, shown, NULL};
        x += label + 4;
    }
    return shown;
}

size_t memory_legend_at(const struct exploration *exploration, int width, int x)
{
    struct alike_field labels[SESSION_COLORS];
    const size_t count = place(&exploration->legend, width, labels);
    for (size_t i = 0; i < count; i++)
        if (x >= labels[i].x - 2 && x < labels[i].x + labels[i].width)
            return i;
    return SIZE_MAX;
}

void memory_legend_render(const struct memory_grid *grid, const struct exploration *exploration,
                          const struct area *area, int width, int y)
{
    const struct area line = area_part(area, 0, y, width, 1);
    struct alike_field labels[SESSION_COLORS];
    if (grid->alternate) {
        area_text(&line, 1, 0, theme_style(THEME_FAINT),
                  "colours only tell neighbours apart; a goes back");
        return;
    }
    const size_t shown = place(&exploration->legend, width, labels);
    for (size_t i = 0; i < shown; i++) {
        area_put(&line, labels[i].x - 2, 0,
                 grid_colors(line.grid) ? 0x2588 : exploration_pattern(exploration, i),
                 exploration_category(exploration, line.grid, i));
        area_category(&line, labels[i].x, 0, labels[i].width, theme_style(THEME_PLAIN),
                      exploration->legend.entry[i].label);
    }
    struct legend_names names = {exploration->session, &exploration->legend};
    alike_rewrite(&line, labels, shown, list_legend_name, &names);
}
