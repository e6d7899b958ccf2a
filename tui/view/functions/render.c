/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the functions view. */
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/common/panes.h"
#include "tui/view/functions/functions.h"

/* Draws the whole name of the selected function, and where it is. */
static void render_name(const struct functions *functions, const struct exploration *exploration,
                        const struct area *area, int y)
{
    const uint32_t function = functions_selected(functions)->function;
    const char *name = session_function_name(exploration->session, function);
    const char *place = functions_where(exploration->session, function);
    const int room = area->width - 3 - text_width(place);
    const int width = text_width(name) < room ? text_width(name) : room;
    area_field(area, 1, y, width, theme_style(THEME_STRONG), name);
    area_text(area, width + 3, y, theme_style(THEME_FAINT), place);
}

/* Returns the words in place of the rows of a table that has none. */
static const char *empty(const struct functions *functions, enum functions_pane pane)
{
    if (!functions->edges_known)
        return pane == PANE_CALLERS ? "counting …" : "";
    if (pane == PANE_CALLERS)
        return "none: stacks begin here";
    return functions_selected(functions)->self_count > 0
               ? "none: it allocates by itself"
               : "none: it only hands the call to the allocator";
}

void functions_render(const void *view, const struct exploration *exploration,
                      const struct area *area)
{
    const struct functions *functions = view;
    const struct functions_layout layout = functions_lay_out(area->width, area->height);
    for (int pane = 0; pane < FUNCTION_PANES; pane++) {
        struct functions_table context;
        const struct table_source source =
            functions_source(functions, exploration, (enum functions_pane)pane, &context);
        const struct area part = panes_area(area, &layout.panes[pane]);
        if (part.height <= 0 || (pane != PANE_LIST && functions->count == 0))
            continue;
        struct table table = functions->tables[pane];
        table.blurred = pane != (int)functions->pane;
        /* Callers and callees have a cursor only while they have the keys. */
        if (table.blurred && pane != PANE_LIST)
            table.selected = source.rows;
        table_render(&table, &source, &part);
        if (pane == PANE_LIST && source.rows == 0)
            list_render_empty(exploration, &part, 2, functions->known);
        else if (source.rows == 0)
            area_text(&part, 2, 1, theme_style(THEME_FAINT),
                      empty(functions, (enum functions_pane)pane));
    }
    if (layout.name >= 0 && functions->count > 0)
        render_name(functions, exploration, area, layout.name);
}
