/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the overview, one part after the other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/leaks.h"
#include "tui/explore/worst_holes.h"
#include "tui/screen/format.h"
#include "tui/view/overview/overview.h"

#define FILTER_SIZE 4096

/* ---- facts and chart -------------------------------------------------------------------- */

static bool run(struct session *session, struct selection *selection, void *argument,
                struct session_error *error)
{
    struct overview_data *data = argument;
    struct session_function_row *rows = NULL;
    size_t count = 0;
    const bool good = selection_functions(selection, &rows, &count, error);
    data->finding_count =
        findings_collect(session, selection, data->request.filtered != 0, rows, count,
                         good ? NULL : error, data->findings, FINDINGS_MOST);
    free(rows);
    return selection_timeline(selection, data->request.start, data->request.end,
                              (size_t)data->request.slot_count, SESSION_COLOR_NONE, data->slots,
                              error) &&
           good;
}

static void load_facts(struct overview *overview, struct exploration *exploration, int width)
{
    static const struct load_kind kind = {sizeof(((struct overview_data *)0)->request),
                                          sizeof(struct overview_data), run, NULL};
    const uint64_t start = session_start_ns(exploration->session);
    const uint64_t end = session_duration_ns(exploration->session);
    const int slots = width - 4 > OVERVIEW_SLOTS_MOST ? OVERVIEW_SLOTS_MOST : width - 4;
    const struct overview_request wanted = {
        exploration->selections, start, end > start ? end : start + 1,
        slots > 1 ? (uint64_t)slots : 1, exploration->filter[0] != 0};
    overview->data = exploration_get(exploration, &overview->load, &kind, &wanted);
}

/* ---- the peak --------------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right)
{
    const struct session_growth *a = left, *b = right;
    if (a->after.bytes != b->after.bytes)
        return a->after.bytes > b->after.bytes ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void load_held(struct overview *overview, struct exploration *exploration)
{
    static const enum session_growth_by ways[HELD_WAYS] = {SESSION_GROWTH_USER,
                                                           SESSION_GROWTH_TYPE};
    for (int way = 0; way < HELD_WAYS; way++) {
        const struct growth_data *before = overview->held[way];
        overview->held[way] =
            exploration->peak_known
                ? growth_get(exploration, &overview->held_loads[way], exploration->peak_ns,
                             exploration->peak_ns, ways[way])
                : NULL;
        const struct growth_data *held = overview->held[way];
        if (held && held != before && held->count > 0)
            qsort(held->rows, held->count, sizeof(*held->rows), by_bytes);
        overview->held_counts[way] = 0;
        while (held && overview->held_counts[way] < held->count &&
               overview->held_counts[way] < OVERVIEW_HELD_MOST &&
               held->rows[overview->held_counts[way]].after.bytes > 0)
            overview->held_counts[way]++;
    }
}

struct use_data {
    struct {
        uint64_t selections, ns;
    } request;
    struct session_use use;
};

static bool run_use(struct session *session, struct selection *selection, void *data,
                    struct session_error *error)
{
    struct use_data *use = data;
    (void)session;
    return selection_use(selection, use->request.ns, 0, UINT64_MAX, SESSION_HOLE_LEAST, &use->use,
                         error);
}

static void load_use(struct overview *overview, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct use_data *)0)->request),
                                          sizeof(struct use_data), run_use, NULL};
    const struct use_data wanted = {.request = {exploration->selections, exploration->peak_ns}};
    const struct use_data *use =
        exploration_get(exploration, &overview->use_load, &kind, &wanted.request);
    overview->use = use ? &use->use : NULL;
}

/* ---- ranked findings -------------------------------------------------------------------- */

struct ranked_data {
    struct {
        uint64_t selections, kind;
        char filter[FILTER_SIZE];
    } request;
    struct ranked_finding findings[RANKED_OF_KIND];
    size_t count;
};

/* A graph that cannot run under this filter finds nothing. */
static bool run_ranked(struct session *session, struct selection *selection, void *argument,
                       struct session_error *error)
{
    struct ranked_data *data = argument;
    (void)selection;
    if (!ranked_find(session, (size_t)data->request.kind, data->request.filter, data->findings,
                     &data->count, error))
        data->count = 0;
    return true;
}

/* Looks for the moment with the most holes. Holes belong to no filter. Returns false while it is
 * not known. */
static bool load_holes(struct overview *overview, struct exploration *exploration)
{
    const struct session_use *use = NULL;
    uint64_t ns;
    if (!exploration->filter[0] && !worst_holes_get(exploration, &ns, &use))
        return false;
    if (use && ranked_holes(use, ns, &overview->ranked[overview->ranked_count]))
        overview->ranked_count++;
    overview->ranked_count =
        ranked_order(overview->ranked, overview->ranked_count, exploration->peak_bytes);
    overview->holes_done = true;
    return true;
}

/* Takes what a kind has found. If the user has selected just that, it is not a finding. */
static void take_findings(struct overview *overview, const struct exploration *exploration,
                          const struct ranked_data *data)
{
    uint64_t blocks = 0;
    for (size_t i = 0; i < data->count; i++)
        blocks += data->findings[i].count;
    if (exploration->filter[0] && blocks >= selection_allocations(exploration->selection))
        return;
    for (size_t i = 0; i < data->count && overview->ranked_count < RANKED_MOST; i++)
        overview->ranked[overview->ranked_count++] = data->findings[i];
}

/* Looks for the next kinds as far as the answers come in time. */
static void load_ranked(struct overview *overview, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct ranked_data *)0)->request),
                                          sizeof(struct ranked_data), run_ranked, NULL};
    static struct ranked_data wanted; /* too large for the stack; only one thread uses views */
    /* A filter that is coming does not wait for findings about the one before. */
    if (exploration->coming.job) {
        load_clear(&exploration->loader, &overview->ranked_load);
        worst_holes_leave(exploration);
        return;
    }
    if (overview->ranked_selections != exploration->selections) {
        overview->ranked_selections = exploration->selections;
        overview->ranked_count = overview->kinds_done = 0;
        overview->holes_done = overview->unranked = false;
    }
    /* While the program runs, nobody knows what it will free. */
    if (session_recording(exploration->session))
        overview->kinds_done = RANKED_KINDS;
    if (!overview->holes_done && !load_holes(overview, exploration))
        return;
    while (overview->kinds_done < RANKED_KINDS) {
        memset(&wanted.request, 0, sizeof(wanted.request));
        wanted.request.selections = exploration->selections;
        wanted.request.kind = overview->kinds_done;
        if (!exploration_put_allocations(exploration, wanted.request.filter, FILTER_SIZE)) {
            overview->kinds_done = RANKED_KINDS;
            overview->unranked = true;
            return;
        }
        const struct ranked_data *data =
            exploration_get(exploration, &overview->ranked_load, &kind, &wanted.request);
        if (!data)
            return;
        take_findings(overview, exploration, data);
        overview->ranked_count =
            ranked_order(overview->ranked, overview->ranked_count, exploration->peak_bytes);
        overview->kinds_done++;
    }
}

struct once_data {
    uint64_t selections; /* the request */
    struct session_leak_sums start_up, leaked;
};

static bool run_once(struct session *session, struct selection *selection, void *argument,
                     struct session_error *error)
{
    struct once_data *data = argument;
    struct session_leaks leaks;
    (void)session;
    if (!selection_leaks(selection, NULL, &leaks, error))
        return false;
    data->start_up = leaks.of_kind[SESSION_LEAK_START_UP];
    data->leaked = leaks.leaked;
    session_leaks_free(&leaks);
    return true;
}

/* Tells how much of what leaked was allocated at the start, once, and kept. If the filter is too
 * long to rank findings, tells that. */
static void load_once(struct overview *overview, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(uint64_t), sizeof(struct once_data), run_once,
                                          NULL};
    char bytes[FORMAT_SIZE], blocks[FORMAT_SIZE];
    if (session_recording(exploration->session) || overview->kinds_done < RANKED_KINDS)
        return;
    if (overview->unranked) {
        overview->once.gravity = FINDING_ODD;
        overview->once.view = VIEW_OVERVIEW;
        snprintf(overview->once.text, sizeof(overview->once.text),
                 "the filter is too long for leaks, growers and other findings by rank");
        return;
    }
    const struct once_data *data =
        exploration_get(exploration, &overview->once_load, &kind, &exploration->selections);
    if (!data || data->start_up.blocks == 0)
        return;
    overview->once.gravity = FINDING_GOOD;
    overview->once.view = VIEW_LEAKS;
    snprintf(overview->once.text, sizeof(overview->once.text),
             "early leaks, of the start of the run: %s%s%s in %s%s block%s",
             data->start_up.blocks == data->leaked.blocks ? "all " : "", exploration->about,
             format_size(bytes, data->start_up.bytes), exploration->about,
             format_count(blocks, data->start_up.blocks), format_plural(data->start_up.blocks));
}

void overview_load(struct overview *overview, struct exploration *exploration, int width)
{
    overview->once.text[0] = 0;
    load_facts(overview, exploration, width);
    if (overview->data)
        load_held(overview, exploration);
    if (!overview->held[HELD_BY_USER] || !overview->held[HELD_BY_TYPE])
        return;
    load_use(overview, exploration);
    if (overview->use) {
        load_ranked(overview, exploration);
        load_once(overview, exploration);
    }
}

void overview_loads_clear(struct overview *overview, struct exploration *exploration)
{
    struct load *const loads[] = {&overview->load,
                                  &overview->held_loads[HELD_BY_USER],
                                  &overview->held_loads[HELD_BY_TYPE],
                                  &overview->use_load,
                                  &overview->ranked_load,
                                  &overview->once_load};
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        load_clear(&exploration->loader, loads[i]);
}
