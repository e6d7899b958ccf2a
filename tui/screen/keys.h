/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys, their names and the actions that they ask for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/screen/action.h"
#include "tui/screen/input.h"

/* ---- names of keys ----------------------------------------------------------------------- */

#define KEY_NAME_SIZE 16
/* Writes "Left", "PgUp", "Ctrl-R", "x" to `out`, of KEY_NAME_SIZE bytes. Returns `out`. */
char *key_spelling(uint32_t key, char *out);
/* Does the same for a footer, with arrows as glyphs. */
char *key_symbol(uint32_t key, char *out);
/* Returns the key with a name from key_spelling(), 0 for an unknown one. */
uint32_t key_from_name(const char *name);

/* ---- names of actions -------------------------------------------------------------------- */

/* Returns "page-down" for ACTION_PAGE_DOWN, "none" for ACTION_NONE, NULL if no key asks for it. */
const char *action_name(enum action action);
/* Finds the action with a name. Returns false if there is none. */
bool action_from_name(const char *name, enum action *action);

/* ---- bindings ---------------------------------------------------------------------------- */

/* Keys and their actions. A view has a table of its own keys; the table of shared keys serves all.
 * A view's binding may explain a shared key in the view's own words, with the same action. Footer,
 * help screen and man page are made from these tables. */

#define KEYS_MOST 3
struct key_binding {
    enum action action;
    const char *description;  /* for help and man page */
    uint32_t keys[KEYS_MOST]; /* 0 ends */
    unsigned views;           /* shared keys: enum view_set, or'ed; 0 in a view's own table */
    const char *footer_keys;  /* the keys as the footer shows them; NULL: the first one */
    const char *footer;       /* a word for the footer; NULL: the footer leaves it out */
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

/* Returns the binding of a view after `binding` (NULL: the first one), NULL after the last. Its own
 * ones come first, then the shared ones that it does not explain itself. */
const struct key_binding *key_binding_next(const struct key_table *own, enum view_number view,
                                           const struct key_binding *binding);
/* Does the same and returns the action, ACTION_NONE if the key has none. */
enum action key_action(const struct key_table *own, enum view_number view, uint32_t key);
/* Stores the keys that ask for a binding in a view, the user's own first. Returns their number. */
#define KEYS_SHOWN 8
size_t key_binding_keys(const struct key_table *own, enum view_number view,
                        const struct key_binding *binding, uint32_t out[KEYS_SHOWN]);
/* Returns true if the user has changed them. */
bool key_binding_is_changed(const struct key_table *own, enum view_number view,
                            const struct key_binding *binding);

/* ---- the user's own keys ----------------------------------------------------------------- */

/* The keys that the user has bound, in the whole program. They come before those of the
 * tables: a key of one view before a key of all views. A key of all views only counts in a view
 * that knows its action; in others it keeps its meaning. */

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
