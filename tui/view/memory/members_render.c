/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the layout of the type of the allocation under the cursor: its members and padding. */
#include <inttypes.h>
#include <stdio.h>

#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/memory/grid.h"

/* One row of the layout: a member, or padding. */
struct layout_row {
    const struct session_member *member; /* NULL: padding */
    uint64_t offset, size;
};

/* Finds row `wanted`. If there is none, stores the number of rows in *count and returns false. */
static bool find_row(const struct memory_details *details, int wanted, struct layout_row *row,
                     int *count)
{
    uint64_t end = 0;
    int at = 0;
    for (size_t i = 0; i <= details->member_count; i++) {
        const struct session_member *member =
            i < details->member_count ? &details->members[i] : NULL;
        uint64_t start = member ? member->offset : details->type_size;
        if (start > end && at++ == wanted) {
            *row = (struct layout_row){NULL, end, start - end};
            return true;
        }
        if (member && at++ == wanted) {
            *row = (struct layout_row){member, member->offset, member->size};
            return true;
        }
        if (member && member->offset + member->size > end)
            end = member->offset + member->size;
    }
    *count = at;
    return false;
}

int memory_members_rows(const struct memory_details *details)
{
    struct layout_row row;
    int count = 0;
    find_row(details, -1, &row, &count);
    return count + 1;
}

static void render_row(const struct layout_row *row, const struct area *area, int y)
{
    struct cell_style plain = theme_style(THEME_PLAIN), faint = theme_style(THEME_FAINT);
    char text[FORMAT_SIZE];
    snprintf(text, sizeof(text), "%" PRIu64, row->offset);
    area_field_right(area, 1, y, 6, faint, text);
    snprintf(text, sizeof(text), "%" PRIu64 " B", row->size);
    area_field_right(area, 8, y, 8, row->member ? plain : theme_style(THEME_WARNING), text);
    if (!row->member) {
        area_text(area, 18, y, theme_style(THEME_WARNING), "padding");
        return;
    }
    int name = row->member->name[0] ? (area->width - 18) / 3 : 0;
    area_field(area, 18, y, name, plain, row->member->name);
    area_category(area, 18 + name + (name > 0), y, area->width - 19 - name, theme_style(THEME_GOOD),
                  row->member->type);
}

void memory_members_render(const struct memory_details *details,
                           const struct exploration *exploration, const struct area *area,
                           int first)
{
    char size[FORMAT_SIZE];
    int rows = memory_members_rows(details) - 1, unused;
    int x = 1 + area_text(area, 1, 0, theme_style(THEME_HEADING), "layout of ");
    x += area_category(area, x, 0, area->width - x - 12, theme_style(THEME_GOOD),
                       session_type_name(exploration->session, details->allocation.type));
    area_print(area, x, 0, theme_style(THEME_FAINT), "  %s", format_size(size, details->type_size));
    if (first > rows - (area->height - 1))
        first = rows > area->height - 1 ? rows - (area->height - 1) : 0;
    for (int y = 1; y < area->height && first + y <= rows; y++) {
        struct layout_row row;
        if (y + 1 == area->height && first + y < rows) {
            area_print(area, 18, y, theme_style(THEME_FAINT), "and %d more", rows - first - y + 1);
            break;
        }
        if (find_row(details, first + y - 1, &row, &unused))
            render_row(&row, area, y);
    }
}
