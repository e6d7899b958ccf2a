/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of actions, by which a user binds keys to them. */
#ifndef MPROF_TUI_KEYS_ACTION_NAMES_H
#define MPROF_TUI_KEYS_ACTION_NAMES_H

#include <stdbool.h>

#include "tui/keys/action.h"

/* Returns "page-down" for ACTION_PAGE_DOWN, "none" for ACTION_NONE; NULL for an action that no key
 * can ask for. */
const char *action_name(enum action action);
/* Finds the action with a name. Returns false if there is none. */
bool action_from_name(const char *name, enum action *action);

#endif
