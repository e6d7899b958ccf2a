/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys and their actions. A view has a table of its own keys; the table of shared keys serves all.
 * A view's binding may explain a shared key in the view's own words, with the same action. Footer,
 * help screen and man page are made from these tables.
 */
#ifndef MPROF_TUI_KEYS_KEYS_H
#define MPROF_TUI_KEYS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/keys/action.h"
#include "tui/keys/view_number.h"
#include "tui/screen/input.h"

#define KEYS_MOST 3
struct key_binding {
    uint32_t keys[KEYS_MOST]; /* 0 ends */
    enum action action;
    unsigned views;          /* shared keys: enum view_set, or'ed; 0 in a view's own table */
    const char *footer_keys; /* the keys as the footer shows them; NULL: the first one */
    const char *footer;      /* a word for the footer; NULL: the footer leaves it out */
    const char *description; /* for help and man page */
};

struct key_table {
    const struct key_binding *bindings; /* in the order of help and footer */
    size_t count;
};
/* A key_table of an array. */
#define KEY_TABLE(array)                                                                           \
    {                                                                                              \
        array, sizeof(array) / sizeof((array)[0])                                                  \
    }

extern const struct key_table shared_keys;

/*
 * Returns the binding of a view after `binding` (NULL: the first one), NULL after the last. Its own
 * ones come first, then the shared ones that it does not explain itself.
 */
const struct key_binding *key_binding_next(const struct key_table *own, enum view_number view,
                                           const struct key_binding *binding);
/* Returns the binding of a key in a view, NULL if it has none. The user's own keys (user_keys.h)
 * come first. */
const struct key_binding *key_binding_of(const struct key_table *own, enum view_number view,
                                         uint32_t key);
/* Does the same and returns the action, ACTION_NONE if the key has none. */
enum action key_action(const struct key_table *own, enum view_number view, uint32_t key);
/* Stores the keys that ask for a binding in a view, the user's own first. Returns their number. */
#define KEYS_SHOWN 8
size_t key_binding_keys(const struct key_table *own, enum view_number view,
                        const struct key_binding *binding, uint32_t out[KEYS_SHOWN]);
/* Returns true if the user has changed them. */
bool key_binding_is_changed(const struct key_table *own, enum view_number view,
                            const struct key_binding *binding);

#endif
