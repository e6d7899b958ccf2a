/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/screen/key_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/cells.h"
#include "tui/screen/input.h"

static const struct {
    uint32_t key;
    const char *name, *symbol;
} key_names[] = {
    {KEYCODE_ESCAPE, "Esc", "Esc"},
    {KEYCODE_ENTER, "Enter", "Enter"},
    {KEYCODE_TAB, "Tab", "Tab"},
    {KEYCODE_BACKTAB, "Shift-Tab", "Shift-Tab"},
    {KEYCODE_BACKSPACE, "Backspace", "Backspace"},
    {KEYCODE_LEFT, "Left", "←"},
    {KEYCODE_RIGHT, "Right", "→"},
    {KEYCODE_UP, "Up", "↑"},
    {KEYCODE_DOWN, "Down", "↓"},
    {KEYCODE_PAGE_UP, "PgUp", "PgUp"},
    {KEYCODE_PAGE_DOWN, "PgDn", "PgDn"},
    {KEYCODE_HOME, "Home", "Home"},
    {KEYCODE_END, "End", "End"},
    {KEYCODE_DELETE, "Delete", "Delete"},
    {KEYCODE_UNKNOWN, "that key", "that key"},
    {' ', "Space", "Space"},
};
#define KEY_NAMES (sizeof(key_names) / sizeof(key_names[0]))

static char *copy(char *out, const char *name)
{
    snprintf(out, KEY_NAME_SIZE, "%s", name);
    return out;
}

char *key_spelling(uint32_t key, char *out)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return copy(out, key_names[i].name);
    if (key < 32)
        snprintf(out, KEY_NAME_SIZE, "Ctrl-%c", (char)(key + 64));
    else if (key >= KEYCODE_F1 && key <= KEYCODE_F12)
        snprintf(out, KEY_NAME_SIZE, "F%u", (unsigned)(key - KEYCODE_F1 + 1));
    else if (key < KEYCODE_FIRST)
        text_encode(key, out);
    else
        copy(out, "?");
    return out;
}

char *key_symbol(uint32_t key, char *out)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (key_names[i].key == key)
            return copy(out, key_names[i].symbol);
    return key_spelling(key, out);
}

uint32_t key_from_name(const char *name)
{
    for (size_t i = 0; i < KEY_NAMES; i++)
        if (strcmp(key_names[i].name, name) == 0)
            return key_names[i].key;
    if (strncmp(name, "Ctrl-", 5) == 0 && name[5] >= '@' && name[5] <= '_' && name[6] == 0)
        return KEYCODE_CONTROL(name[5]);
    if (name[0] == 'F' && name[1] >= '1' && name[1] <= '9') {
        char *end;
        const unsigned long number = strtoul(name + 1, &end, 10);
        return *end == 0 && number <= 12 ? KEYCODE_F1 + (uint32_t)number - 1 : 0;
    }
    const char *rest = name;
    uint32_t glyph = text_next(&rest);
    return *rest == 0 ? glyph : 0;
}
