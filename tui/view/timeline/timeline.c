/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeline view: live bytes over time, with a window, a cursor and a range. */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/format.h"
#include "tui/keys/keys.h"
#include "tui/view/timeline/timeline.h"
#include "tui/view/view.h"

static const struct session_slot no_slots[TIMELINE_SLOTS_MOST];

static void *create(void)
{
    struct timeline *timeline = calloc(1, sizeof(*timeline));
    if (timeline)
        timeline->slots = no_slots;
    return timeline;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct timeline *timeline = view;
    load_clear(&exploration->loader, &timeline->slots_load);
    load_clear(&exploration->loader, &timeline->shares_load);
    free(timeline);
}

struct timeline_layout timeline_lay_out(int width, int height)
{
    struct timeline_layout layout = {.axis_width = 8, .legend_x = -1};
    layout.legend_width = width >= 160 ? 48 : width >= 110 ? 38 : width >= 64 ? 26 : 0;
    layout.chart_width = width - layout.axis_width - layout.legend_width;
    if (layout.legend_width > 0)
        layout.legend_x = layout.axis_width + layout.chart_width;
    if (layout.chart_width > TIMELINE_SLOTS_MOST)
        layout.chart_width = TIMELINE_SLOTS_MOST;
    if (layout.chart_width < 1)
        layout.chart_width = 1;
    layout.detail_rows = height >= 14 ? 3 : 1;
    layout.chart_height = height - 2 - layout.detail_rows;
    if (layout.chart_height < 1)
        layout.chart_height = 1;
    layout.details = layout.chart_height + 2;
    return layout;
}

uint64_t timeline_edge(const struct timeline *timeline, int slot)
{
    uint64_t span = timeline->to - timeline->from;
    uint64_t count = timeline->slot_count > 0 ? (uint64_t)timeline->slot_count : 1;
    uint64_t whole = span / count, rest = span % count;
    return timeline->from + whole * (uint64_t)slot + rest * (uint64_t)slot / count;
}

/* ---- window and cursor ------------------------------------------------------------------ */

static uint64_t session_end(const struct exploration *exploration)
{
    uint64_t duration = session_duration_ns(exploration->session);
    return duration > 0 ? duration : 1;
}

/* Sets the window, moved and cut so that it lies within the session. */
static void set_window(struct timeline *timeline, uint64_t end, uint64_t from, uint64_t span)
{
    uint64_t least = (uint64_t)timeline->slot_count;
    if (span < least)
        span = least;
    if (span > end)
        span = end;
    if (from > end - span)
        from = end - span;
    timeline->from = from;
    timeline->to = from + span;
}

/* Shows the whole time of the selected process, or of the session. */
static void show_all(struct timeline *timeline, const struct exploration *exploration)
{
    const uint64_t start = session_start_ns(exploration->session), end = session_end(exploration);
    set_window(timeline, end, start, end > start ? end - start : 0);
}

static int slot_of(const struct timeline *timeline, uint64_t ns)
{
    int low = 0, high = timeline->slot_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (timeline_edge(timeline, middle) <= ns)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Moves the window so that it holds the shared moment, and the cursor to that moment. */
static void show_moment(struct timeline *timeline, const struct exploration *exploration)
{
    uint64_t span = timeline->to - timeline->from, moment = exploration->moment_ns;
    if (moment < timeline->from || moment >= timeline->to)
        set_window(timeline, session_end(exploration), moment > span / 2 ? moment - span / 2 : 0,
                   span);
    timeline->cursor = slot_of(timeline, moment);
}

static void set_cursor(struct timeline *timeline, struct exploration *exploration, int slot)
{
    uint64_t end = session_end(exploration), span = timeline->to - timeline->from;
    uint64_t step = span / (uint64_t)timeline->slot_count;
    step = step ? step : 1;
    if (slot < 0) {
        uint64_t back = step * (uint64_t)-slot;
        set_window(timeline, end, timeline->from > back ? timeline->from - back : 0, span);
        slot = 0;
    } else if (slot >= timeline->slot_count) {
        set_window(timeline, end,
                   timeline->from + step * (uint64_t)(slot - timeline->slot_count + 1), span);
        slot = timeline->slot_count - 1;
    }
    timeline->cursor = slot;
    exploration->moment_ns = timeline_edge(timeline, slot + 1) - 1;
}

static void zoom(struct timeline *timeline, const struct exploration *exploration, bool in)
{
    uint64_t span = timeline->to - timeline->from, moment = exploration->moment_ns;
    uint64_t wider = in ? span / 2 : span > UINT64_MAX / 2 ? span : span * 2;
    /* The moment keeps its position on the screen. */
    uint64_t before = moment > timeline->from ? moment - timeline->from : 0;
    uint64_t offset = (uint64_t)((double)before / (double)span * (double)wider);
    set_window(timeline, session_end(exploration), moment > offset ? moment - offset : 0, wider);
    show_moment(timeline, exploration);
}

static void pan(struct timeline *timeline, struct exploration *exploration, bool later, int columns)
{
    uint64_t span = timeline->to - timeline->from;
    uint64_t move = span / (uint64_t)timeline->slot_count * (uint64_t)columns;
    uint64_t from = later                   ? timeline->from + move
                    : timeline->from > move ? timeline->from - move
                                            : 0;
    uint64_t before = timeline->from;
    set_window(timeline, session_end(exploration), from, span);
    if (timeline->from == before)
        timeline->cursor = later ? timeline->slot_count - 1 : 0;
    exploration->moment_ns = timeline_edge(timeline, timeline->cursor + 1) - 1;
}

/* ---- loading ---------------------------------------------------------------------------- */

struct slots_data {
    struct {
        uint64_t generation, from, to, count, by;
    } request;
    struct session_slot slots[TIMELINE_SLOTS_MOST];
};

static bool run_slots(struct session *session, struct selection *selection, void *data,
                      struct session_error *error)
{
    struct slots_data *slots = data;
    (void)session;
    return selection_timeline(selection, slots->request.from, slots->request.to,
                              (size_t)slots->request.count,
                              (enum session_color_by)slots->request.by, slots->slots, error);
}

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

static void load(struct timeline *timeline, struct exploration *exploration)
{
    static const struct load_kind slots_kind = {sizeof(((struct slots_data *)0)->request),
                                                sizeof(struct slots_data), run_slots, NULL};
    static const struct load_kind shares_kind = {sizeof(((struct shares_data *)0)->request),
                                                 sizeof(struct shares_data), run_shares, NULL};
    const struct slots_data wanted = {.request = {exploration->generation, timeline->from,
                                                  timeline->to, (uint64_t)timeline->slot_count,
                                                  (uint64_t)exploration->color_by}};
    const struct slots_data *slots =
        exploration_get(exploration, &timeline->slots_load, &slots_kind, &wanted.request);
    timeline->slots_known = slots != NULL;
    timeline->slots = slots ? slots->slots : no_slots;
    const struct shares_data cursor = {.request = {exploration->selections,
                                                   timeline_edge(timeline, timeline->cursor),
                                                   timeline_edge(timeline, timeline->cursor + 1)}};
    const struct shares_data *shares =
        exploration_get(exploration, &timeline->shares_load, &shares_kind, &cursor.request);
    timeline->shares = shares ? shares->shares : NULL;
    timeline->share_count = shares ? shares->count : 0;
}

static void fit(struct timeline *timeline, struct exploration *exploration,
                const struct view_input *input)
{
    struct timeline_layout layout = timeline_lay_out(input->width, input->height);
    timeline->slot_count = layout.chart_width;
    const uint64_t start = session_start_ns(exploration->session);
    /* A window that shows everything still does when the session grows or the process changes. */
    if (timeline->to == 0 || timeline->start != start ||
        (timeline->from == timeline->start && timeline->to == timeline->end))
        show_all(timeline, exploration);
    else
        set_window(timeline, session_end(exploration), timeline->from,
                   timeline->to - timeline->from);
    timeline->start = start;
    timeline->end = session_end(exploration);
    if (exploration->moment_ns >= session_end(exploration))
        exploration->moment_ns = session_end(exploration) - 1;
    show_moment(timeline, exploration);
}

/* ---- keys ------------------------------------------------------------------------------- */

static void narrow_to(struct exploration *exploration, uint64_t from, uint64_t to)
{
    char a[FORMAT_SIZE], b[FORMAT_SIZE], step[128];
    snprintf(step, sizeof(step), "where alloc_time in %s .. %s", format_filter_time(a, from),
             format_filter_time(b, to > from ? to - 1 : to));
    exploration_narrow(exploration, step);
}

static void range(struct timeline *timeline, struct exploration *exploration)
{
    uint64_t begin = timeline_edge(timeline, timeline->cursor);
    uint64_t end = timeline_edge(timeline, timeline->cursor + 1);
    if (!timeline->ranging) {
        timeline->ranging = true;
        timeline->range_ns = begin;
        exploration_say(exploration, "range begun: move the cursor, then v again to filter by it");
        return;
    }
    timeline->ranging = false;
    if (timeline->range_ns <= begin)
        narrow_to(exploration, timeline->range_ns, end);
    else
        narrow_to(exploration, begin, timeline->range_ns);
}

static void go_to(struct timeline *timeline, struct exploration *exploration, const char *text)
{
    uint64_t ns;
    if (!parse_time(text, &ns)) {
        exploration_complain(exploration, "\"%.40s\" is not a time; write 2.5s, 300ms or 12us",
                             text);
        return;
    }
    uint64_t end = session_end(exploration);
    exploration->moment_ns = ns < end ? ns : end - 1;
    show_moment(timeline, exploration);
}

static bool click(struct timeline *timeline, struct exploration *exploration,
                  const struct view_input *input)
{
    struct timeline_layout layout = timeline_lay_out(input->width, input->height);
    int slot = input->x - layout.axis_width;
    if (slot < 0 || slot >= timeline->slot_count || input->y >= layout.details)
        return false;
    set_cursor(timeline, exploration, slot);
    if (input->action != ACTION_CLICK)
        zoom(timeline, exploration, input->action == ACTION_WHEEL_UP);
    return true;
}

static bool act(struct timeline *timeline, struct exploration *exploration,
                const struct view_input *input)
{
    switch (input->action) {
    case ACTION_REFRESH:
        break;
    case ACTION_LEFT:
    case ACTION_STEP_BACK:
        set_cursor(timeline, exploration, timeline->cursor - 1);
        break;
    case ACTION_RIGHT:
    case ACTION_STEP_FORWARD:
        set_cursor(timeline, exploration, timeline->cursor + 1);
        break;
    case ACTION_PAGE_UP:
    case ACTION_PAN_LEFT:
        pan(timeline, exploration, false, timeline->slot_count / 2);
        break;
    case ACTION_PAGE_DOWN:
    case ACTION_PAN_RIGHT:
        pan(timeline, exploration, true, timeline->slot_count / 2);
        break;
    case ACTION_HOME:
        exploration->moment_ns = 0;
        show_moment(timeline, exploration);
        break;
    case ACTION_END:
        exploration->moment_ns = session_end(exploration) - 1;
        show_moment(timeline, exploration);
        break;
    case ACTION_PEAK:
        if (exploration_go_to_peak(exploration))
            show_moment(timeline, exploration);
        break;
    case ACTION_ZOOM_IN:
    case ACTION_ZOOM_OUT:
        zoom(timeline, exploration, input->action == ACTION_ZOOM_IN);
        break;
    case ACTION_ZOOM_ALL:
        show_all(timeline, exploration);
        show_moment(timeline, exploration);
        break;
    case ACTION_RANGE:
        range(timeline, exploration);
        break;
    case ACTION_NARROW:
        narrow_to(exploration, timeline_edge(timeline, timeline->cursor),
                  timeline_edge(timeline, timeline->cursor + 1));
        break;
    case ACTION_FOLLOW:
        exploration->wish_view = VIEW_MEMORY;
        break;
    case ACTION_GOTO:
        go_to(timeline, exploration, input->text);
        break;
    case ACTION_CLICK:
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        return click(timeline, exploration, input);
    case ACTION_BACK:
        if (!timeline->ranging)
            return false;
        timeline->ranging = false;
        break;
    default:
        return false;
    }
    return true;
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct timeline *timeline = view;
    fit(timeline, exploration, input);
    bool used = act(timeline, exploration, input);
    if (!input->more)
        load(timeline, exploration);
    return used;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_LEFT}, .action = ACTION_LEFT, .description = "one slot earlier"},
    {.keys = {KEYCODE_RIGHT}, .action = ACTION_RIGHT, .description = "one slot later"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "memory",
     .description = "memory as it was at the cursor"},
    {.keys = {'+', '='},
     .action = ACTION_ZOOM_IN,
     .footer_keys = "+ -",
     .footer = "zoom",
     .description = "zoom in around the cursor"},
    {.keys = {'-'}, .action = ACTION_ZOOM_OUT, .description = "zoom out"},
    {.keys = {'0'},
     .action = ACTION_ZOOM_ALL,

     .description = "zoom to show everything"},
    {.keys = {'v'},
     .action = ACTION_RANGE,
     .footer = "range",
     .description = "begin a range of time; again: filter by allocations made in it"},
    {.keys = {'['},
     .action = ACTION_STEP_BACK,
     .footer_keys = "[ ]",
     .footer = "time",
     .description = "one step back in time"},
    {.keys = {']'}, .action = ACTION_STEP_FORWARD, .description = "one step forward in time"},
    {.keys = {'p'},
     .action = ACTION_PEAK,
     .footer = "peak",
     .description = "to the moment of the peak"},
    {.keys = {'g'},
     .action = ACTION_GOTO,
     .footer = "go to",
     .description = "go to a time, such as 2.5s or 300ms"},
    {.keys = {'H'}, .action = ACTION_PAN_LEFT, .description = "move the window to earlier times"},
    {.keys = {'L'}, .action = ACTION_PAN_RIGHT, .description = "move the window to later times"},
    {.keys = {KEYCODE_PAGE_UP}, .action = ACTION_PAGE_UP, .description = "one page earlier"},
    {.keys = {KEYCODE_PAGE_DOWN}, .action = ACTION_PAGE_DOWN, .description = "one page later"},
};

const struct view_ops timeline_view = {
    .name = "timeline",
    .title = "Timeline",
    .keys = KEY_TABLE(keys),
    .asks = "time:",
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = timeline_render,
};
