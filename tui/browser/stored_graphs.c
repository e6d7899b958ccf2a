/* SPDX-License-Identifier: BSD-2-Clause */
#include "tui/browser/stored_graphs.h"

#include <string.h>

#include "tui/screen/cells.h"

/* Prints text from a file in its printable form, padded to a width. */
static void put_cell(FILE *out, const char *text, int width)
{
    char shown[4 * SESSION_GRAPH_NAME_MAX + 1];
    session_printable(shown, sizeof(shown), text);
    const int left = width - text_width(shown);
    fprintf(out, "%s%*s", shown, left > 0 ? left : 0, "");
}

static bool list(struct session *session, FILE *out, char note[1024], struct session_error *error)
{
    struct session_graph *graphs;
    size_t count;
    int width = 0;
    struct session_error problem = {.message = ""};
    if (!session_graphs(session, &graphs, &count, &problem)) {
        *error = problem;
        return false;
    }
    snprintf(note, 1024, "%s", problem.message);
    for (size_t i = 0; i < count; i++) {
        const int own = text_width(graphs[i].name);
        width = own > width ? own : width;
    }
    for (size_t i = 0; i < count; i++) {
        char about[1024];
        put_cell(out, graphs[i].name, width + 2);
        put_cell(out, session_place_name(graphs[i].place), 13);
        session_printable(about, sizeof(about), graphs[i].about);
        fprintf(out, "%s%s\n", graphs[i].hidden ? "(not used) " : "", about);
    }
    session_graphs_free(graphs, count);
    return true;
}

/* Prints the text. It has no control characters: others are neither stored nor read. */
static bool export(struct session *session, const char *name, FILE *out,
                   struct session_error *error)
{
    struct session_graph graph;
    if (!session_graph_find(session, name, &graph, error))
        return false;
    const size_t length = strlen(graph.whole);
    fprintf(out, "%s%s", graph.whole, length > 0 && graph.whole[length - 1] == '\n' ? "" : "\n");
    session_graph_clear(&graph);
    return true;
}

static bool import(struct session *session, const char *path, char note[1024],
                   struct session_error *error)
{
    struct session_storing storing = {.place =
                                          session ? SESSION_PLACE_SESSION : SESSION_PLACE_FOLDER};
    if (!session_graph_import(session, path, &storing, error))
        return false;
    if (storing.note[0] != '\0')
        snprintf(note, 1024, "%s; the graph is stored in your folder", storing.note);
    return true;
}

static bool delete_one(struct session *session, const char *name, struct session_error *error)
{
    struct session_graph graph;
    if (!session_graph_find(session, name, &graph, error))
        return false;
    const enum session_place place = graph.place;
    session_graph_clear(&graph);
    return session_graph_delete(session, place, name, error);
}

static bool rename_one(struct session *session, const char *names, struct session_error *error)
{
    char from[SESSION_GRAPH_NAME_MAX + 1];
    struct session_graph graph;
    const char *to = strchr(names, '=');
    if (!to || to == names || (size_t)(to - names) > SESSION_GRAPH_NAME_MAX) {
        *error = (struct session_error){.message = "expected OLD=NEW, the names of a graph"};
        return false;
    }
    snprintf(from, sizeof(from), "%.*s", (int)(to - names), names);
    if (!session_graph_find(session, from, &graph, error))
        return false;
    const enum session_place place = graph.place;
    session_graph_clear(&graph);
    return session_graph_rename(session, place, from, to + 1, error);
}

bool stored_graphs_run(struct session *session, enum stored_graphs_task task, const char *name,
                       FILE *out, char note[1024], struct session_error *error)
{
    note[0] = '\0';
    switch (task) {
    case STORED_GRAPHS_LIST:
        return list(session, out, note, error);
    case STORED_GRAPHS_EXPORT:
        return export(session, name, out, error);
    case STORED_GRAPHS_IMPORT:
        return import(session, name, note, error);
    case STORED_GRAPHS_DELETE:
        return delete_one(session, name, error);
    case STORED_GRAPHS_RENAME:
        return rename_one(session, name, error);
    case STORED_GRAPHS_RUN:
    case STORED_GRAPHS_RUN_ALL:
        return stored_graphs_run_text(session, name, task == STORED_GRAPHS_RUN_ALL, out, note,
                                      error);
    case STORED_SETTINGS_LIST:
        return stored_settings_list(session, out, error);
    case STORED_SETTINGS_ADD:
        return stored_settings_add(session, name, note, error);
    case STORED_SETTINGS_DELETE:
        return stored_settings_delete(session, name, error);
    case STORED_GRAPHS_NONE:
        break;
    }
    return true;
}
