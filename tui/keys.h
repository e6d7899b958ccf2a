/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys and their actions. A key is a Unicode code point, or one of the KEYCODE values above
 * Unicode. The table of bindings is the only place that joins keys to actions. Footer, help screen
 * and man page are made from it.
 */
#ifndef MPROF_TUI_KEYS_H
#define MPROF_TUI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/action.h"

enum keycode {
    KEYCODE_ESCAPE = 27,
    KEYCODE_ENTER = '\n',
    KEYCODE_TAB = '\t',
    KEYCODE_BACKSPACE = 8,
    KEYCODE_FIRST = 0x110000,
    KEYCODE_LEFT = KEYCODE_FIRST,
    KEYCODE_RIGHT,
    KEYCODE_UP,
    KEYCODE_DOWN,
    KEYCODE_PAGE_UP,
    KEYCODE_PAGE_DOWN,
    KEYCODE_HOME,
    KEYCODE_END,
    KEYCODE_DELETE,
    KEYCODE_BACKTAB,
};
/* Ctrl with a letter. */
#define KEYCODE_CONTROL(letter) ((uint32_t)(letter)&31)

/* The views as bits, for bindings that only some views have. */
enum view_bit {
    IN_OVERVIEW = 1,
    IN_TIMELINE = 2,
    IN_GRID = 4,
    IN_FUNCTIONS = 8,
    IN_ALL = 15,
};

struct key_binding {
    uint32_t keys[3]; /* 0 ends */
    enum action action;
    unsigned views;          /* enum view_bit, or'ed */
    const char *footer_keys; /* the keys as the footer shows them; NULL: the first one */
    const char *footer;      /* a word for the footer; NULL: the footer leaves it out */
    const char *description; /* for help and man page */
};

const struct key_binding *key_bindings(size_t *count);
/* Returns the action of a key in the view with this bit, ACTION_NONE if it has none. */
enum action key_action(uint32_t key, unsigned view);
#define KEY_NAME_SIZE 16
/* Writes "Left", "PgUp", "Ctrl-R", "x" to `out`, of KEY_NAME_SIZE bytes. Returns `out`. */
char *key_spelling(uint32_t key, char *out);
/* Does the same for a footer, with arrows as glyphs. */
char *key_symbol(uint32_t key, char *out);
/* Returns the key with a name from key_spelling(), 0 for an unknown one. */
uint32_t key_from_name(const char *name);

#endif
