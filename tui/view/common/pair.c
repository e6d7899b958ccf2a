/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/view/common/pair.h"

#include "tui/view/common/list.h"

static struct table_place side_place(const struct pair_tables *tables)
{
    struct table_place place = panes_side_table(&tables->panes);
    place.y += tables->side_lines;
    place.height = place.height > tables->side_lines ? place.height - tables->side_lines : 0;
    return place;
}

void pair_focus(struct pair *pair, const struct pair_tables *tables, bool side)
{
    pair->in_side = side && tables->side.rows > 0 && side_place(tables).height > 0;
    pair->main.blurred = pair->in_side;
    pair->side.blurred = !pair->in_side;
}

void pair_settle(struct pair *pair, const struct pair_tables *tables)
{
    const struct table_place side = side_place(tables);
    table_settle(&pair->main, &tables->main, &tables->panes.main);
    table_settle(&pair->side, &tables->side, &side);
    pair_focus(pair, tables, pair->in_side);
}

static void focus_by_mouse(struct pair *pair, const struct pair_tables *tables,
                           const struct view_input *input)
{
    const struct table_place *side = &tables->panes.side;
    const bool mouse = input->action == ACTION_CLICK || input->action == ACTION_WHEEL_UP ||
                       input->action == ACTION_WHEEL_DOWN;
    if (mouse && side->height > 0)
        pair_focus(pair, tables, tables->panes.beside ? input->x >= side->x : input->y >= side->y);
}

enum pair_answer pair_update(struct pair *pair, struct exploration *exploration,
                             const struct pair_tables *tables, const struct view_input *input)
{
    const struct table_place place = side_place(tables);
    focus_by_mouse(pair, tables, input);
    switch (input->action) {
    case ACTION_NEXT_PANE:
    case ACTION_PREVIOUS_PANE:
        pair_focus(pair, tables, !pair->in_side);
        return PAIR_USED;
    case ACTION_BACK:
        if (!pair->in_side)
            return PAIR_IGNORED;
        pair_focus(pair, tables, false);
        return PAIR_USED;
    case ACTION_FOLLOW:
        return pair->in_side ? PAIR_SIDE_FOLLOW : PAIR_MAIN_FOLLOW;
    default:
        break;
    }
    const enum table_answer answer =
        pair->in_side
            ? list_update(exploration, &pair->side, &tables->side, input, &place)
            : list_update(exploration, &pair->main, &tables->main, input, &tables->panes.main);
    if (answer == TABLE_SORTED)
        return pair->in_side ? PAIR_SIDE_SORTED : PAIR_MAIN_SORTED;
    if (answer == TABLE_FOLLOW)
        return pair->in_side ? PAIR_SIDE_FOLLOW : PAIR_MAIN_FOLLOW;
    return answer == TABLE_IGNORED ? PAIR_IGNORED : PAIR_USED;
}

struct area pair_side_lines(const struct pair_tables *tables, const struct area *area)
{
    struct table_place place = panes_side_table(&tables->panes);
    place.height = place.height < tables->side_lines ? place.height : tables->side_lines;
    return panes_area(area, &place);
}

void pair_render(const struct pair *pair, const struct pair_tables *tables, const struct area *area,
                 const char *title)
{
    const struct table_place place = side_place(tables);
    const struct area main = panes_area(area, &tables->panes.main);
    table_render(&pair->main, &tables->main, &main);
    if (tables->panes.side.height == 0)
        return;
    panes_render_title(&tables->panes, area, title, pair->in_side);
    const struct area side = panes_area(area, &place);
    if (tables->side.rows > 0)
        table_render(&pair->side, &tables->side, &side);
}
