/* SPDX-License-Identifier: BSD-2-Clause */
/* A menu in a box over the view. Up and Down move, Enter or the item's key chooses, Esc closes. The
 * caller owns the items. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tui/screen/cells.h"

struct menu {
    const char *title;
    const char *(*label)(const void *context, size_t item); /* valid until the next call */
    const void *context;
    const char *keys; /* a character for each item; NULL: digits for the first nine */
    size_t count, selected, first;
};

enum menu_answer {
    MENU_IGNORED, /* no key for a menu */
    MENU_MOVED,   /* another item is selected */
    MENU_CHOSEN,  /* the selected one */
    MENU_CLOSED,
};

/* The box of a menu in an area of this size, at its right side. */
struct menu_place {
    int x, y, width, height;
};
struct menu_place menu_place(const struct menu *menu, int width, int height);

/* Does what a key asks for. `place` is where the menu is drawn. */
enum menu_answer menu_key(struct menu *menu, const struct menu_place *place, uint32_t key);
/* Chooses the item at a position of the area; closes the menu by a click outside of it. */
enum menu_answer menu_click(struct menu *menu, const struct menu_place *place, int x, int y);
void menu_render(const struct menu *menu, const struct area *area);
