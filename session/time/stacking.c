/* SPDX-License-Identifier: BSD-2-Clause */
/* Stacks a selection by any groups. The groups get colours, the largest ones each their own, and a
 * second selection has the rows with these colours. Its colouring "by the filter's own colours" is
 * then the stacking, and timelines and legends need nothing new. */
#include "session/stacking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/store/error.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/group_set.h"
#include "session/table/selection_state.h"

enum { NAMED = SESSION_COLORS - 1 };

/* ---- what the user means ---- */

static bool is_groups(const char *by)
{
    return strcmp(by, SESSION_STACKING_GROUPS) == 0;
}

static bool find_coloring(const char *by, enum session_color_by *found)
{
    for (int i = 0; i <= FIELD_PATH; i++) {
        if (filter_fields[i].color_by < 0 || strcmp(filter_fields[i].name, by) != 0)
            continue;
        *found = (enum session_color_by)filter_fields[i].color_by;
        return true;
    }
    return false;
}

bool session_stacking_check(const struct session *session, const char *filter, const char *by,
                            struct session_error *error)
{
    enum session_color_by coloring;
    if (find_coloring(by, &coloring))
        return true;
    struct filter_graph *graph = is_groups(by)
                                     ? filter_parse_named(filter, session->graph_names, error)
                                     : fields_parse(by, error);
    const bool good =
        graph && (!is_groups(by) || filter_graph_pipeline(graph)->kind == KIND_GROUPS ||
                  session_fail(error, 0, "the filter makes no groups: join a field"));
    filter_graph_free(graph);
    return good;
}

void session_stacking_fields(session_visit_word *visit, void *context)
{
    struct session_error error;
    for (int i = 0; i < FIELD_PATH; i++) {
        const char *name = filter_fields[i].name;
        struct filter_graph *graph =
            filter_fields[i].color_by < 0 ? fields_parse(name, &error) : NULL;
        const bool good = graph || filter_fields[i].color_by >= 0;
        filter_graph_free(graph);
        if (good && !visit(context, name, false))
            return;
    }
}

/* ---- the largest groups ---- */

/* A group, for ranking: as a legend ranks its categories. */
struct ranked {
    size_t row;
    uint64_t at_peak_bytes, bytes, allocations;
};

static bool is_larger(const struct ranked *a, const struct ranked *b)
{
    if (a->at_peak_bytes != b->at_peak_bytes)
        return a->at_peak_bytes > b->at_peak_bytes;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    return a->allocations > b->allocations;
}

/* The sums of the layers, by legend position. */
struct layers {
    struct ranked largest[NAMED + 1]; /* one more, for the insertion */
    size_t named, groups;
    uint64_t rest_bytes, rest_allocations;
};

static void add_group(struct layers *layers, const struct ranked *group)
{
    size_t at = layers->named;
    while (at > 0 && is_larger(group, &layers->largest[at - 1])) {
        layers->largest[at] = layers->largest[at - 1];
        at--;
    }
    layers->largest[at] = *group;
    layers->groups++;
    if (layers->named < NAMED) {
        layers->named++;
        return;
    }
    layers->rest_bytes += layers->largest[NAMED].bytes;
    layers->rest_allocations += layers->largest[NAMED].allocations;
}

static bool rank_groups(struct session_group_set *groups, struct layers *layers,
                        struct session_error *error)
{
    *layers = (struct layers){.named = 0};
    if (!session_groups_prepare(groups, 1u << MEASURE_AT_PEAK_BYTES, error))
        return false;
    for (size_t row = 0; row < session_groups_count(groups); row++) {
        struct ranked group = {.row = row};
        if (!session_group_value(groups, row, MEASURE_AT_PEAK_BYTES, &group.at_peak_bytes, error) ||
            !session_group_value(groups, row, MEASURE_BYTES, &group.bytes, error) ||
            !session_group_value(groups, row, MEASURE_ALLOCATIONS, &group.allocations, error))
            return false;
        add_group(layers, &group);
    }
    return true;
}

/* ---- labels ---- */

/* Returns the pid of a process by its row, 0 if it is not known. */
static int64_t pid_of(const struct session *session, uint64_t id)
{
    const struct session_process *processes;
    const size_t count = session_processes(session, &processes);
    return id > 0 && id <= count ? processes[id - 1].pid : 0;
}

/* Writes a key that is an id: two of one name get different labels. */
static void label_id(const struct session *session, const char *field,
                     const struct session_group_key *key, char *out, size_t size)
{
    const char *text = key->text ? key->text : "?";
    if (strcmp(field, "thread") == 0 || strcmp(field, "free_thread") == 0)
        snprintf(out, size, "%s", session_thread_label(session, (uint32_t)key->id));
    else if (strcmp(field, "process") == 0)
        snprintf(out, size, "%s %lld", text, (long long)pid_of(session, key->id));
    else
        snprintf(out, size, "%s #%llu", text, (unsigned long long)key->id);
}

/* Writes one key of a group. Numbers and truths say of what they are. */
static void label_key(const struct session *session, const struct session_group_set *groups,
                      size_t row, size_t number, const struct session_key_column *column, char *out,
                      size_t size)
{
    const struct session_group_key key = session_group_key(groups, row, number);
    if (key.is_null) {
        snprintf(out, size, "no %s", column->name);
    } else if (column->type == KEY_ID) {
        label_id(session, column->name, &key, out, size);
    } else if (column->type == KEY_TRUTH) {
        snprintf(out, size, "%s%s", key.id ? "" : "not ", column->name);
    } else {
        const bool named = column->type == KEY_TEXT || column->type == KEY_PATH;
        const size_t length = named ? 0 : (size_t)snprintf(out, size, "%s ", column->name);
        if (length < size)
            session_group_key_text(groups, row, number, out + length, size - length);
    }
}

static void label_group(const struct session *session, const struct session_group_set *groups,
                        size_t row, char *out, size_t size)
{
    const struct session_key_column *columns;
    const size_t count = session_groups_keys(groups, &columns);
    size_t length = 0;
    for (size_t i = 0; i < count && length + sizeof(SESSION_STACKING_BETWEEN) < size; i++) {
        if (i > 0)
            length += (size_t)snprintf(out + length, size - length, SESSION_STACKING_BETWEEN);
        label_key(session, groups, row, i, &columns[i], out + length, size - length);
        length += strlen(out + length);
    }
}

/* ---- the second selection ---- */

static struct color_map *make_map(const struct session *session,
                                  const struct session_group_set *groups,
                                  const struct layers *layers)
{
    struct color_map *map = calloc(1, sizeof(*map));
    if (!map)
        return NULL;
    *map = (struct color_map){.by = SESSION_COLOR_NONE,
                              .column = COLUMN_SIZE,
                              .categories = FILTER_COLOR_STEPS + 1,
                              .age_step_ns = 1};
    map->position = malloc(FILTER_COLOR_STEPS + 1);
    map->of_category = malloc(FILTER_COLOR_STEPS + 1);
    if (!map->position || !map->of_category) {
        color_map_free(map);
        return NULL;
    }
    /* Colours count from 1. The one after those with a name is that of all other groups. */
    for (size_t color = 0; color <= FILTER_COLOR_STEPS; color++)
        map->position[color] = (uint8_t)(color > 0 && color <= NAMED ? color - 1 : NAMED);
    memcpy(map->of_category, map->position, FILTER_COLOR_STEPS + 1);
    map->legend.count = layers->groups > NAMED ? SESSION_COLORS : layers->named;
    for (size_t i = 0; i < map->legend.count; i++) {
        map->legend.entry[i].color = -1;
        map->legend.entry[i].bytes = i < NAMED ? layers->largest[i].bytes : layers->rest_bytes;
        map->legend.entry[i].allocations =
            i < NAMED ? layers->largest[i].allocations : layers->rest_allocations;
        if (i < NAMED)
            label_group(session, groups, layers->largest[i].row, map->legend.entry[i].label,
                        sizeof(map->legend.entry[i].label));
        else
            snprintf(map->legend.entry[i].label, sizeof(map->legend.entry[i].label), "rest");
    }
    return map;
}

static struct selection *select_layers(const struct selection *selection,
                                       struct session_group_set *groups,
                                       struct session_error *error)
{
    struct session *session = selection->session;
    struct filter_colors colors = {.count = SESSION_COLORS};
    struct row_set rows = {.words = NULL};
    struct layers layers;
    size_t largest[NAMED];
    if (!rank_groups(groups, &layers, error))
        return NULL;
    for (size_t i = 0; i < layers.named; i++)
        largest[i] = layers.largest[i].row;
    if (!group_paint(groups, largest, layers.named, error) || !group_ungroup(groups, &rows, error))
        return NULL;
    const struct row_totals totals = {.bytes = selection->bytes,
                                      .allocations = selection->allocations,
                                      .live_bytes = selection->live_bytes,
                                      .live_count = selection->live_count};
    struct selection *stacked = selection_of_set(session, &rows, &colors, false, &totals, error);
    if (!stacked)
        return NULL;
    stacked->maps[SESSION_COLOR_NONE] = make_map(session, groups, &layers);
    stacked->peak_known = selection->peak_known;
    stacked->peak_bytes = selection->peak_bytes;
    stacked->peak_ns = selection->peak_ns;
    bool good = stacked->maps[SESSION_COLOR_NONE] || session_fail_memory(error, "a stacking");
    good = good && (selection_count(stacked) == selection_count(selection) ||
                    session_fail(error, 0, "the filter's graph has changed: use the filter again"));
    if (good)
        return stacked;
    selection_free(stacked);
    return NULL;
}

/* Makes the groups of the selection's own filter. */
static struct session_group_set *own_groups(const struct selection *selection,
                                            struct session_error *error)
{
    if (!selection->graph)
        return session_fail_null(error, 0, "the filter makes no groups: join a field");
    struct graph_result *result = graph_run(selection->session, selection->graph, error);
    struct session_group_set *groups = result ? graph_result_take_groups(result) : NULL;
    graph_result_free(result);
    if (groups && group_session(groups) == selection->session)
        return groups;
    if (result)
        session_fail(error, 0, "the groups of the filter are of another session");
    session_groups_free(groups);
    return NULL;
}

bool selection_stacking(struct selection *selection, const char *by,
                        struct session_stacking *stacking, struct session_error *error)
{
    *stacking = (struct session_stacking){.selection = selection};
    if (find_coloring(by, &stacking->by))
        return true;
    stacking->by = SESSION_COLOR_NONE;
    if (!selection->stacked_by || strcmp(selection->stacked_by, by) != 0) {
        selection_free(selection->stacked);
        free(selection->stacked_by);
        selection->stacked = NULL;
        selection->stacked_by = strdup(by);
        struct session_group_set *groups = !selection->stacked_by ? NULL
                                           : is_groups(by)
                                               ? own_groups(selection, error)
                                               : selection_join(selection, by, NULL, error);
        selection->stacked = groups ? select_layers(selection, groups, error) : NULL;
        session_groups_free(groups);
        if (!selection->stacked) {
            free(selection->stacked_by);
            selection->stacked_by = NULL;
            return false;
        }
    }
    stacking->selection = selection->stacked;
    return true;
}
