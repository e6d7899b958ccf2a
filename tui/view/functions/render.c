/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the functions view. */
#include <stdio.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/screen/short_name.h"
#include "tui/screen/theme.h"
#include "tui/view/functions/functions.h"

static void render_headers(const struct functions *functions, const char *about,
                           const struct area *area)
{
    area_fill(area, 0, 0, area->width, 1, ' ', theme_style(THEME_HEADING));
    for (int i = 0; i < FUNCTION_COLUMNS; i++) {
        int x, width;
        if (!function_column_place((enum function_column)i, area->width, &x, &width))
            continue;
        const struct column *column = function_column((enum function_column)i);
        bool sorted = functions->sort == (enum function_column)i;
        char title[40];
        snprintf(title, sizeof(title), "%s%s%s", column->text ? "" : about, column->title,
                 !sorted                 ? ""
                 : functions->descending ? " ▼"
                                         : " ▲");
        struct cell_style style = theme_style(THEME_HEADING);
        if (sorted)
            style.attributes |= CELL_UNDERLINE;
        if (column->text)
            area_field(area, x, 0, width, theme_style(THEME_HEADING), title);
        else
            area_field_right(area, x, 0, width, theme_style(THEME_HEADING), title);
        int text = text_width(title);
        area_restyle(area, column->text ? x : x + width - text, 0, text < width ? text : width,
                     style);
    }
}

/* Draws one number of a row; total and self with their share of the whole. */
static void render_number(const struct functions *functions, const struct area *area, int y,
                          enum function_column column, const struct session_function_row *row,
                          int x, int width)
{
    char text[FORMAT_SIZE], percent[FORMAT_SIZE];
    uint64_t value = function_column_value(column, row);
    bool shared = column == COLUMN_TOTAL || column == COLUMN_SELF;
    struct cell_style style = theme_style(value == 0 ? THEME_FAINT : THEME_PLAIN);
    if (column == COLUMN_SHORT)
        format_percent(text, value, row->self_count);
    else if (function_column(column)->bytes)
        format_size_short(text, value);
    else
        format_count_short(text, value);
    area_field_right(area, x, y, shared ? width - 6 : width, style, text);
    if (shared)
        area_field_right(area, x + width - 6, y, 6, theme_style(THEME_FAINT),
                         value ? format_percent(percent, value, functions->total_bytes) : "");
}

static const char *where(const struct session *session, uint32_t function)
{
    const char *place = session_function_place(session, function);
    return *place ? place : session_function_module(session, function);
}

static void render_row(const struct functions *functions, const struct exploration *exploration,
                       const struct area *area, int y, int index)
{
    const struct session_function_row *row = &functions->rows[index];
    const char *name = session_function_name(exploration->session, row->function);
    bool selected = index == functions->selected;
    for (int i = 0; i < FUNCTION_COLUMNS; i++) {
        int x, width;
        if (!function_column_place((enum function_column)i, area->width, &x, &width))
            continue;
        if (i == COLUMN_NAME) {
            bool match = functions->search[0] && strcasestr(name, functions->search);
            area_name(area, x, y, width, theme_style(match ? THEME_MATCH : THEME_PLAIN), name);
        } else if (i == COLUMN_PLACE) {
            area_field(area, x, y, width, theme_style(THEME_FAINT),
                       where(exploration->session, row->function));
        } else {
            render_number(functions, area, y, (enum function_column)i, row, x, width);
        }
    }
    if (selected)
        area_restyle(area, 0, y, area->width,
                     theme_style(functions->focus == FOCUS_LIST ? THEME_CURSOR : THEME_SELECTED));
}

static void render_edges(const struct exploration *exploration, const struct area *area,
                         const struct edge_list *list, uint64_t whole, bool focused,
                         const char *empty)
{
    if (list->count == 0)
        area_text(area, 2, 0, theme_style(THEME_FAINT), empty);
    for (int y = 0; y < area->height && list->first + y < (int)list->count; y++) {
        const struct session_edge *edge = &list->edges[list->first + y];
        char size[FORMAT_SIZE], percent[FORMAT_SIZE];
        area_field_right(area, 0, y, 7, theme_style(THEME_PLAIN),
                         format_size_short(size, edge->bytes));
        area_field_right(area, 7, y, 6, theme_style(THEME_FAINT),
                         format_percent(percent, edge->bytes, whole));
        const char *place = where(exploration->session, edge->function);
        int place_width = area->width >= 70 ? 24 : 0;
        area_name(area, 15, y, area->width - 16 - place_width, theme_style(THEME_PLAIN),
                  session_function_name(exploration->session, edge->function));
        area_field(area, area->width - place_width, y, place_width, theme_style(THEME_FAINT),
                   place);
        if (focused && list->first + y == list->selected)
            area_restyle(area, 0, y, area->width - 1, theme_style(THEME_CURSOR));
    }
}

static void render_edge_title(const struct area *area, int x, int y, int width, const char *what,
                              const struct edge_list *list, int rows, const char *name)
{
    char title[256], more[FORMAT_SIZE + 32] = "", count[FORMAT_SIZE];
    if (list->count > (size_t)rows)
        snprintf(more, sizeof(more), " (%s)", format_count(count, list->count));
    snprintf(title, sizeof(title), "%s%s%s%.150s", what, more, *name ? " of " : "", name);
    area_field(area, x, y, width, theme_style(THEME_HEADING), title);
}

/* Draws the whole name of the selected function, and where it is. */
static void render_name(const struct functions *functions, const struct exploration *exploration,
                        const struct area *area, int y)
{
    const uint32_t function = functions->rows[functions->selected].function;
    const char *name = session_function_name(exploration->session, function);
    const char *place = where(exploration->session, function);
    const int room = area->width - 3 - text_width(place);
    const int width = text_width(name) < room ? text_width(name) : room;
    area_field(area, 1, y, width, theme_style(THEME_STRONG), name);
    area_text(area, width + 3, y, theme_style(THEME_FAINT), place);
}

static void render_below(const struct functions *functions, const struct exploration *exploration,
                         const struct area *area, const struct functions_layout *layout)
{
    const struct session_function_row *row = &functions->rows[functions->selected];
    int half = area->width / 2, y = layout->edges - 1;
    area_fill(area, 0, y, area->width, 1, 0x2500, theme_style(THEME_FAINT));
    char name[SHORT_NAME_SIZE];
    short_name(name, sizeof(name), session_function_name(exploration->session, row->function));
    int name_width = text_width(name) + 18;
    name_width = name_width < half - 4 ? name_width : half - 4;
    render_edge_title(area, 2, y, name_width > 12 ? name_width : 12, "callers", &functions->callers,
                      layout->edge_rows, name);
    render_edge_title(area, half + 2, y,
                      functions->callees.count > (size_t)layout->edge_rows ? 13 : 8, "callees",
                      &functions->callees, layout->edge_rows, "");
    struct area callers = area_part(area, 0, layout->edges, half, layout->edge_rows);
    struct area callees =
        area_part(area, half, layout->edges, area->width - half, layout->edge_rows);
    render_edges(exploration, &callers, &functions->callers, row->total_bytes,
                 functions->focus == FOCUS_CALLERS,
                 functions->edges_known ? "none: stacks begin here" : "counting …");
    render_edges(exploration, &callees, &functions->callees, row->total_bytes,
                 functions->focus == FOCUS_CALLEES,
                 !functions->edges_known ? ""
                 : row->self_count > 0   ? "none: it allocates by itself"
                                         : "none: it only hands the call to the allocator");
}

void functions_render(const void *view, const struct exploration *exploration,
                      const struct area *area)
{
    const struct functions *functions = view;
    struct functions_layout layout = functions_lay_out(area->height);
    render_headers(functions, exploration->about, area);
    if (!functions->known) {
        char text[PENDING_SIZE];
        area_text(area, 2, 2, theme_style(THEME_FAINT), exploration_pending(text, exploration));
        return;
    }
    if (functions->count == 0) {
        area_text(area, 2, 2, theme_style(THEME_FAINT),
                  session_allocation_count(exploration->session) == 0
                      ? "no allocation was recorded"
                      : "the filter lets no allocation through; Esc goes back, f edits it");
        return;
    }
    for (int i = 0; i < layout.list_rows && functions->first + i < (int)functions->count; i++)
        render_row(functions, exploration, area, layout.list + i, functions->first + i);
    if (layout.name >= 0)
        render_name(functions, exploration, area, layout.name);
    if (layout.edge_rows > 0)
        render_below(functions, exploration, area, &layout);
}
