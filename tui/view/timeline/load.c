/* SPDX-License-Identifier: BSD-2-Clause */
/* The layers and slots of the timeline, and its questions to the engine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/residency.h"
#include "session/stacking.h"
#include "session/time.h"
#include "tui/view/common/list.h"
#include "tui/view/timeline/timeline.h"

/* Tells these names apart from those of colourings. */
#define OTHER_KIND (SESSION_COLOR_KIND + 1)

struct stack_data {
    struct {
        uint64_t selections;
        struct timeline_stack stack;
    } request;
    enum session_color_by by;
    struct session_legend legend;
};

/* Finds the layers of a selection, on the engine's thread. Returns false with `error` set. */
static bool timeline_stacking(struct selection *selection, const struct timeline_stack *stack,
                              struct session_stacking *stacking, struct session_error *error)
{
    if (stack->text[0])
        return selection_stacking(selection, stack->text, stacking, error);
    *stacking = (struct session_stacking){selection, (enum session_color_by)stack->color_by};
    return true;
}

static bool run_stack(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct stack_data *stack = data;
    struct session_stacking stacking;
    if (!timeline_stacking(selection, &stack->request.stack, &stacking, error))
        return false;
    stack->by = stacking.selection == selection ? stacking.by : OTHER_KIND;
    selection_legend(stacking.selection, stacking.by, &stack->legend);
    return true;
}

static void load_stack(struct timeline *timeline, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(stack_data, run_stack, NULL);
    timeline->stack.color_by = (uint64_t)browse->color_by;
    if (!timeline->stack.text[0]) {
        timeline->legend = &browse->legend;
        memcpy(timeline->tones, browse->slots, sizeof(timeline->tones));
        return;
    }
    static struct stack_data wanted; /* too large for the stack; only one thread uses views */
    wanted.request.selections = browse->selections;
    wanted.request.stack = timeline->stack;
    const struct stack_data *data =
        browse_get(browse, &timeline->stack_load, &kind, &wanted.request);
    timeline->legend = data ? &data->legend : timeline_no_legend();
    if (data)
        browse_assign(browse, (unsigned)data->by, timeline->legend, timeline->tones);
}

void timeline_stack_by(struct timeline *timeline, struct browse *browse, const char *by)
{
    struct session_error error = {.message = ""};
    char text[sizeof(timeline->stack.text)];
    const int length = snprintf(text, sizeof(text), "%.*s", (int)strcspn(by, "\n"), by);
    if (length >= (int)sizeof(text)) {
        browse_complain(browse, "that is too long: stack by fewer fields");
        return;
    }
    while (strlen(text) > 0 && text[strlen(text) - 1] == ' ')
        text[strlen(text) - 1] = 0;
    if (text[0] && !session_stacking_check(browse->session, browse->filter, text, &error)) {
        browse_complain(browse, "%s", error.message);
        return;
    }
    memset(timeline->stack.text, 0, sizeof(timeline->stack.text));
    memcpy(timeline->stack.text, text, strlen(text));
    timeline->stacked_color_by = browse->color_by;
    browse_say(browse, "stacked by %s", timeline_stack_name(timeline, browse));
}

const char *timeline_chosen(const void *view)
{
    return ((const struct timeline *)view)->stack.text;
}

void timeline_choose(void *view, struct browse *browse, const char *text)
{
    struct timeline *timeline = view;
    snprintf(timeline->stack.text, sizeof(timeline->stack.text), "%s", text);
    timeline->stacked_color_by = browse->color_by;
}

/* Returns true if the active filter, or the one that is coming, can be stacked so. */
static bool is_possible(const struct timeline *timeline, const struct browse *browse)
{
    struct session_error error;
    const char *text = timeline->stack.text;
    return session_stacking_check(browse->session, browse->filter, text, &error) ||
           session_stacking_check(browse->session, browse_wanted_filter(browse), text, &error);
}

void timeline_check_stack(struct timeline *timeline, struct browse *browse)
{
    if (!timeline->stack.text[0])
        return;
    /* A user who chooses a colouring wants to see it. */
    const bool colored = timeline->stacked_color_by != browse->color_by;
    if (!colored && is_possible(timeline, browse))
        return;
    memset(timeline->stack.text, 0, sizeof(timeline->stack.text));
    if (!browse->message[0])
        browse_say(browse, "stacked by %s again", timeline_stack_name(timeline, browse));
}

const char *timeline_stack_name(const struct timeline *timeline, const struct browse *browse)
{
    return timeline->stack.text[0] ? timeline->stack.text : color_by_name(browse->color_by);
}

struct cell_style timeline_style(const struct timeline *timeline, const struct grid *grid,
                                 size_t position)
{
    return legend_category(timeline->legend, timeline->tones, grid, position);
}

uint32_t timeline_pattern(const struct timeline *timeline, size_t position)
{
    return legend_pattern(timeline->tones, position);
}

enum {
    COLUMN_FROM,
    COLUMN_TO,
    COLUMN_LIVE,
    COLUMN_LIVE_COUNT,
    COLUMN_PEAK,
    COLUMN_ALLOCATED,
    COLUMN_ALLOCATED_COUNT,
    COLUMN_FREED,
    COLUMN_FREED_COUNT,
    COLUMNS
};

static const struct table_column columns[COLUMNS] = {
    [COLUMN_FROM] = {.title = "from_ns"},
    [COLUMN_TO] = {.title = "to_ns"},
    [COLUMN_LIVE] = {.title = "live_bytes"}, /* at the slot's end */
    [COLUMN_LIVE_COUNT] = {.title = "live_count"},
    [COLUMN_PEAK] = {.title = "seen_peak_bytes"}, /* the slot's own peak is no less */
    [COLUMN_ALLOCATED] = {"allocated_bytes", .file = "bytes"},
    [COLUMN_ALLOCATED_COUNT] = {"allocated_count", .file = "allocations"},
    [COLUMN_FREED] = {.title = "freed_bytes"},
    [COLUMN_FREED_COUNT] = {.title = "freed_count"},
};

static void layer_cell(const struct timeline *timeline, size_t row, size_t layer,
                       struct table_cell *out)
{
    const struct timeline_colors *colors = timeline->colors ? &timeline->colors[row] : NULL;
    out->is_number = timeline_shows_bytes(timeline) || colors;
    if (timeline_shows_bytes(timeline)) {
        out->number = timeline->slots[row].color_bytes[layer];
    } else if (colors) {
        out->negative = colors->down[layer] > 0;
        out->number = out->negative ? colors->down[layer] : colors->up[layer];
    }
}

static void cell(void *context, size_t row, size_t column, struct table_cell *out)
{
    const struct timeline *timeline = context;
    if (column >= COLUMNS) {
        layer_cell(timeline, row, column - COLUMNS, out);
        return;
    }
    const struct session_slot *slot = &timeline->slots[row];
    const uint64_t numbers[COLUMNS] = {
        [COLUMN_FROM] = timeline_edge(timeline, (int)row),
        [COLUMN_TO] = timeline_edge(timeline, (int)row + 1),
        [COLUMN_LIVE] = slot->live_bytes,
        [COLUMN_LIVE_COUNT] = slot->live_count,
        [COLUMN_PEAK] = slot->peak_bytes,
        [COLUMN_ALLOCATED] = slot->allocated_bytes,
        [COLUMN_ALLOCATED_COUNT] = slot->allocated_count,
        [COLUMN_FREED] = slot->freed_bytes,
        [COLUMN_FREED_COUNT] = slot->freed_count,
    };
    out->is_number = true;
    out->number = numbers[column];
}

bool timeline_write_slots(const struct timeline *timeline, const struct session *session, FILE *out,
                          enum table_format format)
{
    static const char *const shown[] = {[TIMELINE_LIVE] = "live_bytes",
                                        [TIMELINE_RATE] = "allocations",
                                        [TIMELINE_NET] = "net_bytes",
                                        [TIMELINE_RSS] = "rss"};
    struct table_column all[COLUMNS + SESSION_COLORS];
    char titles[SESSION_COLORS]
               [sizeof(timeline->legend->entry[0].label) + ALIKE_DIFFERENCE_SIZE + 16];
    struct alike_name names[SESSION_COLORS];
    struct legend_names legend = {session, timeline->legend};
    const size_t layers = timeline->legend->count;
    memcpy(all, columns, sizeof(columns));
    for (size_t i = 0; i < layers; i++)
        names[i] = list_legend_name(&legend, i);
    for (size_t i = 0; i < layers; i++) {
        char apart[ALIKE_DIFFERENCE_SIZE];
        snprintf(titles[i], sizeof(titles[i]), "%s: %s%s", shown[timeline->mode], names[i].name,
                 alike_difference(names, layers, i, apart));
        all[COLUMNS + i] = (struct table_column){.title = titles[i]};
    }
    const struct table_source source = {.context = (void *)timeline,
                                        .columns = all,
                                        .column_count = COLUMNS + layers,
                                        .rows = timeline->slots_known ? (size_t)timeline->slot_count
                                                                      : 0,
                                        .cell = cell};
    table_write(&source, out, format);
    return source.rows > 0;
}

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

void timeline_load_runs(struct timeline *timeline, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(busy_data, run_busy, NULL);
    const struct busy_data wanted = {.request = {browse->selections, timeline->from, timeline->to}};
    const struct busy_data *busy =
        !timeline->compress || timeline->slot_count < 2 * TIMELINE_RUNS_MOST
            ? NULL
            : browse_get(browse, &timeline->busy_load, &kind, &wanted.request);
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

static void fill_request(const struct timeline *timeline, const struct browse *browse,
                         struct slots_request *request)
{
    memset(request, 0, sizeof(*request));
    request->selections = browse->selections;
    request->stack = timeline->stack;
    request->run_count = timeline->run_count;
    memcpy(request->runs, timeline->runs, timeline->run_count * sizeof(timeline->runs[0]));
}

static void load_slots(struct timeline *timeline, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(slots_data, run_slots, NULL);
    static struct slots_data wanted; /* too large for the stack; only one thread uses views */
    fill_request(timeline, browse, &wanted.request);
    const struct slots_data *slots =
        browse_get(browse, &timeline->slots_load, &kind, &wanted.request);
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
    if (!timeline_stacking(selection, &colors->request.slots.stack, &by, error))
        return false;
    return colors->request.mode == TIMELINE_NET ? run_net(&by, colors, error)
                                                : run_births(&by, colors, error);
}

/* The chart of live bytes has its colours in the slots. */
static void load_colors(struct timeline *timeline, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(colors_data, run_colors, NULL);
    static struct colors_data wanted; /* too large for the stack; only one thread uses views */
    timeline->colors = NULL;
    if (timeline_shows_bytes(timeline))
        return;
    memset(&wanted.request, 0, sizeof(wanted.request));
    wanted.request.mode = timeline->mode;
    fill_request(timeline, browse, &wanted.request.slots);
    const struct colors_data *data =
        browse_get(browse, &timeline->colors_load, &kind, &wanted.request);
    timeline->colors = data ? data->colors : NULL;
}

/* ---- the resident set ------------------------------------------------------------------- */

struct rss_data {
    struct {
        uint64_t selections;
    } request;
    struct session_residency *moments; /* their texts belong to the session */
    size_t count;
    char why[256]; /* there is none */
};

static bool run_rss(struct session *session, struct selection *selection, void *data,
                    struct session_error *error)
{
    struct rss_data *rss = data;
    const struct session_residency *moments;
    size_t count;
    if (!session_residencies(session, &moments, &count, error))
        return false;
    if (count == 0) {
        snprintf(rss->why, sizeof(rss->why), "%s", session_residency_why(session));
        return true;
    }
    rss->moments = malloc(count * sizeof(*moments));
    if (!rss->moments) {
        snprintf(error->message, sizeof(error->message), SESSION_OUT_OF_MEMORY);
        return false;
    }
    /* If all processes are selected, the one with the largest resident set. */
    const uint32_t process = moments[session_residency_largest(moments, count)].process;
    for (size_t i = 0; i < count; i++)
        if (moments[i].process == process)
            rss->moments[rss->count++] = moments[i];
    return true;
}

/* Gives the slots the parts of the last reading before their ends as colours, with a legend of the
 * parts. Their events stay. */
static void take_rss(struct timeline *timeline, const struct rss_data *rss)
{
    static struct session_slot slots[TIMELINE_SLOTS_MOST]; /* only one thread uses views */
    static struct session_legend legend;
    enum session_residency_class parts[RESIDENCY_IN_RSS];
    size_t next = 0;
    legend.count = 0;
    for (size_t i = 0; i < RESIDENCY_IN_RSS; i++) {
        uint64_t most = 0;
        for (size_t k = 0; k < rss->count; k++)
            most = rss->moments[k].bytes[i] > most ? rss->moments[k].bytes[i] : most;
        if (most == 0)
            continue;
        const size_t at = legend.count++;
        parts[at] = (enum session_residency_class)i;
        snprintf(legend.entry[at].label, sizeof(legend.entry[at].label), "%s",
                 session_residency_class_title(parts[at]));
        legend.entry[at].color = -1;
        timeline->tones[at] = (uint8_t)i;
    }
    for (int i = 0; i < timeline->slot_count; i++) {
        while (next < rss->count && rss->moments[next].ns < timeline_edge(timeline, i + 1))
            next++;
        slots[i] = timeline->slots[i];
        memset(slots[i].color_bytes, 0, sizeof(slots[i].color_bytes));
        slots[i].live_bytes = next > 0 ? rss->moments[next - 1].present : 0;
        slots[i].peak_bytes = slots[i].live_bytes;
        for (size_t k = 0; next > 0 && k < legend.count; k++)
            slots[i].color_bytes[k] = rss->moments[next - 1].bytes[parts[k]];
    }
    timeline->slots = slots;
    timeline->legend = &legend;
}

static void load_rss(struct timeline *timeline, struct browse *browse)
{
    static const struct load_kind kind = LOAD_ROWS(rss_data, run_rss, moments);
    const struct rss_data wanted = {.request = {browse->selections}};
    if (timeline->mode != TIMELINE_RSS)
        return;
    const struct rss_data *rss = browse_get(browse, &timeline->rss_load, &kind, &wanted.request);
    if (!rss) {
        timeline->slots_known = false;
        timeline->slots = timeline_no_slots();
    } else if (rss->count == 0) {
        timeline->mode = TIMELINE_LIVE;
        browse_say(browse, "%s", rss->why);
    } else if (timeline->slots_known) {
        take_rss(timeline, rss);
    }
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
    return selection_events_between(selection, events->request.from, events->request.to, take_event,
                                    events, error) ||
           events->count == TIMELINE_EVENTS_MOST;
}

static void load_events(struct timeline *timeline, struct browse *browse, uint64_t from,
                        uint64_t to)
{
    static const struct load_kind kind = LOAD_KIND(events_data, run_events, NULL);
    const struct session_slot *slot = &timeline->slots[timeline->cursor];
    const uint64_t count = slot->allocated_count + slot->freed_count;
    timeline->events = NULL;
    timeline->event_count = 0;
    if (!timeline->slots_known || count == 0 || count > TIMELINE_EVENTS_MOST)
        return;
    const struct events_data wanted = {.request = {browse->selections, from, to}};
    const struct events_data *events =
        browse_get(browse, &timeline->events_load, &kind, &wanted.request);
    timeline->events = events ? events->events : NULL;
    timeline->event_count = events ? events->count : 0;
}

/* ---- layers ----------------------------------------------------------------------------- */

#define REST (SESSION_COLORS - 1)

/* Finds the layers that are nowhere in the window a hundredth of the largest slot: two or more, or
 * one if there is a rest already. */
static void find_small(struct timeline *timeline)
{
    uint64_t most = 0;
    size_t count = 0;
    timeline->small = 0;
    if (timeline->mode != TIMELINE_LIVE || !timeline->slots_known)
        return;
    for (int slot = 0; slot < timeline->slot_count; slot++)
        if (timeline->slots[slot].live_bytes > most)
            most = timeline->slots[slot].live_bytes;
    for (size_t i = 0; i < timeline->legend->count && i < REST; i++) {
        uint64_t largest = 0;
        for (int slot = 0; slot < timeline->slot_count; slot++)
            if (timeline->slots[slot].color_bytes[i] > largest)
                largest = timeline->slots[slot].color_bytes[i];
        if (largest < most / 100) {
            timeline->small |= 1u << i;
            count++;
        }
    }
    if (count < 2 && timeline->legend->count <= REST)
        timeline->small = 0;
}

size_t timeline_layers(const struct timeline *timeline, size_t positions[SESSION_COLORS])
{
    size_t count = 0;
    for (size_t i = 0; i < timeline->legend->count && i < REST; i++)
        if ((timeline->small >> i & 1) == 0)
            positions[count++] = i;
    if (timeline->legend->count > REST || timeline->small != 0)
        positions[count++] = REST;
    return count;
}

uint64_t timeline_layer_bytes(const struct timeline *timeline, const struct session_slot *slot,
                              size_t position)
{
    uint64_t bytes = slot->color_bytes[position];
    for (size_t i = 0; position == REST && i < REST; i++)
        bytes += timeline->small >> i & 1 ? slot->color_bytes[i] : 0;
    return bytes;
}

/* Asks what is live at the moment by type, or by size if hardly any is known, or by the user's
 * functions if the layers are types: if there is room beside the chart. */
static void load_held(struct timeline *timeline, struct browse *browse)
{
    const struct growth_data *before = timeline->held;
    const uint64_t ns = browse->moment_ns;
    timeline->held = NULL;
    if (timeline->columns < TIMELINE_WIDE)
        return;
    timeline->held_by = SESSION_GROWTH_USER;
    if (browse->color_by == SESSION_COLOR_TYPE && !timeline->stack.text[0])
        timeline->held = growth_get(browse, &timeline->users_load, ns, ns, SESSION_GROWTH_USER);
    else
        timeline->held = live_by_type_get(browse, timeline->types_loads, ns, &timeline->held_by);
    if (timeline->held && timeline->held != before)
        growth_sort_live(timeline->held);
}

void timeline_load(struct timeline *timeline, struct browse *browse)
{
    static const struct load_kind shares_kind = LOAD_KIND(shares_data, run_shares, NULL);
    static const struct load_kind at_kind = LOAD_KIND(at_data, run_at, NULL);
    const uint64_t from = timeline_edge(timeline, timeline->cursor);
    const uint64_t to = timeline_edge(timeline, timeline->cursor + 1);
    load_stack(timeline, browse);
    load_slots(timeline, browse);
    load_colors(timeline, browse);
    load_rss(timeline, browse);
    const struct at_data moment = {
        .request = {browse->selections, browse->moment_ns, timeline->stack}};
    const struct at_data *at = browse_get(browse, &timeline->at_load, &at_kind, &moment.request);
    timeline->at = at ? &at->slot : NULL;
    const struct shares_data cursor = {.request = {browse->selections, from, to}};
    const struct shares_data *shares =
        browse_get(browse, &timeline->shares_load, &shares_kind, &cursor.request);
    timeline->shares = shares ? shares->shares : NULL;
    timeline->share_count = shares ? shares->count : 0;
    load_events(timeline, browse, from, to);
    load_held(timeline, browse);
    find_small(timeline);
    timeline_load_range(timeline, browse);
}

void timeline_loads_clear(struct timeline *timeline, struct browse *browse)
{
    struct load *const loads[] = {
        &timeline->slots_load,     &timeline->shares_load,   &timeline->busy_load,
        &timeline->at_load,        &timeline->events_load,   &timeline->colors_load,
        &timeline->stack_load,     &timeline->rss_load,      &timeline->users_load,
        &timeline->types_loads[0], &timeline->types_loads[1]};
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
        load_clear(&browse->loader, loads[i]);
}
