/* SPDX-License-Identifier: BSD-2-Clause */
/* Filter graphs under a name, and settings. Both lie in tables of the session or in the user's
 * folder, $XDG_CONFIG_HOME/mprof (~/.config/mprof); some graphs ship with the program.
 *
 * A graph's text is `{ NAME(PARAMETERS) = pipeline ; } [ pipeline ]`. If it ends in a pipeline,
 * that is the graph. If not, its last definition has the graph's own name, and its parameters are
 * the graph's. Lines at the beginning that begin with `#` describe it.
 *
 * The session's own connection only reads. Changes of the session use another one for a moment.
 * They are refused while the session is still being recorded. All functions may be called from any
 * thread, between session_open() and session_close(). If a session is NULL, there is only the
 * user's folder. */
#pragma once

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

/* Stores all graphs, ordered by name and place; session_graphs_free() them. `session` may be NULL.
 * Returns false with `error` set. An unreadable folder is not a failure: `error` then says why, and
 * the other places are listed. */
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

/* Checks the name and the text and stores the graph. `session` may be NULL. False with `error` set:
 * a bad name, a filter that does not parse (with its column), no place to write. */
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

/* Puts the stored settings in force (session_set_user_code() has the conditions). session_open()
 * does it; call it again after a change. If the session and the folder disagree about a word, the
 * session's setting counts. Returns false with `error` set: what was in force stays. */
bool session_settings_apply(struct session *session, struct session_error *error);

/* Hides a word in all sessions that this process opens from now on, as a SESSION_HIDE of the folder
 * would, but stores nothing. A stored setting of another kind about the word comes first. Returns
 * false with `error` set if the word could not be stored, either. Call it before other threads open
 * sessions. */
bool session_hide_always(const char *word, struct session_error *error);

/* Stores a setting. One that is there already is not an error. */
bool session_setting_store(struct session *session, enum session_setting_kind kind,
                           const char *value, struct session_storing *storing,
                           struct session_error *error);
bool session_setting_delete(struct session *session, enum session_place place,
                            enum session_setting_kind kind, const char *value,
                            struct session_error *error);

/* ---- diagram ---- */

/* A filter graph as a diagram: boxes, each with one output, and lines from outputs to inputs. A box
 * is a set ("live at peak"), a step ("where size > 1K") or an operator that joins two sets ("-").
 * Text and diagram are two forms of one graph: reading a text and writing it again gives a graph of
 * the same result. A graph's name that a text defines is a set there, and the definitions stay as
 * text.
 *
 * The output of a box goes to one input or to several. In the text it is then there several times:
 * parts of it that are the same are one box, except sets. A box comes after its inputs, and the
 * last one is the result. */

enum session_box_kind {
    SESSION_BOX_SET,
    SESSION_BOX_STEP,    /* has one input */
    SESSION_BOX_COMBINE, /* "+", "-" or "&": has two */
};

struct session_box {
    enum session_box_kind kind;
    char *text;      /* its own part of the graph, without '|' */
    size_t input[2]; /* the first 0, 1 or 2 are boxes */
};

#define SESSION_BOXES_MAX 200

struct session_diagram {
    struct session_box *boxes;
    size_t count;
    char *definitions; /* the text before the graph, with its last ';'; "" if there is none */
};

/* Reads a text that parses (session_filter_check()). session_diagram_clear() the diagram. Returns
 * false with `error` set: more than SESSION_BOXES_MAX boxes, no memory, a text that does not parse.
 */
bool session_diagram_read(struct session_diagram *diagram, const char *text,
                          struct session_error *error);
void session_diagram_clear(struct session_diagram *diagram);

/* Returns the number of inputs of a box. */
size_t session_box_inputs(const struct session_box *box);
/* Returns the graph that ends at a box, with the definitions, for free(), or NULL. */
char *session_diagram_text(const struct session_diagram *diagram, size_t box);

/* Finds the name of the graph that a box uses: "grown" of "grown(1s, 2s)". Returns false if the box
 * is no such set. */
bool session_diagram_name(const struct session_diagram *diagram, size_t box, char *out,
                          size_t size);
/* Returns true if the diagram's own definitions give the name its meaning. */
bool session_diagram_defines(const struct session_diagram *diagram, const char *name);

/* Returns the text of the whole graph in which the boxes of a graph take the place of the box that
 * uses it by its name, malloc()ed. `stored` is the text of that graph; it counts unless the
 * diagram's own definitions have the name. Returns NULL with `error` set if the use has other
 * parameters, a name that the graph defines means something else in the diagram, or there is no
 * memory. The caller checks the text. */
char *session_diagram_opened(const struct session_diagram *diagram, size_t box, const char *stored,
                             struct session_error *error);

/* Returns true if a line from the output of `from` to an input of `to` would close a circle: `to`
 * feeds `from`, or is it. */
bool session_diagram_circles(const struct session_diagram *diagram, size_t from, size_t to);

/* Returns the text of the whole graph in which an operator joins the output of `to`, first, and
 * that of `from`, malloc()ed; NULL if there is no memory. */
char *session_diagram_joined(const struct session_diagram *diagram, size_t from, size_t to,
                             char operator_);

/* Return the text of the whole graph after a change, malloc()ed, NULL if there is no memory. The
 * diagram stays as it is. The caller checks the text.
 * - replaced: the box has another text;
 * - inserted: a step, or an operator and a set ("- live at end"), works on the box's output;
 * - removed: a step gives way to its input, an operator to its first input; a set becomes `all`;
 * - swapped: the inputs of an operator change places;
 * - wired: the output of the box `from` goes to an input of `to`, in place of what went there. The
 *   caller has ruled out a circle. */
char *session_diagram_replaced(const struct session_diagram *diagram, size_t box, const char *text);
char *session_diagram_inserted(const struct session_diagram *diagram, size_t box, const char *text);
char *session_diagram_removed(const struct session_diagram *diagram, size_t box);
char *session_diagram_swapped(const struct session_diagram *diagram, size_t box);
char *session_diagram_wired(const struct session_diagram *diagram, size_t from, size_t to,
                            size_t input);

/* ---- user folder ---- */

/* The user's folder: $XDG_CONFIG_HOME/mprof, or ~/.config/mprof. Folders and files are the user's
 * alone (0700, 0600). No symbolic link in it is followed, and only regular files are read, replaced
 * and removed. A file is written under another name and gets its own when it is whole. */

/* Opens the folder itself, or `below` in it if that is not NULL. Makes them if `make` is set.
 * Returns a descriptor for close(), or -1: with `make` clear and nothing there, `error` stays
 * empty, otherwise it says why. */
int user_folder_open(const char *below, bool make, struct session_error *error);

/* Returns the text of a file, at most `limit` bytes; free() it. NULL: `error` is empty if there is
 * no such file, otherwise it says why. */
char *user_file_read(int folder, const char *name, size_t limit, struct session_error *error);

enum user_file_result { USER_FILE_DONE, USER_FILE_EXISTS, USER_FILE_ABSENT, USER_FILE_FAILED };
/* These set `error` only for USER_FILE_FAILED. */
enum user_file_result user_file_write(int folder, const char *name, const char *text, bool replace,
                                      struct session_error *error);
enum user_file_result user_file_rename(int folder, const char *from, const char *to,
                                       struct session_error *error);
enum user_file_result user_file_remove(int folder, const char *name, struct session_error *error);

/* Visits the names of the files in the folder until visit() returns false. Returns false with
 * `error` set if the folder cannot be read. */
bool user_folder_each(int folder, bool (*visit)(void *context, const char *name), void *context,
                      struct session_error *error);
