/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the layers of the timeline: the colouring that all views share, or any field or group. */
#include <string.h>

#include "session/stacking.h"
#include "tui/screen/theme.h"
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

bool timeline_stacking(struct selection *selection, const struct timeline_stack *stack,
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
    (void)session;
    if (!timeline_stacking(selection, &stack->request.stack, &stacking, error))
        return false;
    stack->by = stacking.selection == selection ? stacking.by : OTHER_KIND;
    selection_legend(stacking.selection, stacking.by, &stack->legend);
    return true;
}

void timeline_load_stack(struct timeline *timeline, struct exploration *exploration)
{
    static const struct load_kind kind = {sizeof(((struct stack_data *)0)->request),
                                          sizeof(struct stack_data), run_stack, NULL};
    timeline->stack.color_by = (uint64_t)exploration->color_by;
    if (!timeline->stack.text[0]) {
        timeline->legend = &exploration->legend;
        memcpy(timeline->tones, exploration->slots, sizeof(timeline->tones));
        return;
    }
    static struct stack_data wanted; /* too large for the stack; only one thread uses views */
    wanted.request.selections = exploration->selections;
    wanted.request.stack = timeline->stack;
    const struct stack_data *data =
        exploration_get(exploration, &timeline->stack_load, &kind, &wanted.request);
    timeline->legend = data ? &data->legend : timeline_no_legend();
    if (data)
        exploration_assign(exploration, (unsigned)data->by, timeline->legend, timeline->tones);
}

void timeline_stack_by(struct timeline *timeline, struct exploration *exploration, const char *by)
{
    struct session_error error = {.message = ""};
    char text[sizeof(timeline->stack.text)];
    const int length = snprintf(text, sizeof(text), "%.*s", (int)strcspn(by, "\n"), by);
    if (length >= (int)sizeof(text)) {
        exploration_complain(exploration, "that is too long: stack by fewer fields");
        return;
    }
    while (strlen(text) > 0 && text[strlen(text) - 1] == ' ')
        text[strlen(text) - 1] = 0;
    if (text[0] &&
        !session_stacking_check(exploration->session, exploration->filter, text, &error)) {
        exploration_complain(exploration, "%s", error.message);
        return;
    }
    memset(timeline->stack.text, 0, sizeof(timeline->stack.text));
    memcpy(timeline->stack.text, text, strlen(text));
    timeline->stacked_color_by = exploration->color_by;
    exploration_say(exploration, "stacked by %s", timeline_stack_name(timeline, exploration));
}

const char *timeline_chosen(const void *view)
{
    return ((const struct timeline *)view)->stack.text;
}

void timeline_choose(void *view, struct exploration *exploration, const char *text)
{
    struct timeline *timeline = view;
    snprintf(timeline->stack.text, sizeof(timeline->stack.text), "%s", text);
    timeline->stacked_color_by = exploration->color_by;
}

/* Returns true if the active filter, or the one that is coming, can be stacked so. */
static bool is_possible(const struct timeline *timeline, const struct exploration *exploration)
{
    struct session_error error;
    const char *text = timeline->stack.text;
    return session_stacking_check(exploration->session, exploration->filter, text, &error) ||
           session_stacking_check(exploration->session, exploration_wanted_filter(exploration),
                                  text, &error);
}

void timeline_check_stack(struct timeline *timeline, struct exploration *exploration)
{
    if (!timeline->stack.text[0])
        return;
    /* A user who chooses a colouring wants to see it. */
    const bool colored = timeline->stacked_color_by != exploration->color_by;
    if (!colored && is_possible(timeline, exploration))
        return;
    memset(timeline->stack.text, 0, sizeof(timeline->stack.text));
    if (!exploration->message[0])
        exploration_say(exploration, "stacked by %s again",
                        timeline_stack_name(timeline, exploration));
}

const char *timeline_stack_name(const struct timeline *timeline,
                                const struct exploration *exploration)
{
    return timeline->stack.text[0] ? timeline->stack.text : color_by_name(exploration->color_by);
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
