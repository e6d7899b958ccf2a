/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands typed after a colon. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct browser;

/* The words that an argument is completed from. */
enum argument_kind {
    ARGUMENT_NONE,
    ARGUMENT_VIEW,
    ARGUMENT_COLOR,
    ARGUMENT_STACKING,
    ARGUMENT_THEME,
    ARGUMENT_MOMENT,
    ARGUMENT_PROCESS,
    ARGUMENT_FUNCTION,
    ARGUMENT_FILE,
    ARGUMENT_GRAPH,
    ARGUMENT_FILTER,
};

struct command {
    const char *name, *argument; /* argument: its name in the help, "" for none */
    enum argument_kind kind;
    bool whole; /* the name cannot be shortened: a view's name begins in the same way */
    const char *description;
    void (*run)(struct browser *browser, const char *argument);
};

/* Returns the table, for help and man page. */
const struct command *command_table(size_t *count);
/* Returns the command that a word means, its name or the beginning of no other one, or NULL. */
const struct command *command_find(const char *word, size_t length);
/* Runs a line: a command with its argument, or the name of a view. */
void command_run(struct browser *browser, const char *line);

/* Writes what the active filter selects as a session of its own (:w FILE.db). The engine does it
 * while the keys go on. Views that lack something wait until it is done. Esc gives it up. */
/* Says how far it is, or that it has ended. */
void save_session_look(struct browser *browser);
/* Gives it up. Returns false if none is being written. */
bool save_session_give_up(struct browser *browser);
