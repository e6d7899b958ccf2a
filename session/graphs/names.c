/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/graphs/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "session/graphs.h"

struct graph_names {
    struct filter_names names;
    struct session *session;
    pthread_mutex_t mutex; /* of the list, which known() walks for several threads */
    struct session_graph *graphs;
    size_t count;
};

static char *find(void *context, const char *name, const char **origin)
{
    const struct graph_names *names = context;
    struct session_graph graph;
    if (!session_graph_find(names->session, name, &graph, NULL))
        return NULL;
    char *text = graph.text;
    graph.text = NULL;
    *origin = session_place_name(graph.place);
    session_graph_clear(&graph);
    return text;
}

static char *known(void *context, size_t n)
{
    struct graph_names *names = context;
    pthread_mutex_lock(&names->mutex);
    if (n == 0) {
        session_graphs_free(names->graphs, names->count);
        session_graphs(names->session, &names->graphs, &names->count, NULL);
    }
    char *name = n < names->count ? strdup(names->graphs[n].name) : NULL;
    pthread_mutex_unlock(&names->mutex);
    return name;
}

struct filter_names *graph_names_new(struct session *session)
{
    struct graph_names *names = calloc(1, sizeof(*names));
    if (!names)
        return NULL;
    names->names = (struct filter_names){.context = names, .find = find, .known = known};
    names->session = session;
    pthread_mutex_init(&names->mutex, NULL);
    return &names->names;
}

void graph_names_free(struct filter_names *filter_names)
{
    if (!filter_names)
        return;
    struct graph_names *names = filter_names->context;
    session_graphs_free(names->graphs, names->count);
    pthread_mutex_destroy(&names->mutex);
    free(names);
}
