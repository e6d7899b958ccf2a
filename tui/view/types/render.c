/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the types view: totals, the table, the pane about the selected type. */
#include <inttypes.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/types/types.h"

struct pair_tables types_tables(const struct types *types, int width, int height)
{
    struct pair_tables tables = {.main = types_source(types), .side = types_pane_source(types)};
    tables.panes = panes_lay_out(width, height, 1, tables.main.rows);
    tables.side_lines = 1;
    return tables;
}

static void render_totals(const struct types *types, const struct exploration *exploration,
                          const struct area *area)
{
    char count[FORMAT_SIZE], bytes[FORMAT_SIZE], exact[FORMAT_SIZE], inferred[FORMAT_SIZE];
    char from[FORMAT_SIZE], to[FORMAT_SIZE];
    uint64_t exact_bytes = 0, known_bytes = 0;
    for (size_t i = 0; i < types->data->count; i++) {
        exact_bytes += types->data->rows[i].exact_bytes;
        known_bytes +=
            types->data->rows[i].type == SESSION_TYPE_UNKNOWN ? 0 : types->data->rows[i].bytes;
    }
    int x =
        1 + area_print(area, 1, 0, theme_style(THEME_STRONG), "%s type%s, %s%s",
                       format_count(count, types->data->count), types->data->count == 1 ? "" : "s",
                       exploration->about, format_size(bytes, types->data->bytes));
    x += area_print(
        area, x, 0, theme_style(THEME_FAINT), " · exact %s, inferred %s of the bytes",
        types->data->bytes ? format_percent(exact, exact_bytes, types->data->bytes) : "0%",
        types->data->bytes ? format_percent(inferred, known_bytes - exact_bytes, types->data->bytes)
                           : "0%");
    if (types->has_range)
        area_print(area, x, 0, theme_style(THEME_PLAIN), " · growth from %s to %s",
                   format_instant(from, types->from_ns), format_instant(to, types->to_ns));
}

static void title_of(const struct types *types, const struct session_type_sums *row, char *title,
                     size_t size)
{
    const char *name = types_name(types, row->type);
    if (types_shows_candidates(types))
        snprintf(title, size, " candidates of blocks of unknown type ");
    else
        snprintf(title, size, " %s %.150s ",
                 types->pane == TYPE_MEMBERS_PANE     ? "members of"
                 : types->pane == TYPE_FUNCTIONS_PANE ? "functions that allocate"
                                                      : "owners of",
                 name);
}

/* Writes one line about what the pane lists, or why it is empty. */
static void render_about(const struct types *types, const struct exploration *exploration,
                         const struct session_type_sums *row, const struct area *area)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], c[FORMAT_SIZE], d[FORMAT_SIZE];
    const struct cell_style style = theme_style(THEME_FAINT);
    const struct session_type_course *course = types_course(types, row->type);
    const bool known = types_shows_candidates(types)      ? types->candidates != NULL
                       : types->pane == TYPE_MEMBERS_PANE ? types->members != NULL
                                                          : types->breakdown.data != NULL;
    if (!known) {
        list_render_empty(exploration, area, 0, false);
    } else if (types_shows_candidates(types)) {
        area_print(area, 1, 0, style, "%s of %s of unknown type have names that would fit",
                   format_size(a, types->candidates->bytes), format_size(b, row->bytes));
    } else if (types->pane != TYPE_MEMBERS_PANE) {
        area_print(area, 1, 0, style, "%s %s%s%s", format_count(a, types->breakdown.data->made),
                   types->pane == TYPE_OWNERS_PANE ? "owner" : "function",
                   types->breakdown.data->made == 1 ? "" : "s",
                   types->breakdown.data->made > BREAKDOWN_MOST ? ", the largest 1,000" : "");
    } else if (types->members->members == 0) {
        area_print(area, 1, 0, style, "no members are known; m shows who allocates it");
    } else if (types->members->members > TYPE_MEMBERS) {
        area_print(area, 1, 0, style, "%s members: the first %d",
                   format_count(a, types->members->members), TYPE_MEMBERS);
    } else {
        area_print(area, 1, 0, style, "%s B, %s B of padding%s%s%s%s%s",
                   format_count(a, types->members->size), format_count(b, types->members->padding),
                   course && course->wasted ? ": " : "",
                   course && course->wasted ? format_size(c, course->wasted) : "",
                   course && course->wasted ? " wasted in " : "",
                   course && course->wasted ? format_count(d, course->objects) : "",
                   course && course->wasted ? " objects" : "");
    }
}

void types_render(const void *view, const struct exploration *exploration, const struct area *area)
{
    const struct types *types = view;
    const struct pair_tables tables = types_tables(types, area->width, area->height);
    const struct session_type_sums *row = types_selected(types);
    char title[256] = "";
    if (types->data)
        render_totals(types, exploration, area);
    if (!row) {
        list_render_empty(exploration, area, 2, types->data != NULL);
        return;
    }
    title_of(types, row, title, sizeof(title));
    pair_render(&types->pair, &tables, area, title);
    const struct area about = pair_side_lines(&tables, area);
    render_about(types, exploration, row, &about);
}
