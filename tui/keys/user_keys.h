/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys that the user has bound, in the whole program. They come before those of the
 * tables: a key of one view before a key of all views. A key of all views only counts in a view
 * that knows its action; in others it keeps its meaning.
 */
#ifndef MPROF_TUI_KEYS_USER_KEYS_H
#define MPROF_TUI_KEYS_USER_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/keys/action.h"
#include "tui/keys/view_number.h"

struct user_key {
    uint32_t key;
    enum action action;    /* ACTION_NONE: the key does nothing */
    enum view_number view; /* VIEWS: all */
};

#define USER_KEYS_MOST 200

/* Binds a key, in place of what the user bound it to before. Returns false if there are too many.
 */
bool user_keys_bind(const struct user_key *key);
void user_keys_clear(void);
/* Returns the n-th one in the order in which they were bound, NULL after the last. */
const struct user_key *user_keys_at(size_t n);
/* Returns the user's binding of a key for exactly this view, or with VIEWS for all of them; NULL if
 * there is none. */
const struct user_key *user_keys_find(enum view_number view, uint32_t key);

#endif
