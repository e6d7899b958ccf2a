/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys and their actions. The table of bindings is the only place that joins keys to actions.
 * Footer, help screen and man page are made from it.
 */
#ifndef MPROF_TUI_KEYS_H
#define MPROF_TUI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/keys/action.h"
#include "tui/screen/input.h"

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

#endif
