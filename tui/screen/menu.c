/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/menu.h"

#include <string.h>

#include "tui/screen/input.h"
#include "tui/screen/theme.h"

enum { FRAME = 1, NUMBER = 2, WIDEST = 72 };

struct menu_place menu_place(const struct menu *menu, int width, int height)
{
    int widest = text_width(menu->title) + 2;
    for (size_t i = 0; i < menu->count; i++) {
        const int label = text_width(menu->label(menu->context, i)) + NUMBER;
        widest = label > widest ? label : widest;
    }
    widest = widest < WIDEST ? widest : WIDEST;
    struct menu_place place = {.width = widest + 2 + 2 * FRAME,
                               .height =
                                   (int)(menu->count < 1000 ? menu->count : 1000) + 2 * FRAME};
    place.width = place.width < width ? place.width : width;
    place.height = place.height < height ? place.height : height;
    place.x = width - place.width;
    return place;
}

static size_t visible_items(const struct menu_place *place)
{
    return place->height > 2 * FRAME ? (size_t)(place->height - 2 * FRAME) : 1;
}

static enum menu_answer select_item(struct menu *menu, const struct menu_place *place, size_t item)
{
    const size_t rows = visible_items(place);
    if (menu->count == 0)
        return MENU_IGNORED;
    menu->selected = item < menu->count ? item : menu->count - 1;
    if (menu->first > menu->selected)
        menu->first = menu->selected;
    if (menu->selected >= menu->first + rows)
        menu->first = menu->selected - rows + 1;
    return MENU_MOVED;
}

/* Returns the key that chooses an item, 0: it has none. */
static char key_of(const struct menu *menu, size_t item)
{
    static const char digits[] = "123456789";
    const char *keys = menu->keys ? menu->keys : digits;
    return item < strlen(keys) ? keys[item] : 0;
}

enum menu_answer menu_key(struct menu *menu, const struct menu_place *place, uint32_t key)
{
    const size_t page = visible_items(place), at = menu->selected;
    switch (key) {
    case KEYCODE_ESCAPE:
    case 'q':
        return MENU_CLOSED;
    case KEYCODE_ENTER:
        return menu->count > 0 ? MENU_CHOSEN : MENU_CLOSED;
    case KEYCODE_UP:
    case 'k':
        return select_item(menu, place, at > 0 ? at - 1 : 0);
    case KEYCODE_DOWN:
    case 'j':
        return select_item(menu, place, at + 1);
    case KEYCODE_PAGE_UP:
        return select_item(menu, place, at > page ? at - page : 0);
    case KEYCODE_PAGE_DOWN:
        return select_item(menu, place, at + page);
    case KEYCODE_HOME:
        return select_item(menu, place, 0);
    case KEYCODE_END:
        return select_item(menu, place, menu->count);
    default:
        for (size_t item = 0; item < menu->count; item++) {
            if (key == 0 || (uint32_t)key_of(menu, item) != key)
                continue;
            select_item(menu, place, item);
            return MENU_CHOSEN;
        }
        return MENU_IGNORED;
    }
}

enum menu_answer menu_click(struct menu *menu, const struct menu_place *place, int x, int y)
{
    if (x < place->x || x >= place->x + place->width || y < place->y ||
        y >= place->y + place->height)
        return MENU_CLOSED;
    const int row = y - place->y - FRAME;
    if (row < 0 || row >= place->height - 2 * FRAME || menu->first + (size_t)row >= menu->count)
        return MENU_IGNORED;
    select_item(menu, place, menu->first + (size_t)row);
    return MENU_CHOSEN;
}

static void render_frame(const struct area *box, const char *title)
{
    const struct cell_style style = theme_style(THEME_FAINT);
    const int right = box->width - 1, bottom = box->height - 1;
    area_fill(box, 0, 0, box->width, box->height, ' ', theme_style(THEME_PLAIN));
    area_fill(box, 1, 0, right - 1, 1, 0x2500, style);
    area_fill(box, 1, bottom, right - 1, 1, 0x2500, style);
    area_fill(box, 0, 1, 1, bottom - 1, 0x2502, style);
    area_fill(box, right, 1, 1, bottom - 1, 0x2502, style);
    area_put(box, 0, 0, 0x250c, style);
    area_put(box, right, 0, 0x2510, style);
    area_put(box, 0, bottom, 0x2514, style);
    area_put(box, right, bottom, 0x2518, style);
    const int width = text_width(title) < box->width - 4 ? text_width(title) : box->width - 4;
    area_field(box, 2, 0, width, theme_style(THEME_HEADING), title);
}

void menu_render(const struct menu *menu, const struct area *area)
{
    const struct menu_place place = menu_place(menu, area->width, area->height);
    const struct area box = area_part(area, place.x, place.y, place.width, place.height);
    render_frame(&box, menu->title);
    const int rows = place.height - 2 * FRAME;
    for (int y = 0; y < rows && menu->first + (size_t)y < menu->count; y++) {
        const size_t item = menu->first + (size_t)y;
        if (key_of(menu, item))
            area_print(&box, 2, y + FRAME, theme_style(THEME_KEY), "%c", key_of(menu, item));
        area_field(&box, 2 + NUMBER, y + FRAME, place.width - 4 - NUMBER, theme_style(THEME_PLAIN),
                   menu->label(menu->context, item));
        if (item == menu->selected)
            area_restyle(&box, 1, y + FRAME, place.width - 2, theme_style(THEME_CURSOR));
    }
}
