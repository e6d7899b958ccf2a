/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs graphs and gives their results: selections, groups, measures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "session/filter/sort_order.h"
#include "session/groups.h"
#include "session/store/error.h"
#include "session/store/scan.h"
#include "session/store/session_state.h"
#include "session/store/summary.h"
#include "session/table/group_set.h"
#include "session/table/recall.h"
#include "session/table/run.h"
#include "session/table/selection_state.h"

/* ---- other sessions ---- */

struct session *other_session_open(void *context, const char *path, struct session_error *error)
{
    struct session *session = context;
    for (struct other_session *other = session->others; other; other = other->next)
        if (strcmp(other->path, path) == 0)
            return other->session;
    struct other_session *other = calloc(1, sizeof(*other));
    char *kept = strdup(path);
    if (!other || !kept) {
        FREE_ALL(other, kept);
        session_fail_memory(error, "another session");
        return NULL;
    }
    *other = (struct other_session){.path = kept, .session = session->open(path, error)};
    if (!other->session) {
        FREE_ALL(kept, other);
        return NULL;
    }
    scan_obey(other->session, session);
    other->next = session->others;
    session->others = other;
    return other->session;
}

/* ---- kept selections ---- */

/* A selection may take 100 bytes for each stack, and a bit for each allocation. */
enum { KEPT_MOST = 4 };

size_t kept_selections_bytes_most = (size_t)64 << 20;

struct kept_selections {
    struct kept_selection {
        char *text; /* NULL: none is here */
        size_t length;
        struct selection *selection;
    } each[KEPT_MOST];
    size_t next; /* takes the place of this one */
};

/* Writes the text under which a graph's selection is kept. */
static void kept_selections_text(const struct session *session,
                                 const struct filter_pipeline *pipeline, struct pipeline_text *text)
{
    pipeline_text_begin(text, session, 0, pipeline->set);
    for (const struct filter_step *step = pipeline->steps; step; step = step->next)
        pipeline_text_add(text, step);
    if (pipeline->kind != KIND_ALLOCATIONS)
        text->usable = false;
}

/* Returns the selection of a text, for selection_free(), or NULL. */
static struct selection *kept_selections_find(const struct session *session,
                                              const struct pipeline_text *text)
{
    for (size_t i = 0; session->kept && text->usable && i < KEPT_MOST; i++) {
        const struct kept_selection *kept = &session->kept->each[i];
        if (kept->text && kept->length == text->length &&
            memcmp(kept->text, text->bytes, text->length) == 0)
            return selection_share(kept->selection);
    }
    return NULL;
}

static void drop(struct kept_selection *kept)
{
    free(kept->text);
    selection_free(kept->selection);
    *kept = (struct kept_selection){.text = NULL};
}

/* Frees the order of rows if nobody else has the selection: it may take 8 bytes for each row. */
static void trim(const struct kept_selection *kept)
{
    struct selection *selection = kept->selection;
    if (!selection || atomic_load(&selection->owners) > 1 || selection->ordered <= SORT_FEW)
        return;
    free(selection->order);
    selection->order = NULL;
    selection->ordered = 0;
}

/* Keeps a selection in place of the one that was made first. */
static void kept_selections_add(struct session *session, const struct pipeline_text *text,
                                struct selection *selection)
{
    const size_t bytes = (size_t)selection->set.chunks * ROW_SET_WORDS * sizeof(uint64_t);
    if (!text->usable || selection->warnings || bytes > kept_selections_bytes_most / KEPT_MOST)
        return;
    if (!session->kept && !(session->kept = calloc(1, sizeof(*session->kept))))
        return;
    char *copy = malloc(text->length + 1);
    if (!copy)
        return;
    memcpy(copy, text->bytes, text->length);
    struct kept_selection *kept = &session->kept->each[session->kept->next];
    session->kept->next = (session->kept->next + 1) % KEPT_MOST;
    drop(kept);
    *kept = (struct kept_selection){copy, text->length, selection_share(selection)};
    for (size_t i = 0; i < KEPT_MOST; i++)
        trim(&session->kept->each[i]);
}

void kept_selections_free(struct session *session)
{
    for (size_t i = 0; session->kept && i < KEPT_MOST; i++)
        drop(&session->kept->each[i]);
    free(session->kept);
    session->kept = NULL;
}

struct graph_result {
    enum graph_result_kind kind;
    struct selection *selection;
    struct session_group_set *groups;
    struct session_measure measure;
    char *name; /* of the measure */
    struct filter_warnings warnings;
    bool leaks_unknown;
    struct graph_side *sides; /* those with rows */
    size_t side_count;
};

/* ---- running ---- */

struct running {
    struct session *session;
    struct filter_graph *graph;
    struct filter_colors colors;
    struct run_result rows;
};

static bool running_parse(struct running *running, struct session *session, const char *text,
                          struct session_error *error)
{
    *running = (struct running){.session = session};
    running->graph = filter_parse_named(text, session->graph_names, error);
    return running->graph != NULL;
}

/* `begin`: the steps of the text begin with its rows; NULL: with those of the text's set. */
static bool running_run(struct running *running, const char *text,
                        const struct graph_options *rights, const struct selection *begin,
                        struct session_error *error)
{
    const struct run_options options = {.open = other_session_open,
                                        .context = running->session,
                                        .text = text ? text : "",
                                        .write = rights->write,
                                        .stored_write = rights->stored_write,
                                        .begin = begin ? &begin->set : NULL};
    if (begin)
        running->colors = begin->colors;
    return run_graph(running->session, running->graph, &options, &running->colors, &running->rows,
                     error);
}

static void running_end(struct running *running)
{
    run_result_free(&running->rows);
    filter_graph_free(running->graph);
}

/* Returns true if a graph only orders, colours and measures all blocks. */
static bool selects_everything(const struct filter_graph *graph)
{
    const struct filter_pipeline *pipeline = filter_graph_pipeline(graph);
    const struct filter_step *step = pipeline->steps;
    while (step && (step->kind == STEP_COLOR_BY || step->kind == STEP_SORT ||
                    filter_step_measures(step->kind)))
        step = step->next;
    return pipeline->set->kind == SET_ALL && !step;
}

/* Returns true if a graph that selects left out no block of the process heap, and gave none a
 * colour: ingest knows no colours. */
static bool keeps_everything(const struct run_result *rows, const struct selection *selection)
{
    struct session *session = selection->session;
    return !rows->of_all && !rows->of_arenas && !rows->sides && !selection->set.colors &&
           summary_answers(session) &&
           selection_count(selection) == (uint64_t)session_meta_number(session, "allocations");
}

static bool keep_warnings(struct selection *selection, const struct filter_warnings *warnings,
                          struct session_error *error)
{
    if (warnings->count == 0)
        return true;
    if (!(selection->warnings = malloc(sizeof(*selection->warnings))))
        return session_fail_memory(error, "a selection");
    *selection->warnings = *warnings;
    return true;
}

/* Makes a selection of the rows: of groups, of their members. */
static struct selection *select_rows(struct running *running, struct session_error *error)
{
    struct run_result *rows = &running->rows;
    const bool own = !rows->groups || group_session(rows->groups) == running->session;
    if (!own)
        row_set_free(&rows->set);
    if (rows->groups && own && !group_ungroup(rows->groups, &rows->set, error))
        return NULL;
    if (!rows->set.words && !row_set_start(&rows->set, running->session->columns, false, error))
        return NULL;
    struct selection *selection =
        selection_of_set(running->session, &rows->set, &running->colors,
                         !rows->of_all && selects_everything(running->graph),
                         rows->summed ? &rows->totals : NULL, error);
    if (!selection)
        return NULL;
    selection->color_by = rows->color_by;
    selection->everything = selection->everything || keeps_everything(rows, selection);
    if (!keep_warnings(selection, &rows->warnings, error)) {
        selection_free(selection);
        return NULL;
    }
    if (rows->of_all)
        selection->chosen_from = column_store_rows(running->session->columns);
    return selection;
}

static void note_measure(const struct session_measure *measure, struct filter_warnings *notes)
{
    static const char *const units[] = {[UNIT_NUMBER] = "",
                                        [UNIT_BYTES] = " bytes",
                                        [UNIT_DURATION] = " ns",
                                        [UNIT_MOMENT] = " ns"};
    if (measure->is_null)
        filter_warn(notes, 0, "%s: there is no value", measure->name);
    else
        filter_warn(notes, 0, "%s: %s%s%llu%s", measure->name, measure->estimated ? "~" : "",
                    measure->negative ? "-" : "", (unsigned long long)measure->value,
                    units[measure->unit]);
}

static bool add_measure(const struct filter_step *step, const struct session_measure *next,
                        struct session_measure *measure, struct session_error *error)
{
    const bool least = step->kind == STEP_MIN;
    if (step->kind != STEP_COUNT && step->kind != STEP_SUM && step->kind != STEP_MAX && !least)
        return session_fail(error, step->column,
                            "%.*s works on allocations of one session, and these are of several",
                            (int)strcspn(step->text, " "), step->text);
    if (next->is_null)
        return true;
    if (step->kind == STEP_COUNT || step->kind == STEP_SUM) {
        if (measure->value + next->value < next->value)
            return session_fail(error, step->column, "the sum exceeds 2^64");
        measure->value += next->value;
        measure->standard_error = hypot(measure->standard_error, next->standard_error);
    } else if (measure->is_null || (next->value < measure->value) == least) {
        measure->value = next->value;
    }
    measure->estimated |= next->estimated;
    measure->is_null = false;
    return true;
}

/* Measures groups, or the rows of all sessions. `selection` has those of the own one. */
static bool measure_rows(struct running *running, struct selection *selection,
                         struct session_measure *measure, struct session_error *error)
{
    const struct run_result *rows = &running->rows;
    const struct filter_step *step = rows->measure;
    if (rows->groups)
        return group_scalar(rows->groups, step, measure, error);
    bool empty = selection_count(selection) == 0;
    if (!selection_measure(selection, step, measure, error))
        return false;
    for (struct run_side *side = rows->sides; side; side = side->next) {
        if (run_side_rows(side) == 0)
            continue;
        struct session_measure next = {.name = measure->name};
        struct selection *other =
            selection_of_set(side->session, &side->set, &running->colors, false, NULL, error);
        bool good = other && selection_measure(other, step, &next, error);
        selection_free(other);
        if (!good || (!empty && !add_measure(step, &next, measure, error)))
            return false;
        if (empty)
            *measure = next;
        empty = false;
    }
    return true;
}

/* Says in a note what a graph gives that does not give allocations. */
static bool note_result(struct running *running, struct selection *selection,
                        struct session_error *error)
{
    const struct run_result *rows = &running->rows;
    struct session_measure measure = {.name = ""};
    struct filter_warnings notes = {.count = 0};
    for (const struct run_side *side = rows->sides; side; side = side->next) {
        if (run_side_rows(side) > 0)
            filter_warn(&notes, 0, "%llu allocations of session %.120s are not shown",
                        (unsigned long long)run_side_rows(side), session_path(side->session));
    }
    if (rows->kind == KIND_ALLOCATIONS && notes.count == 0)
        return true;
    if (rows->kind == KIND_ALLOCATIONS) {
        /* The notes of the sides are all. */
    } else if (rows->kind == KIND_GROUPS) {
        filter_warn(&notes, 0, "the filter gives groups: these are their allocations");
    } else {
        measure.name = rows->measure->text;
        if (!measure_rows(running, selection, &measure, error))
            return false;
        note_measure(&measure, &notes);
    }
    for (size_t i = 0; i < rows->warnings.count; i++)
        filter_warn(&notes, rows->warnings.list[i].column, "%s", rows->warnings.list[i].message);
    free(selection->warnings);
    selection->warnings = NULL;
    return keep_warnings(selection, &notes, error);
}

static struct selection *select_new(struct running *running, const char *text,
                                    struct session_error *error)
{
    struct selection *selection = NULL;
    if (running_run(running, text, &(struct graph_options){.write = false}, NULL, error))
        selection = select_rows(running, error);
    if (selection && running->rows.kind == KIND_GROUPS)
        selection->graph = strdup(text);
    if (selection && !note_result(running, selection, error)) {
        selection_free(selection);
        selection = NULL;
    }
    return selection;
}

struct selection *selection_new(struct session *session, const char *text,
                                struct session_error *error)
{
    struct running *running = malloc(sizeof(*running));
    struct selection *selection = NULL;
    if (!running)
        return session_fail_memory_null(error, "a selection");
    if (running_parse(running, session, text, error)) {
        struct pipeline_text key;
        kept_selections_text(session, filter_graph_pipeline(running->graph), &key);
        if (scan_go_on(session, error) && !(selection = kept_selections_find(session, &key)) &&
            (selection = select_new(running, text, error)))
            kept_selections_add(session, &key, selection);
    }
    running_end(running);
    free(running);
    return selection;
}

/* ---- results ---- */

static bool find_measure(struct graph_result *result, struct running *running,
                         struct session_error *error)
{
    const struct filter_step *step = running->rows.measure;
    result->kind = RESULT_MEASURE;
    if (!(result->name = strdup(step->text)))
        return session_fail_memory(error, "a measure");
    result->measure.name = result->name;
    if (running->rows.groups)
        return group_scalar(running->rows.groups, step, &result->measure, error);
    struct selection *selection = select_rows(running, error);
    bool good = selection && measure_rows(running, selection, &result->measure, error);
    selection_free(selection);
    return good;
}

static bool find_sides(struct graph_result *result, struct running *running,
                       struct session_error *error)
{
    size_t count = 0;
    for (struct run_side *side = running->rows.sides; side; side = side->next)
        count++;
    if (!(result->sides = calloc(count + 1, sizeof(*result->sides))))
        return session_fail_memory(error, "a filter graph");
    for (struct run_side *side = running->rows.sides; side; side = side->next) {
        if (run_side_rows(side) == 0)
            continue;
        struct selection *selection =
            selection_of_set(side->session, &side->set, &running->colors, false, NULL, error);
        if (!selection)
            return false;
        result->sides[result->side_count++] = (struct graph_side){side->session, selection};
    }
    return true;
}

static bool find_result(struct graph_result *result, struct running *running,
                        struct session_error *error)
{
    switch (running->rows.kind) {
    case KIND_ALLOCATIONS:
        result->kind = RESULT_ALLOCATIONS;
        result->selection = select_rows(running, error);
        return result->selection && find_sides(result, running, error);
    case KIND_GROUPS:
        result->kind = RESULT_GROUPS;
        result->groups = running->rows.groups;
        running->rows.groups = NULL;
        return true;
    case KIND_MEASURE:
        break;
    }
    return find_measure(result, running, error);
}

struct graph_result *graph_run(struct session *session, const char *text,
                               struct session_error *error)
{
    return graph_run_with(session, text, &(struct graph_options){.write = false}, error);
}

static struct graph_result *run_text(struct session *session, const char *text,
                                     const struct graph_options *options,
                                     const struct selection *begin, struct session_error *error)
{
    struct graph_result *result = calloc(1, sizeof(*result));
    struct running *running = malloc(sizeof(*running));
    if (!result || !running) {
        FREE_ALL(result, running);
        session_fail_memory(error, "a filter graph");
        return NULL;
    }
    bool good = running_parse(running, session, text, error) &&
                running_run(running, text, options, begin, error) &&
                find_result(result, running, error);
    result->warnings = running->rows.warnings;
    result->leaks_unknown = running->rows.leaks_unknown;
    running_end(running);
    free(running);
    if (!good) {
        graph_result_free(result);
        return NULL;
    }
    return result;
}

struct graph_result *graph_run_with(struct session *session, const char *text,
                                    const struct graph_options *options,
                                    struct session_error *error)
{
    return run_text(session, text, options, NULL, error);
}

struct graph_result *selection_graph(struct selection *selection, const char *steps,
                                     struct session_error *error)
{
    return run_text(selection->session, steps, &(struct graph_options){.write = false}, selection,
                    error);
}

void graph_result_free(struct graph_result *result)
{
    if (!result)
        return;
    selection_free(result->selection);
    for (size_t i = 0; i < result->side_count; i++)
        selection_free(result->sides[i].selection);
    free(result->sides);
    session_groups_free(result->groups);
    FREE_ALL(result->name, result);
}

enum graph_result_kind graph_result_kind(const struct graph_result *result)
{
    return result->kind;
}

struct selection *graph_result_selection(const struct graph_result *result)
{
    return result->selection;
}

struct session_group_set *graph_result_groups(const struct graph_result *result)
{
    return result->groups;
}

const struct session_measure *graph_result_measure(const struct graph_result *result)
{
    return result->kind == RESULT_MEASURE ? &result->measure : NULL;
}

size_t graph_result_sides(const struct graph_result *result, const struct graph_side **sides)
{
    *sides = result->sides;
    return result->side_count;
}

size_t graph_result_warnings(const struct graph_result *result,
                             const struct session_warning **warnings)
{
    *warnings = result->warnings.list;
    return result->warnings.count;
}

bool graph_result_leaks_unknown(const struct graph_result *result)
{
    return result->leaks_unknown;
}

struct selection *graph_result_take_selection(struct graph_result *result)
{
    struct selection *selection = result->selection;
    result->selection = NULL;
    return selection;
}

struct session_group_set *graph_result_take_groups(struct graph_result *result)
{
    struct session_group_set *groups = result->groups;
    result->groups = NULL;
    return groups;
}

/* ---- members of groups ---- */

struct selection *session_group_members(struct session_group_set *set, size_t row,
                                        struct session_error *error)
{
    struct row_set rows = {.words = NULL};
    if (!group_ungroup_one(set, row, &rows, error))
        return NULL;
    return selection_of_set(group_session(set), &rows, group_colors(set), false, NULL, error);
}
