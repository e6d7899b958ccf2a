/* SPDX-License-Identifier: BSD-2-Clause */
/* The overview view: what is odd in this session, and who held the memory at the peak. */
#include "tui/view/overview/overview.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/explore/worst_holes.h"
#include "tui/screen/format.h"

#define STEP_SIZE 8192

static void *create(void)
{
    return calloc(1, sizeof(struct overview));
}

static void destroy(void *view, struct exploration *exploration)
{
    overview_loads_clear(view, exploration);
    free(view);
}

/* A graph over 100 million rows takes seconds. */
static void leave(void *view, struct exploration *exploration)
{
    load_clear(&exploration->loader, &((struct overview *)view)->ranked_load);
    worst_holes_leave(exploration);
}

/* ---- lines ------------------------------------------------------------------------------ */

int overview_fact_lines(const struct overview *overview)
{
    return overview->data ? (int)overview->data->finding_count + (overview->once.text[0] != 0) : 0;
}

const struct finding *overview_fact(const struct overview *overview, size_t at)
{
    return at < overview->data->finding_count ? &overview->data->findings[at] : &overview->once;
}

int overview_lines(const struct overview *overview)
{
    return (int)overview->ranked_count + overview_fact_lines(overview) +
           (int)overview->held_counts[HELD_BY_USER] + (int)overview->held_counts[HELD_BY_TYPE];
}

struct overview_line overview_line_of(const struct overview *overview, int number)
{
    size_t at = number < 0 ? SIZE_MAX : (size_t)number;
    if (at < overview->ranked_count)
        return (struct overview_line){.kind = LINE_RANKED, .at = at};
    at -= overview->ranked_count;
    if (at < (size_t)overview_fact_lines(overview))
        return (struct overview_line){.kind = LINE_FACT, .at = at};
    at -= (size_t)overview_fact_lines(overview);
    for (int way = 0; way < HELD_WAYS; way++) {
        if (at < overview->held_counts[way])
            return (struct overview_line){
                .kind = LINE_HELD, .way = (enum overview_held)way, .at = at};
        at -= overview->held_counts[way];
    }
    return (struct overview_line){.kind = LINE_NONE};
}

static void select_line(struct overview *overview, int line)
{
    const int last = overview_lines(overview) - 1;
    overview->selected = line > last ? last : line;
    if (overview->selected < 0)
        overview->selected = 0;
}

/* Moves to the first line of the next part of the screen, or of the one before. */
static void next_part(struct overview *overview, bool back)
{
    const int starts[] = {0, (int)overview->ranked_count,
                          (int)overview->ranked_count + overview_fact_lines(overview),
                          overview_lines(overview) - (int)overview->held_counts[HELD_BY_TYPE]};
    int part = 3;
    while (part > 0 && starts[part] > overview->selected)
        part--;
    select_line(overview, starts[(part + (back ? 3 : 1)) % 4]);
}

/* ---- what a line counts ----------------------------------------------------------------- */

/* Returns a step that the caller frees, NULL if memory is exhausted. */
static char *held_step(const struct overview *overview, const struct exploration *exploration,
                       const struct overview_line *line)
{
    const bool by_type = line->way == HELD_BY_TYPE;
    const uint32_t id = overview->held[line->way]->rows[line->at].id;
    char time[FORMAT_SIZE], *step = NULL;
    char *name =
        id == 0
            ? NULL
            : filter_quoted(growth_name(exploration->session,
                                        by_type ? SESSION_GROWTH_TYPE : SESSION_GROWTH_USER, id));
    format_filter_time(time, exploration->peak_ns);
    if ((id != 0 && !name) ||
        asprintf(&step, "where alloc_time <= %s and (freed == false or free_time > %s) and %s%s%s",
                 time, time, by_type ? "type" : "user", name ? " == " : " is null",
                 name ? name : "") < 0)
        step = NULL;
    free(name);
    return step;
}

/* The leaked blocks are a set: no step selects them. */
static void show_leaked(struct exploration *exploration)
{
    char *text = NULL, *shown = exploration_allocations(exploration);
    if (!exploration->filter[0])
        exploration_replace(exploration, "leaked");
    else if (shown && asprintf(&text, "leaked & ( %s )", shown) >= 0)
        exploration_replace(exploration, text);
    free(shown);
    free(text);
}

static void follow_fact(const struct overview *overview, struct exploration *exploration, size_t at)
{
    const struct finding *finding = overview_fact(overview, at);
    char kept[FORMAT_SIZE];
    if (finding->leaked)
        show_leaked(exploration);
    else if (finding->filter[0])
        exploration_narrow(exploration, finding->filter);
    exploration->wish_view = finding->view;
    if (finding->kept > 0)
        exploration_say(exploration, "the first %s are kept", format_count(kept, finding->kept));
    if (finding->sql)
        exploration_query(exploration, finding->sql);
    else if (!finding->filter[0] && finding->view == VIEW_SAME)
        exploration_say(exploration, "this line counts no allocations");
}

static void follow_ranked(const struct ranked_finding *finding, struct exploration *exploration)
{
    char text[STEP_SIZE];
    if (finding->kind == RANKED_HOLES) {
        exploration->moment_ns = finding->first_ns;
        exploration_show(exploration, VIEW_MEMORY);
        exploration_say(exploration, "h lists the holes");
        return;
    }
    char *filter = exploration->filter[0] ? exploration_allocations(exploration) : strdup("");
    if (filter && ranked_filter(finding, filter, text, sizeof(text))) {
        exploration_replace(exploration, text);
        exploration_show(exploration, VIEW_ALLOCATIONS);
    } else {
        exploration_say(exploration, "the filter of this line is too long");
    }
    free(filter);
}

static void follow(const struct overview *overview, struct exploration *exploration)
{
    const struct overview_line line = overview_line_of(overview, overview->selected);
    char *step;
    switch (line.kind) {
    case LINE_RANKED:
        follow_ranked(&overview->ranked[line.at], exploration);
        break;
    case LINE_FACT:
        follow_fact(overview, exploration, line.at);
        break;
    case LINE_HELD:
        step = held_step(overview, exploration, &line);
        if (step)
            exploration_list(exploration, step);
        free(step);
        break;
    case LINE_NONE:
        break;
    }
}

/* Steps only: what a graph finds is not one. */
static size_t offers(void *view, struct exploration *exploration, struct view_offer *out,
                     size_t capacity)
{
    const struct overview *overview = view;
    const struct overview_line line = overview_line_of(overview, overview->selected);
    if (capacity == 0)
        return 0;
    if (line.kind == LINE_FACT && overview_fact(overview, line.at)->filter[0]) {
        snprintf(out->label, sizeof(out->label), "%.120s",
                 overview_fact(overview, line.at)->leaked
                     ? "never freed, also what the runtime keeps"
                     : overview_fact(overview, line.at)->text);
        snprintf(out->step, sizeof(out->step), "%s", overview_fact(overview, line.at)->filter);
        return 1;
    }
    if (line.kind == LINE_HELD) {
        snprintf(out->label, sizeof(out->label), "live at the peak: %.90s",
                 growth_name(exploration->session,
                             line.way == HELD_BY_TYPE ? SESSION_GROWTH_TYPE : SESSION_GROWTH_USER,
                             overview->held[line.way]->rows[line.at].id));
        out->long_step = held_step(overview, exploration, &line);
        return out->long_step != NULL;
    }
    if (line.kind == LINE_RANKED && overview->ranked[line.at].user[0]) {
        const struct ranked_finding *finding = &overview->ranked[line.at];
        snprintf(out->label, sizeof(out->label), "this function: %.90s", finding->user);
        char *name = filter_quoted(finding->user);
        if (!name || asprintf(&out->long_step, "where user == %s", name) < 0)
            out->long_step = NULL;
        free(name);
        return out->long_step != NULL;
    }
    return 0;
}

/* ---- keys ------------------------------------------------------------------------------- */

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct overview *overview = view;
    if (!input->more)
        overview_load(overview, exploration, input->width);
    switch (input->action) {
    case ACTION_REFRESH:
        select_line(overview, overview->selected);
        break;
    case ACTION_UP:
    case ACTION_WHEEL_UP:
        select_line(overview, overview->selected - 1);
        break;
    case ACTION_DOWN:
    case ACTION_WHEEL_DOWN:
        select_line(overview, overview->selected + 1);
        break;
    case ACTION_PAGE_UP:
    case ACTION_PREVIOUS_PANE:
        next_part(overview, true);
        break;
    case ACTION_PAGE_DOWN:
    case ACTION_NEXT_PANE:
        next_part(overview, false);
        break;
    case ACTION_HOME:
        select_line(overview, 0);
        break;
    case ACTION_END:
        select_line(overview, overview_lines(overview) - 1);
        break;
    case ACTION_FOLLOW:
        follow(overview, exploration);
        break;
    case ACTION_CLICK: {
        const int line =
            overview_line_at(overview, input->width, input->height, input->x, input->y);
        if (line >= 0)
            select_line(overview, line);
        if (line >= 0 && input->twice)
            follow(overview, exploration);
        break;
    }
    default:
        return false;
    }
    return true;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "follow",
     .description = "show what the selected line counts"},
};

const struct view_ops overview_view = {
    .name = "overview",
    .title = "Overview",
    .help = "What is odd in this session, the gravest first, and who held the memory at its peak.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .leave = leave,
    .update = update,
    .render = overview_render,
    .offers = offers,
    .copy = overview_copy,
    .table = overview_table,
};
