/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the data of the timeline in the background. */
#include <string.h>

#include "session/births.h"
#include "session/events.h"
#include "tui/view/timeline/timeline.h"

const struct session_slot *timeline_no_slots(void)
{
    static struct session_slot none[TIMELINE_SLOTS_MOST];
    return none;
}

/* ---- runs ------------------------------------------------------------------------------- */

#define BUSY_PARTS 256              /* of the window, to find idle gaps */
#define GAP_PARTS (BUSY_PARTS / 16) /* so many idle ones in a row are a gap */

struct busy_data {
    struct {
        uint64_t selections, from, to;
    } request;
    bool busy[BUSY_PARTS];
};

static bool run_busy(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct busy_data *busy = data;
    static _Thread_local struct session_slot slots[BUSY_PARTS];
    (void)session;
    if (!selection_timeline(selection, busy->request.from, busy->request.to, BUSY_PARTS,
                            SESSION_COLOR_NONE, slots, error))
        return false;
    for (size_t i = 0; i < BUSY_PARTS; i++)
        busy->busy[i] = slots[i].allocated_count > 0 || slots[i].freed_count > 0;
    return true;
}

static uint64_t part_edge(const struct timeline *timeline, size_t part)
{
    const uint64_t span = timeline->to - timeline->from;
    return timeline->from + span / BUSY_PARTS * part + span % BUSY_PARTS * part / BUSY_PARTS;
}

/* Splits the window into gaps and what lies between them. Returns the number of gaps. */
static size_t find_gaps(struct timeline *timeline, const bool *busy)
{
    size_t gaps = 0, begin = 0;
    timeline->run_count = 0;
    for (size_t part = 0; part < BUSY_PARTS;) {
        size_t end = part;
        while (end < BUSY_PARTS && !busy[end])
            end++;
        if (end - part < GAP_PARTS || timeline->run_count + 3 > TIMELINE_RUNS_MOST) {
            part = end > part ? end : part + 1;
            continue;
        }
        if (part > begin)
            timeline->runs[timeline->run_count++] = (struct timeline_run){
                .from = part_edge(timeline, begin), .to = part_edge(timeline, part)};
        timeline->runs[timeline->run_count++] = (struct timeline_run){
            .from = part_edge(timeline, part), .to = part_edge(timeline, end), .gap = 1};
        gaps++;
        begin = part = end;
    }
    if (begin < BUSY_PARTS)
        timeline->runs[timeline->run_count++] =
            (struct timeline_run){.from = part_edge(timeline, begin), .to = timeline->to};
    return gaps;
}

/* Gives each gap one slot, and the other runs the rest in proportion to their lengths. */
static void share_slots(struct timeline *timeline, size_t gaps)
{
    uint64_t busy_ns = 0, left = (uint64_t)timeline->slot_count - gaps, first = 0;
    for (size_t i = 0; i < timeline->run_count; i++)
        if (!timeline->runs[i].gap)
            busy_ns += timeline->runs[i].to - timeline->runs[i].from;
    for (size_t i = 0; i < timeline->run_count; i++) {
        struct timeline_run *run = &timeline->runs[i];
        const uint64_t span = run->to - run->from;
        run->first = first;
        run->count = 1;
        if (!run->gap) {
            run->count =
                busy_ns > span ? (uint64_t)((double)span / (double)busy_ns * (double)left) : left;
            run->count = run->count > 0 ? run->count : 1;
            left -= run->count < left ? run->count : left;
            busy_ns -= span;
        }
        first += run->count;
    }
    timeline->slot_count = (int)first;
}

void timeline_load_runs(struct timeline *timeline, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct busy_data *)0)->request),
                                          sizeof(struct busy_data), run_busy, NULL};
    const struct busy_data wanted = {
        .request = {exploration->selections, timeline->from, timeline->to}};
    const struct busy_data *busy =
        !timeline->compress || timeline->slot_count < 2 * TIMELINE_RUNS_MOST
            ? NULL
            : exploration_get(exploration, &timeline->busy_load, &kind, &wanted.request);
    timeline->run_count = 1;
    timeline->runs[0] = (struct timeline_run){
        .from = timeline->from, .to = timeline->to, .count = (uint64_t)timeline->slot_count};
    if (busy)
        share_slots(timeline, find_gaps(timeline, busy->busy));
}

/* ---- slots ------------------------------------------------------------------------------ */

struct slots_request {
    uint64_t selections, run_count;
    struct timeline_stack stack;
    struct timeline_run runs[TIMELINE_RUNS_MOST];
};

struct slots_data {
    struct slots_request request;
    struct session_slot slots[TIMELINE_SLOTS_MOST];
};

static bool run_slots(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct slots_data *slots = data;
    struct session_stacking by;
    (void)session;
    if (!timeline_stacking(selection, &slots->request.stack, &by, error))
        return false;
    for (size_t i = 0; i < slots->request.run_count; i++) {
        const struct timeline_run *run = &slots->request.runs[i];
        if (!selection_timeline(by.selection, run->from, run->to, (size_t)run->count, by.by,
                                slots->slots + run->first, error))
            return false;
    }
    return true;
}

static void fill_request(const struct timeline *timeline, const struct exploration *exploration,
                         struct slots_request *request)
{
    memset(request, 0, sizeof(*request));
    request->selections = exploration->selections;
    request->stack = timeline->stack;
    request->run_count = timeline->run_count;
    memcpy(request->runs, timeline->runs, timeline->run_count * sizeof(timeline->runs[0]));
}

static void load_slots(struct timeline *timeline, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct slots_data *)0)->request),
                                          sizeof(struct slots_data), run_slots, NULL};
    static struct slots_data wanted; /* too large for the stack; only one thread uses views */
    fill_request(timeline, exploration, &wanted.request);
    const struct slots_data *slots =
        exploration_get(exploration, &timeline->slots_load, &kind, &wanted.request);
    timeline->slots_known = slots != NULL;
    timeline->slots = slots ? slots->slots : timeline_no_slots();
}

/* ---- colours ---------------------------------------------------------------------------- */

struct colors_data {
    struct {
        uint64_t mode;
        struct slots_request slots;
    } request;
    struct timeline_colors colors[TIMELINE_SLOTS_MOST];
};

/* Stores what was live before the window, by colour. */
static bool find_before(const struct session_stacking *by, uint64_t from, uint64_t *before,
                        struct session_error *error)
{
    struct session_slot slot = {.live_bytes = 0};
    if (from > 0 && !selection_timeline(by->selection, from - 1, from, 1, by->by, &slot, error))
        return false;
    memcpy(before, slot.color_bytes, sizeof(slot.color_bytes));
    return true;
}

static bool run_net(const struct session_stacking *by, struct colors_data *data,
                    struct session_error *error)
{
    static _Thread_local struct session_slot slots[TIMELINE_SLOTS_MOST];
    uint64_t before[SESSION_COLORS];
    if (!find_before(by, data->request.slots.runs[0].from, before, error))
        return false;
    for (size_t i = 0; i < data->request.slots.run_count; i++) {
        const struct timeline_run *run = &data->request.slots.runs[i];
        if (!selection_timeline(by->selection, run->from, run->to, (size_t)run->count, by->by,
                                slots, error))
            return false;
        for (size_t slot = 0; slot < run->count; slot++) {
            for (size_t color = 0; color < SESSION_COLORS; color++) {
                const uint64_t now = slots[slot].color_bytes[color], then = before[color];
                struct timeline_colors *colors = &data->colors[run->first + slot];
                colors->up[color] = now > then ? now - then : 0;
                colors->down[color] = now > then ? 0 : then - now;
                before[color] = now;
            }
        }
    }
    return true;
}

static bool run_births(const struct session_stacking *by, struct colors_data *data,
                       struct session_error *error)
{
    static _Thread_local uint64_t births[TIMELINE_SLOTS_MOST][SESSION_COLORS];
    for (size_t i = 0; i < data->request.slots.run_count; i++) {
        const struct timeline_run *run = &data->request.slots.runs[i];
        if (!selection_births(by->selection, run->from, run->to, (size_t)run->count, by->by, births,
                              error))
            return false;
        for (size_t slot = 0; slot < run->count; slot++)
            memcpy(data->colors[run->first + slot].up, births[slot], sizeof(births[slot]));
    }
    return true;
}

static bool run_colors(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct colors_data *colors = data;
    struct session_stacking by;
    (void)session;
    if (!timeline_stacking(selection, &colors->request.slots.stack, &by, error))
        return false;
    return colors->request.mode == TIMELINE_NET ? run_net(&by, colors, error)
                                                : run_births(&by, colors, error);
}

/* The chart of live bytes has its colours in the slots. */
static void load_colors(struct timeline *timeline, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct colors_data *)0)->request),
                                          sizeof(struct colors_data), run_colors, NULL};
    static struct colors_data wanted; /* too large for the stack; only one thread uses views */
    timeline->colors = NULL;
    if (timeline->mode == TIMELINE_LIVE)
        return;
    memset(&wanted.request, 0, sizeof(wanted.request));
    wanted.request.mode = timeline->mode;
    fill_request(timeline, exploration, &wanted.request.slots);
    const struct colors_data *data =
        exploration_get(exploration, &timeline->colors_load, &kind, &wanted.request);
    timeline->colors = data ? data->colors : NULL;
}

/* ---- the cursor ------------------------------------------------------------------------- */

struct shares_data {
    struct {
        uint64_t selections, from, to;
    } request;
    struct session_share shares[TIMELINE_SHARES_MOST];
    size_t count;
};

static bool run_shares(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct shares_data *shares = data;
    (void)session;
    (void)error;
    shares->count = selection_top_functions(selection, shares->request.from, shares->request.to,
                                            shares->shares, TIMELINE_SHARES_MOST);
    return true;
}

struct at_data {
    struct {
        uint64_t selections, ns;
        struct timeline_stack stack;
    } request;
    struct session_slot slot;
};

/* A slot of one nanosecond ends at the moment itself. */
static bool run_at(struct session *session, struct selection *selection, void *data,
                   struct session_error *error)
{
    struct at_data *at = data;
    struct session_stacking by;
    (void)session;
    return timeline_stacking(selection, &at->request.stack, &by, error) &&
           selection_timeline(by.selection, at->request.ns, at->request.ns + 1, 1, by.by, &at->slot,
                              error);
}

struct events_data {
    struct {
        uint64_t selections, from, to;
    } request;
    struct timeline_event events[TIMELINE_EVENTS_MOST];
    size_t count;
};

static bool take_event(void *context, const struct session_event *event)
{
    struct events_data *events = context;
    const struct session_allocation *allocation = event->allocation;
    if (events->count == TIMELINE_EVENTS_MOST)
        return false;
    events->events[events->count++] =
        (struct timeline_event){.ns = event->ns,
                                .id = allocation->id,
                                .size = allocation->size,
                                .type = allocation->type,
                                .function = allocation->function,
                                .is_free = event->kind == SESSION_EVENT_FREE};
    return true;
}

static bool run_events(struct session *session, struct selection *selection, void *data,
                       struct session_error *error)
{
    struct events_data *events = data;
    (void)session;
    return selection_events_between(selection, events->request.from, events->request.to, take_event,
                                    events, error) ||
           events->count == TIMELINE_EVENTS_MOST;
}

static void load_events(struct timeline *timeline, struct exploration *exploration, uint64_t from,
                        uint64_t to)
{
    static const struct load_kind kind = {sizeof(((struct events_data *)0)->request),
                                          sizeof(struct events_data), run_events, NULL};
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    const uint64_t count = slot->allocated_count + slot->freed_count;
    timeline->events = NULL;
    timeline->event_count = 0;
    if (!timeline->slots_known || count == 0 || count > TIMELINE_EVENTS_MOST)
        return;
    const struct events_data wanted = {.request = {exploration->selections, from, to}};
    const struct events_data *events =
        exploration_get(exploration, &timeline->events_load, &kind, &wanted.request);
    timeline->events = events ? events->events : NULL;
    timeline->event_count = events ? events->count : 0;
}

void timeline_load(struct timeline *timeline, struct exploration *exploration)
{
    static const struct load_kind shares_kind = {sizeof(((struct shares_data *)0)->request),
                                                 sizeof(struct shares_data), run_shares, NULL};
    static const struct load_kind at_kind = {sizeof(((struct at_data *)0)->request),
                                             sizeof(struct at_data), run_at, NULL};
    const uint64_t from = timeline_edge(timeline, timeline->cursor);
    const uint64_t to = timeline_edge(timeline, timeline->cursor + 1);
    timeline_load_stack(timeline, exploration);
    load_slots(timeline, exploration);
    load_colors(timeline, exploration);
    const struct at_data moment = {
        .request = {exploration->selections, exploration->moment_ns, timeline->stack}};
    const struct at_data *at =
        exploration_get(exploration, &timeline->at_load, &at_kind, &moment.request);
    timeline->at = at ? &at->slot : NULL;
    const struct shares_data cursor = {.request = {exploration->selections, from, to}};
    const struct shares_data *shares =
        exploration_get(exploration, &timeline->shares_load, &shares_kind, &cursor.request);
    timeline->shares = shares ? shares->shares : NULL;
    timeline->share_count = shares ? shares->count : 0;
    load_events(timeline, exploration, from, to);
    timeline_load_range(timeline, exploration);
}

void timeline_loads_clear(struct timeline *timeline, struct exploration *exploration)
{
    struct load *const loads[] = {
        &timeline->slots_load, &timeline->shares_load, &timeline->busy_load,
        &timeline->at_load,    &timeline->events_load, &timeline->types_load,
        &timeline->users_load, &timeline->colors_load, &timeline->stack_load};
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        load_clear(&exploration->loader, loads[i]);
}
