/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of mprof-tui for saved filters and settings, which need no terminal. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "session/graphs.h"

enum stored_graphs_task {
    STORED_GRAPHS_NONE,
    STORED_GRAPHS_LIST,    /* prints all with their places and descriptions */
    STORED_GRAPHS_EXPORT,  /* prints the text of one */
    STORED_GRAPHS_IMPORT,  /* stores the file NAME.graph */
    STORED_GRAPHS_DELETE,  /* of the session, or of the folder if the session has none */
    STORED_GRAPHS_RENAME,  /* the same one; a text OLD=NEW */
    STORED_GRAPHS_RUN,     /* runs a text, which may write files, and prints its result */
    STORED_GRAPHS_RUN_ALL, /* so may the saved filters that it uses */
    STORED_SETTINGS_LIST,
    STORED_SETTINGS_ADD,    /* a text KIND VALUE */
    STORED_SETTINGS_DELETE, /* of the session, or of the folder if there is no session */
};

/*
 * Runs a task. `session` NULL: there is only the user's folder. `name` is that of the graph or of
 * the file to import, the text to run, or the setting. A line for the user that is not an error
 * goes to `note` (empty: none). Returns false with `error` set.
 */
bool stored_graphs_run(struct session *session, enum stored_graphs_task task, const char *name,
                       FILE *out, char note[1024], struct session_error *error);
