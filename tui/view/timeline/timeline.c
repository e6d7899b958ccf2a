/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeline view: live bytes over time, with a window, a cursor and a range. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/keys/keys.h"
#include "tui/screen/format.h"
#include "tui/view/common/legend.h"
#include "tui/view/timeline/timeline.h"
#include "tui/view/view.h"

const struct session_legend *timeline_no_legend(void)
{
    static struct session_legend none;
    return &none;
}

static void *create(void)
{
    struct timeline *timeline = calloc(1, sizeof(*timeline));
    if (timeline) {
        timeline->slots = timeline_no_slots();
        timeline->legend = timeline_no_legend();
        timeline->dragged_ns = UINT64_MAX;
    }
    return timeline;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct timeline *timeline = view;
    timeline_loads_clear(timeline, exploration);
    free(timeline->orders[0]);
    free(timeline->orders[1]);
    free(timeline);
}

struct timeline_layout timeline_lay_out(const struct timeline *timeline, int width, int height,
                                        bool range)
{
    struct timeline_layout layout = {.axis_width = 8, .legend_x = -1};
    /* Labels of several keys are longer. */
    const bool longer = strchr(timeline->stack.text, ',') != NULL ||
                        strcmp(timeline->stack.text, SESSION_STACKING_GROUPS) == 0;
    layout.legend_width = width >= (longer ? 110 : 160)  ? 48
                          : width >= (longer ? 74 : 110) ? 38
                          : width >= 64                  ? 26
                                                         : 0;
    layout.chart_width = width - layout.axis_width - layout.legend_width;
    if (layout.legend_width > 0)
        layout.legend_x = layout.axis_width + layout.chart_width;
    if (layout.chart_width > TIMELINE_SLOTS_MOST)
        layout.chart_width = TIMELINE_SLOTS_MOST;
    if (layout.chart_width < 1)
        layout.chart_width = 1;
    layout.range_rows = !range ? 0 : height >= 30 ? height * 2 / 5 : height >= 8 ? height / 2 : 0;
    layout.range_y = height - layout.range_rows;
    height -= layout.range_rows;
    layout.detail_rows = height >= 14 ? 3 : 1;
    layout.chart_height = height - 2 - layout.detail_rows;
    if (layout.chart_height < 1)
        layout.chart_height = 1;
    layout.details = layout.chart_height + 2;
    return layout;
}

uint64_t timeline_edge(const struct timeline *timeline, int slot)
{
    size_t i = 0;
    while (i + 1 < timeline->run_count && (uint64_t)slot >= timeline->runs[i + 1].first)
        i++;
    const struct timeline_run *run = &timeline->runs[i];
    const uint64_t span = run->to - run->from, count = run->count > 0 ? run->count : 1;
    const uint64_t at = (uint64_t)slot - run->first;
    return run->from + span / count * at + span % count * at / count;
}

uint64_t timeline_rate(const struct timeline *timeline, int slot, uint64_t count)
{
    const uint64_t length = timeline_edge(timeline, slot + 1) - timeline_edge(timeline, slot);
    const double rate = (double)count * 1e9 / (double)(length > 0 ? length : 1);
    return rate < 1e18 ? (uint64_t)rate : (uint64_t)1e18;
}

int timeline_slot_of(const struct timeline *timeline, uint64_t ns)
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

/* ---- window and cursor ------------------------------------------------------------------ */

static uint64_t session_end(const struct exploration *exploration)
{
    uint64_t duration = session_duration_ns(exploration->session);
    return duration > 0 ? duration : 1;
}

/* Sets the window, moved and cut so that it lies within the session. */
static void set_window(struct timeline *timeline, uint64_t end, uint64_t from, uint64_t span)
{
    uint64_t least = (uint64_t)timeline->columns;
    if (span < least)
        span = least;
    if (span > end)
        span = end;
    if (from > end - span)
        from = end - span;
    timeline->from = from;
    timeline->to = from + span;
}

/* Sets the window and its slots. */
static void move_window(struct timeline *timeline, struct exploration *exploration, uint64_t from,
                        uint64_t span)
{
    set_window(timeline, session_end(exploration), from, span);
    timeline->slot_count = timeline->columns;
    timeline_load_runs(timeline, exploration);
}

/* Shows the whole time of the selected process, or of the session. */
static void show_all(struct timeline *timeline, struct exploration *exploration)
{
    const uint64_t start = session_start_ns(exploration->session), end = session_end(exploration);
    move_window(timeline, exploration, start, end > start ? end - start : 0);
}

/* Moves the window so that it holds the shared moment, and the cursor to that moment. */
static void show_moment(struct timeline *timeline, struct exploration *exploration)
{
    uint64_t span = timeline->to - timeline->from, moment = exploration->moment_ns;
    if (moment < timeline->from || moment >= timeline->to)
        move_window(timeline, exploration, moment > span / 2 ? moment - span / 2 : 0, span);
    timeline->cursor = timeline_slot_of(timeline, moment);
}

static void set_cursor(struct timeline *timeline, struct exploration *exploration, int slot)
{
    const uint64_t span = timeline->to - timeline->from;
    uint64_t step = span / (uint64_t)timeline->slot_count;
    step = step ? step : 1;
    if (slot < 0) {
        const uint64_t back = step * (uint64_t)-slot;
        move_window(timeline, exploration, timeline->from > back ? timeline->from - back : 0, span);
        slot = 0;
    } else if (slot >= timeline->slot_count) {
        move_window(timeline, exploration,
                    timeline->from + step * (uint64_t)(slot - timeline->slot_count + 1), span);
        slot = timeline->slot_count - 1;
    }
    timeline->cursor = slot;
    exploration->moment_ns = timeline_edge(timeline, slot + 1) - 1;
}

static void zoom(struct timeline *timeline, struct exploration *exploration, bool in)
{
    uint64_t span = timeline->to - timeline->from, moment = exploration->moment_ns;
    uint64_t wider = in ? span / 2 : span > UINT64_MAX / 2 ? span : span * 2;
    /* The moment keeps its position on the screen. */
    uint64_t before = moment > timeline->from ? moment - timeline->from : 0;
    uint64_t offset = (uint64_t)((double)before / (double)span * (double)wider);
    move_window(timeline, exploration, moment > offset ? moment - offset : 0, wider);
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
    move_window(timeline, exploration, from, span);
    if (timeline->from == before)
        timeline->cursor = later ? timeline->slot_count - 1 : 0;
    exploration->moment_ns = timeline_edge(timeline, timeline->cursor + 1) - 1;
}

static void fit(struct timeline *timeline, struct exploration *exploration,
                const struct view_input *input)
{
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, exploration->has_range);
    timeline->columns = layout.chart_width;
    const uint64_t start = session_start_ns(exploration->session);
    /* A window that shows everything still does when the session grows or the process changes. */
    if (timeline->to == 0 || timeline->start != start ||
        (timeline->from == timeline->start && timeline->to == timeline->end))
        show_all(timeline, exploration);
    else
        move_window(timeline, exploration, timeline->from, timeline->to - timeline->from);
    timeline->start = start;
    timeline->end = session_end(exploration);
    if (exploration->moment_ns >= session_end(exploration))
        exploration->moment_ns = session_end(exploration) - 1;
    show_moment(timeline, exploration);
}

/* ---- keys ------------------------------------------------------------------------------- */

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
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, exploration->has_range);
    const int slot = input->x - layout.axis_width;
    if (input->action == ACTION_CLICK && layout.legend_x >= 0 && input->x > layout.legend_x &&
        input->y > 0 && input->y < layout.chart_height) {
        if (!input->twice && timeline->slots_known) /* otherwise it is not drawn */
            legend_follow(exploration, timeline->legend, timeline_stack_name(timeline, exploration),
                          (size_t)input->y - 1);
        return true;
    }
    if (slot < 0 || slot >= timeline->slot_count || input->y >= layout.details)
        return false;
    set_cursor(timeline, exploration, slot);
    if (input->action == ACTION_CLICK)
        timeline->dragged_ns = timeline_edge(timeline, slot);
    else
        zoom(timeline, exploration, input->action == ACTION_WHEEL_UP);
    return true;
}

/* Marks the range from where the button went down to where the mouse is. */
static bool drag(struct timeline *timeline, struct exploration *exploration,
                 const struct view_input *input)
{
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, exploration->has_range);
    int slot = input->x - layout.axis_width;
    if (timeline->dragged_ns == UINT64_MAX)
        return true;
    slot = slot < 0 ? 0 : slot >= timeline->slot_count ? timeline->slot_count - 1 : slot;
    if (input->action == ACTION_DRAG) {
        exploration->marking = true;
        timeline->range_ns = timeline->dragged_ns;
        set_cursor(timeline, exploration, slot);
    } else if (exploration->marking) {
        timeline_range(timeline, exploration, NULL);
    }
    return true;
}

/* The browser has asked by a menu, or the user by a command. */
static bool stack_by(struct timeline *timeline, struct exploration *exploration, const char *by)
{
    if (by)
        timeline_stack_by(timeline, exploration, by);
    return by != NULL;
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
        timeline_range(timeline, exploration, input->text);
        break;
    case ACTION_DIRECTION:
        timeline->mode = (timeline->mode + 1) % TIMELINE_MODES;
        break;
    case ACTION_STACK_BY:
        return stack_by(timeline, exploration, input->text);
    case ACTION_COMPRESS:
        timeline->compress = !timeline->compress;
        exploration_say(exploration, timeline->compress ? "idle gaps take one column each"
                                                        : "all times have the same length");
        break;
    case ACTION_DIFF:
        exploration_show(exploration, VIEW_DIFF);
        break;
    case ACTION_FOLLOW:
    case ACTION_TO_MEMORY:
        exploration_show(exploration, VIEW_MEMORY);
        break;
    case ACTION_DRAG:
    case ACTION_DROP:
        return drag(timeline, exploration, input);
    case ACTION_GOTO:
        go_to(timeline, exploration, input->text);
        break;
    case ACTION_CLICK:
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        return click(timeline, exploration, input);
    case ACTION_BACK:
        if (!exploration->marking)
            return false;
        exploration->marking = false;
        break;
    default:
        return false;
    }
    return true;
}

/* Returns true if an action moves the cursor even if a list has the keys. */
static bool is_of_chart(const struct timeline *timeline, const struct exploration *exploration,
                        const struct view_input *input)
{
    const struct timeline_layout layout =
        timeline_lay_out(timeline, input->width, input->height, exploration->has_range);
    switch (input->action) {
    case ACTION_LEFT:
    case ACTION_RIGHT:
        return true;
    case ACTION_CLICK:
    case ACTION_WHEEL_UP:
    case ACTION_WHEEL_DOWN:
        return input->y < layout.range_y;
    default:
        return exploration->marking;
    }
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct timeline *timeline = view;
    exploration_load_legend(exploration);
    timeline_check_stack(timeline, exploration);
    fit(timeline, exploration, input);
    if (input->action == ACTION_CLICK)
        timeline->dragged_ns = UINT64_MAX; /* click() knows better of the chart */
    bool used = !is_of_chart(timeline, exploration, input) && input->action != ACTION_REFRESH &&
                timeline_act_on_range(timeline, exploration, input);
    if (!used)
        used = act(timeline, exploration, input);
    fit(timeline, exploration, input);
    if (!input->more)
        timeline_load(timeline, exploration);
    return used;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_LEFT}, .action = ACTION_LEFT, .description = "one slot earlier"},
    {.keys = {KEYCODE_RIGHT}, .action = ACTION_RIGHT, .description = "one slot later"},
    {.keys = {KEYCODE_UP, 'k'}, .action = ACTION_UP, .description = "range: up one row"},
    {.keys = {KEYCODE_DOWN, 'j'}, .action = ACTION_DOWN, .description = "range: down one row"},
    {.keys = {'s'}, .action = ACTION_SORT, .description = "range: sort by the next column"},
    {.keys = {'<'},
     .action = ACTION_SORT_LEFT,
     .description = "range: sort by the column to the left"},
    {.keys = {'>'},
     .action = ACTION_SORT_RIGHT,
     .description = "range: sort by the column to the right"},
    {.keys = {'r'},
     .action = ACTION_SORT_REVERSE,
     .description = "range: sort the other way round"},
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "follow",
     .description = "memory as it was at the cursor; range: what the selected row counts"},
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
     .description = "mark a range of time: type 2s 5s, or move and press v again; shows what grew"},
    {.keys = {'d'}, .action = ACTION_DIFF, .description = "what changed between two moments"},
    {.keys = {'b'},
     .action = ACTION_DIRECTION,
     .footer = "mode",
     .description =
         "live bytes, allocations a second, net growth of each slot, each stacked by colour"},
    {.keys = {'z'}, .action = ACTION_COMPRESS, .description = "shorten idle gaps, and back"},
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
    {.keys = {'G'},
     .action = ACTION_STACK_BY,
     .footer = "stack",
     .description = "stack by another field, or by the groups of the filter, than the colours do"},
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
    .asks_range = "range, such as 2s 5s, or move:",
    .help = "Live bytes over time. v marks a range and shows which types and functions grew in it.",
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = timeline_render,
    .offers = timeline_offers,
    .copy = timeline_copy,
    .chosen = timeline_chosen,
    .choose = timeline_choose,
    .table = timeline_table,
};
