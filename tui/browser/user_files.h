/* SPDX-License-Identifier: BSD-2-Clause */
/* The user's files: the configuration, and what the browser leaves behind from one run to the next.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "session/graphs.h"
#include "session/session.h"
#include "tui/screen/action.h"
#include "tui/screen/table.h"

/* ---- the first run ----------------------------------------------------------------------- */

/* Returns true if this is the first run: there is no file $XDG_STATE_HOME/mprof/browsed
 * (~/.local/state/mprof/browsed). Makes it. Without a folder to write, no run is. */
bool first_run(void);

/* ---- the clipboard's file ---------------------------------------------------------------- */

/* A file with the text that was copied last: not every terminal lets programs fill its clipboard.
 */

/* Writes the text to $XDG_STATE_HOME/mprof/copied.txt (~/.local/state/mprof/copied.txt), in place
 * of what was there. Stores the path as a message shows it, with ~ for the home folder. Returns
 * false if there is no such folder, or it cannot be written. */
bool copied_file_write(const char *text, char *path, size_t size);

/* ---- configuration ----------------------------------------------------------------------- */

/* The user's configuration of the browser: $XDG_CONFIG_HOME/mprof/tui.conf, or
 * ~/.config/mprof/tui.conf. It is text. Each line is empty, a comment that begins with '#', or one
 * of
 *
 *   theme NAME               the theme, unless --theme names another
 *   hide WORD                a namespace, class, module or function that is not the user's own code
 *   key KEY ACTION [VIEW]    binds a key, in all views or in one; the action none unbinds it
 *
 * docs/browser.md describes it for users. */

#define CONFIG_ERROR_SIZE 512

/* Reads the file and puts it in force: theme, hidden words for the sessions that are opened later,
 * keys. `*themed` becomes true if it names a theme. A file that is not there is no error. Returns
 * false with one line in `error` (file, line, what was expected) about the first line that is
 * wrong; all other lines hold. */
bool config_load(bool *themed, char error[CONFIG_ERROR_SIZE]);

/* Writes a configuration that changes nothing: each line with what holds without it, as a comment.
 */
void config_print(FILE *out);

/* ---- the state of a session's views ------------------------------------------------------ */

/* Keeps the state of a session's views from one run to the next: view, filter, colouring, moment,
 * range, selected allocation, the choice of each view that has one (view_ops.chosen), and the order
 * and selected row of each list. It lies in the user's folder, in a file of text that is named
 * after the session's identity: a copy of a session, and one that is ingested again, go on where
 * the first one was left.
 *
 * Call kept_state_read() before browser_new(), which gets it in its options, and kept_state_write()
 * at the end. */

struct browser;

struct kept_state {
    bool found;
    char *filter;     /* parses in the session, or NULL */
    const char *view; /* a view's name, or NULL */
    enum session_color_by color_by;
    bool has_moment, has_range;
    uint64_t moment_ns, from_ns, to_ns;
    uint64_t allocation; /* 0: none */
    struct {
        bool known;
        struct table_order order;
        char *choice; /* or NULL */
    } lists[VIEWS];
};

#define KEPT_STATE_NOTE 256

/* Reads the state. Without a file `found` stays false. A file that is damaged, or of another
 * version, gives no state and one line in `note`; so does a filter that does not parse any more,
 * and the rest counts. kept_state_clear() it. */
void kept_state_read(struct session *session, struct kept_state *state, char note[KEPT_STATE_NOTE]);
void kept_state_clear(struct kept_state *state);
/* Puts all but view and filter in force in a browser that has shown nothing so far. */
void kept_state_apply(const struct kept_state *state, struct browser *browser);
/* Writes the browser's state. Returns false with one line in `note` if that is impossible. */
bool kept_state_write(const struct browser *browser, char note[KEPT_STATE_NOTE]);

/* ---- options for saved filters and settings, which need no terminal -------------------------- */

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

/* Runs a task. `session` NULL: there is only the user's folder. `name` is that of the graph or of
 * the file to import, the text to run, or the setting. A line for the user that is not an error
 * goes to `note` (empty: none). Returns false with `error` set. */
bool stored_graphs_run(struct session *session, enum stored_graphs_task task, const char *name,
                       FILE *out, char note[1024], struct session_error *error);
