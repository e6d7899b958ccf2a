/* SPDX-License-Identifier: BSD-2-Clause */
/* The stored graphs as rows of a table. They lie in files and tables: the engine's thread reads
 * them. */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/theme.h"
#include "tui/view/graphs/graphs.h"

struct list_data {
    uint64_t request[2]; /* renewals, stores */
    struct session_graph *graphs;
    size_t count;
    char problem[200];
};

static bool run_list(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct list_data *list = data;
    struct session_error problem = {.message = ""};
    (void)selection;
    if (!session_graphs(session, &list->graphs, &list->count, &problem)) {
        *error = problem;
        return false;
    }
    snprintf(list->problem, sizeof(list->problem), "%.190s", problem.message);
    return true;
}

static void clear_list(void *data)
{
    struct list_data *list = data;
    session_graphs_free(list->graphs, list->count);
}

void graphs_load_list(struct graphs *graphs, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct list_data *)0)->request),
                                          sizeof(struct list_data), run_list, clear_list};
    const uint64_t request[2] = {exploration->renewals, graphs->stores};
    struct list_data *list = exploration_get(exploration, &graphs->list_load, &kind, request);
    graphs->list = list ? list->graphs : NULL;
    graphs->list_count = list ? list->count : 0;
    if (list && list->problem[0]) {
        exploration_complain(exploration, "%s", list->problem);
        list->problem[0] = 0;
    }
}

static const struct table_column columns[] = {
    {.title = "graph", .width = 16, .text = true, .keep = true, .unsorted = true},
    {.title = "place",
     .width = 11,
     .text = true,
     .least_width = 50,
     .unsorted = true,
     .file = "stored_in"},
    {.title = "what it selects",
     .text = true,
     .keep = true,
     .unsorted = true,
     .file = "description"},
};

static void cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct graphs *graphs = context;
    const struct session_graph *graph = &graphs->list[row];
    if (column == 1)
        snprintf(cell->text, sizeof(cell->text), "%s", session_place_name(graph->place));
    else if (column == 2)
        cell->name = graph->about[0] ? graph->about : graph->text;
    else
        cell->name = graph->name;
    cell->styled = graph->hidden;
    cell->style = theme_style(THEME_FAINT);
}

static uint64_t key(void *context, size_t row)
{
    const struct graphs *graphs = context;
    uint64_t hash = (uint64_t)graphs->list[row].place + 1;
    for (const char *at = graphs->list[row].name; *at; at++)
        hash = hash * 31 + (unsigned char)*at;
    return hash;
}

struct table_source graphs_list_source(const struct graphs *graphs)
{
    return (struct table_source){.context = (void *)graphs,
                                 .columns = columns,
                                 .column_count = sizeof(columns) / sizeof(columns[0]),
                                 .rows = graphs->list_count,
                                 .cell = cell,
                                 .key = key};
}

const struct session_graph *graphs_selected(const struct graphs *graphs)
{
    return graphs->table.selected < graphs->list_count ? &graphs->list[graphs->table.selected]
                                                       : NULL;
}

bool graphs_use(const struct session_graph *graph, char *out, size_t size)
{
    const size_t length = strlen(graph->name);
    snprintf(out, size, "%s", graph->name);
    /* The definition with the graph's own name is the last one. */
    for (const char *at = graph->text; (at = strstr(at, graph->name)); at += length) {
        const char *after = at + length;
        const char *close = *after == '(' ? strchr(after, ')') : NULL;
        if (!close || close[1 + strspn(close + 1, " \n\t")] != '=')
            continue;
        snprintf(out, size, "%.*s", (int)(close + 1 - at), at);
        return true;
    }
    return false;
}
