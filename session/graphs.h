/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Filter graphs under a name, and settings. Both lie in tables of the session or in the user's
 * folder, $XDG_CONFIG_HOME/mprof (~/.config/mprof); some graphs ship with the program.
 *
 * A graph's text is `{ NAME(PARAMETERS) = pipeline ; } [ pipeline ]`. If it ends in a pipeline,
 * that is the graph. If not, its last definition has the graph's own name, and its parameters are
 * the graph's. Lines at the beginning that begin with `#` describe it.
 *
 * The session's own connection only reads. Changes of the session use another one for a moment.
 * They are refused while the session is still being recorded. All functions may be called from any
 * thread, between session_open() and session_close(). If a session is NULL, there is only the
 * user's folder.
 */
#ifndef MPROF_SESSION_GRAPHS_H
#define MPROF_SESSION_GRAPHS_H

#include <stdbool.h>
#include <stddef.h>

#include "session/session.h"

/* Limits in bytes, without the NUL. Larger texts are neither stored nor read. */
#define SESSION_GRAPH_NAME_MAX 64
#define SESSION_GRAPH_TEXT_MAX 65536
#define SESSION_SETTING_MAX 256
/* The most graphs of one place, and the most settings. */
#define SESSION_GRAPHS_MAX 1000

/* The places, in the order in which a name is looked for. */
enum session_place { SESSION_PLACE_SESSION, SESSION_PLACE_FOLDER, SESSION_PLACE_SHIPPED };
/* Returns "session", "your folder" or "shipped". */
const char *session_place_name(enum session_place place);

/* ---- graphs ----------------------------------------------------------------------------- */

struct session_graph {
    char *name;
    char *text;  /* without the lines that describe it */
    char *about; /* its first line of description, "": none */
    char *whole; /* the text with all of these lines, as it was stored */
    enum session_place place;
    bool hidden; /* a graph of the same name in an earlier place is used */
};

/*
 * Stores all graphs, ordered by name and place; session_graphs_free() them. `session` may be NULL.
 * Returns false with `error` set. An unreadable folder is not a failure: `error` then says why, and
 * the other places are listed.
 */
bool session_graphs(struct session *session, struct session_graph **graphs, size_t *count,
                    struct session_error *error);
void session_graphs_free(struct session_graph *graphs, size_t count);

/* Finds the graph that the name means. session_graph_clear() it. `session` may be NULL. Returns
 * false with `error` set if there is none. */
bool session_graph_find(struct session *session, const char *name, struct session_graph *graph,
                        struct session_error *error);
void session_graph_clear(struct session_graph *graph);

/* The way to store something, and what became of it. */
struct session_storing {
    enum session_place place; /* SESSION: the folder if the session cannot be written */
    bool replace;             /* something of the same name in that place */
    enum session_place stored;
    char note[512]; /* why it was not stored in the session; "": it was, or not asked for */
};

/*
 * Checks the name and the text and stores the graph. `session` may be NULL. Returns false with
 * `error` set: a bad name, a filter that does not parse (with its column), or no place that can be
 * written.
 */
bool session_graph_store(struct session *session, const char *name, const char *text,
                         struct session_storing *storing, struct session_error *error);
/* Renames a graph of the session or the folder. Never replaces another one. */
bool session_graph_rename(struct session *session, enum session_place place, const char *from,
                          const char *to, struct session_error *error);
bool session_graph_delete(struct session *session, enum session_place place, const char *name,
                          struct session_error *error);

/* Stores the file NAME.graph under NAME. */
bool session_graph_import(struct session *session, const char *path,
                          struct session_storing *storing, struct session_error *error);

/* Returns true if the name can be given to a graph. Returns false with `error` set. */
bool session_graph_name_check(const char *name, struct session_error *error);

/* ---- settings --------------------------------------------------------------------------- */

enum session_setting_kind {
    SESSION_HIDE,    /* a module's file name or the first part of function names: not own code */
    SESSION_SHOW,    /* a word of the default list that is own code here */
    SESSION_WRAPPER, /* a function: its frames are not call sites */
    SESSION_SOURCE,  /* FROM=TO: source files that were under FROM are under TO here */
};
/* Returns "hide", "show", "wrapper" or "source". */
const char *session_setting_name(enum session_setting_kind kind);

struct session_setting {
    enum session_setting_kind kind;
    enum session_place place;
    char *value;
};

/* Stores all settings, those of the session first; session_settings_free() them. `session` may be
 * NULL. Returns false with `error` set. */
bool session_settings(struct session *session, struct session_setting **settings, size_t *count,
                      struct session_error *error);
void session_settings_free(struct session_setting *settings, size_t count);

/*
 * Puts the stored settings in force (session_set_user_code() has the conditions). session_open()
 * does it; call it again after a change. If the session and the folder disagree about a word, the
 * session's setting counts. Returns false with `error` set: what was in force stays.
 */
bool session_settings_apply(struct session *session, struct session_error *error);

/*
 * Hides a word in all sessions that this process opens from now on, as a SESSION_HIDE of the
 * folder would, but stores nothing. A stored setting of another kind about the word comes first.
 * Returns false with `error` set if the word could not be stored, either. Call it before other
 * threads open sessions.
 */
bool session_hide_always(const char *word, struct session_error *error);

/* Stores a setting. One that is there already is not an error. */
bool session_setting_store(struct session *session, enum session_setting_kind kind,
                           const char *value, struct session_storing *storing,
                           struct session_error *error);
bool session_setting_delete(struct session *session, enum session_place place,
                            enum session_setting_kind kind, const char *value,
                            struct session_error *error);

#endif
