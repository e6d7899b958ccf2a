/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of graphs: stored graphs, and an editor of the active filter as boxes. */
#include "tui/view/graphs/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "tui/view/common/list.h"
#include "tui/view/view.h"

static void *create(void)
{
    struct graphs *graphs = calloc(1, sizeof(*graphs));
    if (graphs)
        graphs->wiring = NO_BOX;
    return graphs;
}

static void destroy(void *view, struct exploration *exploration)
{
    struct graphs *graphs = view;
    load_clear(&exploration->loader, &graphs->list_load);
    graphs_clear_boxes(graphs, exploration);
    free(graphs);
}

/* ---- changes ---------------------------------------------------------------------------- */

/* Makes a text the active filter if it parses; frees it. `answer`: what the user typed for it.
 * Returns false if it does not parse. */
static bool apply(struct graphs *graphs, struct exploration *exploration, char *text,
                  const char *answer)
{
    struct session_error error = {.message = ""};
    const bool good = text && session_filter_check(exploration->session, text, &error);
    graphs->rejected[0] = 0;
    if (!text) {
        exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
    } else if (!good) {
        exploration_complain(exploration, "%s", error.message);
        if (answer)
            snprintf(graphs->rejected, sizeof(graphs->rejected), "%s", answer);
    } else {
        exploration_replace(exploration, text);
    }
    free(text);
    return good;
}

static bool has_boxes(struct graphs *graphs, struct exploration *exploration)
{
    if (graphs->diagram.count == 0)
        exploration_complain(exploration, "%s", graphs->problem);
    return graphs->diagram.count > 0;
}

static void ask(struct graphs *graphs, struct exploration *exploration,
                enum graphs_question question, const char *prompt, const char *text)
{
    static const char *const before[] = {
        [ASKED_ADD] = "all | ", [ASKED_EDIT] = "all | ", [ASKED_PAINT] = "all | color ",
        [ASKED_JOIN] = "all ",  [ASKED_USE] = "",        [ASKED_SAVE] = NULL};
    const bool again = graphs->rejected[0] && graphs->asked == question;
    const bool set =
        question == ASKED_EDIT && graphs->diagram.boxes[graphs->box].kind == SESSION_BOX_SET;
    graphs->asked = question;
    exploration_ask(exploration, prompt, set ? "" : before[question],
                    again ? graphs->rejected : text);
}

/* Switches a step off, or the one on that was switched off after the selected box. */
static void switch_box(struct graphs *graphs, struct exploration *exploration)
{
    const size_t box = graphs->box;
    const struct session_box *step = &graphs->diagram.boxes[box];
    bool off;
    char *text = graphs_switch(graphs, exploration, &off);
    const bool good = text && apply(graphs, exploration, text, NULL);
    if (good && off) {
        exploration_say(exploration, "off: %s; O switches it on again", step->text);
        graphs->box = step->input[0];
    } else if (good) {
        graphs->added = true;
    } else if (off) {
        graphs_forget_off(graphs, box);
    }
}

static void save(struct graphs *graphs, struct exploration *exploration, const char *name)
{
    struct session_storing storing = {.place = SESSION_PLACE_SESSION};
    struct session_error error = {.message = ""};
    const char *text = graphs->shown && graphs->shown[0] ? graphs->shown : "all";
    if (!session_graph_store(exploration->session, name, text, &storing, &error)) {
        exploration_complain(exploration, "%s", error.message);
        snprintf(graphs->rejected, sizeof(graphs->rejected), "%s", name);
        return;
    }
    graphs->stores++;
    graphs->rejected[0] = 0;
    exploration_say(exploration, "\"%s\" is stored in %s%s%s", name,
                    storing.stored == SESSION_PLACE_SESSION ? "the session" : "your folder",
                    storing.note[0] ? ": " : "", storing.note);
}

static void take_answer(struct graphs *graphs, struct exploration *exploration, const char *text)
{
    char *changed = NULL;
    text += strspn(text, " ");
    if (!*text || (graphs->diagram.count == 0 && graphs->asked < ASKED_USE))
        return;
    switch (graphs->asked) {
    case ASKED_ADD:
        changed = session_diagram_inserted(&graphs->diagram, graphs->box, text);
        break;
    case ASKED_EDIT:
        changed = session_diagram_replaced(&graphs->diagram, graphs->box, text);
        break;
    case ASKED_PAINT: {
        char step[300];
        snprintf(step, sizeof(step), "color %.280s", text);
        changed = session_diagram_inserted(&graphs->diagram, graphs->box, step);
        break;
    }
    case ASKED_JOIN:
        changed = graphs_wire_joined(graphs, exploration, text);
        if (!changed)
            return;
        break;
    case ASKED_USE:
        changed = strdup(text);
        break;
    case ASKED_SAVE:
        save(graphs, exploration, text);
        return;
    }
    apply(graphs, exploration, changed, text);
    graphs->added =
        (graphs->asked == ASKED_ADD || graphs->asked == ASKED_PAINT) && !graphs->rejected[0];
}

/* ---- keys ------------------------------------------------------------------------------- */

static void use_selected(struct graphs *graphs, struct exploration *exploration)
{
    const struct session_graph *graph = graphs_selected(graphs);
    char use[SESSION_GRAPH_NAME_MAX + 300];
    if (!graph)
        return;
    graphs->in_diagram = true;
    if (graphs_use(graph, use, sizeof(use)))
        ask(graphs, exploration, ASKED_USE, "with these values:", use);
    else
        exploration_replace(exploration, graph->name);
}

static void remove_stored(struct graphs *graphs, struct exploration *exploration)
{
    const struct session_graph *graph = graphs_selected(graphs);
    struct session_error error = {.message = ""};
    if (!graph)
        return;
    if (!session_graph_delete(exploration->session, graph->place, graph->name, &error)) {
        exploration_complain(exploration, "%s", error.message);
        return;
    }
    exploration_say(exploration, "\"%s\" is deleted", graph->name);
    graphs->stores++;
}

static bool act_on_list(struct graphs *graphs, struct exploration *exploration,
                        const struct view_input *input, const struct graphs_layout *layout)
{
    const struct table_source source = graphs_list_source(graphs);
    if (input->action == ACTION_REMOVE) {
        remove_stored(graphs, exploration);
        return true;
    }
    if (input->action != ACTION_FOLLOW) {
        const enum table_answer answer =
            list_update(exploration, &graphs->table, &source, input, &layout->list);
        if (answer != TABLE_FOLLOW)
            return answer != TABLE_IGNORED;
    }
    use_selected(graphs, exploration);
    return true;
}

/* Ends the line at the selected box. */
static void end_line(struct graphs *graphs, struct exploration *exploration)
{
    bool asks;
    char *text = graphs_wire_end(graphs, exploration, &asks);
    if (asks)
        ask(graphs, exploration, ASKED_JOIN, "join by + - or &:", "");
    else if (text)
        apply(graphs, exploration, text, NULL);
}

/* Does an action while a line is drawn. Returns false if it is none of these. */
static bool act_on_line(struct graphs *graphs, struct exploration *exploration, enum action action)
{
    const struct session_box *box = &graphs->diagram.boxes[graphs->box];
    switch (action) {
    case ACTION_FOLLOW:
    case ACTION_WIRE:
        end_line(graphs, exploration);
        return true;
    case ACTION_SWAP:
        graphs->pin = session_box_inputs(box) > 1 ? !graphs->pin : 0;
        return true;
    case ACTION_BACK:
        graphs->wiring = NO_BOX;
        return true;
    default:
        return false;
    }
}

/* Opens the selected box. */
static void open_box(struct graphs *graphs, struct exploration *exploration)
{
    char *text = graphs_open_box(graphs, exploration);
    if (text)
        apply(graphs, exploration, text, NULL);
}

static bool act_on_diagram(struct graphs *graphs, struct exploration *exploration,
                           enum action action)
{
    if (!has_boxes(graphs, exploration))
        return action != ACTION_BACK;
    if (graphs->wiring != NO_BOX && act_on_line(graphs, exploration, action))
        return true;
    const struct session_box *box = &graphs->diagram.boxes[graphs->box];
    switch (action) {
    case ACTION_LEFT:
    case ACTION_RIGHT:
    case ACTION_UP:
    case ACTION_DOWN:
        graphs->box = graphs_neighbour(graphs, action);
        graphs_wire_select(graphs);
        return true;
    case ACTION_HOME:
        graphs->box = 0;
        return true;
    case ACTION_END:
        graphs->box = graphs->diagram.count - 1;
        return true;
    case ACTION_FOLLOW:
        ask(graphs, exploration, ASKED_EDIT, "box:", box->text);
        return true;
    case ACTION_ADD:
        ask(graphs, exploration, ASKED_ADD, "step, or + - & and a set:", "");
        return true;
    case ACTION_PAINT:
        ask(graphs, exploration, ASKED_PAINT, "color:", "");
        return true;
    case ACTION_REMOVE:
        if (box->kind == SESSION_BOX_SET && strcmp(box->text, "all") == 0) {
            exploration_complain(exploration, "a set that is deleted becomes all: this one is");
            return true;
        }
        graphs_forget_off(graphs, graphs->box);
        apply(graphs, exploration, session_diagram_removed(&graphs->diagram, graphs->box), NULL);
        if (session_box_inputs(box) > 0)
            graphs->box = box->input[0];
        return true;
    case ACTION_SWAP:
        if (box->kind == SESSION_BOX_COMBINE)
            apply(graphs, exploration, session_diagram_swapped(&graphs->diagram, graphs->box),
                  NULL);
        else
            exploration_complain(exploration, "only + - and & have two inputs");
        return true;
    case ACTION_WIRE:
        graphs_wire_begin(graphs, exploration);
        return true;
    case ACTION_OPEN:
        open_box(graphs, exploration);
        return true;
    case ACTION_DISABLE:
        switch_box(graphs, exploration);
        return true;
    default:
        return false;
    }
}

static bool click(struct graphs *graphs, struct exploration *exploration,
                  const struct view_input *input, const struct graphs_layout *layout)
{
    const size_t box = graphs_box_at(graphs, &layout->diagram, input->x, input->y);
    graphs->in_diagram = input->y >= layout->diagram.y && layout->diagram.height > 0;
    if (!graphs->in_diagram)
        return act_on_list(graphs, exploration, input, layout);
    if (box == SIZE_MAX)
        return true;
    graphs->box = box;
    return !input->twice || act_on_diagram(graphs, exploration, ACTION_FOLLOW);
}

/* Draws a line with the mouse: from the box where the button went down to the one where it goes up,
 * to the input in that row. */
static bool drag(struct graphs *graphs, struct exploration *exploration,
                 const struct view_input *input, const struct graphs_layout *layout)
{
    const size_t box = graphs_box_at(graphs, &layout->diagram, input->x, input->y);
    if (input->action == ACTION_DRAG && !graphs->dragging && graphs->diagram.count > 0) {
        graphs->dragging = true;
        graphs_wire_begin(graphs, exploration);
    }
    if (!graphs->dragging)
        return false;
    if (box != NO_BOX && box != graphs->box) {
        graphs->box = box;
        graphs_wire_select(graphs);
    }
    if (box != NO_BOX && session_box_inputs(&graphs->diagram.boxes[box]) > 1)
        graphs->pin = graphs_pin_at(graphs, &layout->diagram, box, input->y);
    if (input->action != ACTION_DROP)
        return true;
    graphs->dragging = false;
    if (box != NO_BOX && graphs->wiring != NO_BOX && box != graphs->wiring)
        end_line(graphs, exploration);
    else
        graphs->wiring = NO_BOX;
    return true;
}

/* Returns true if an action is about a box, so that it goes to the diagram from the list, too. */
static bool is_about_boxes(enum action action)
{
    return action == ACTION_ADD || action == ACTION_WIRE || action == ACTION_DISABLE ||
           action == ACTION_SWAP || action == ACTION_OPEN || action == ACTION_PAINT;
}

static bool act(struct graphs *graphs, struct exploration *exploration,
                const struct view_input *input, const struct graphs_layout *layout)
{
    if (is_about_boxes(input->action))
        graphs->in_diagram = true;
    switch (input->action) {
    case ACTION_ANSWER:
        take_answer(graphs, exploration, input->text);
        return true;
    case ACTION_NEXT_PANE:
    case ACTION_PREVIOUS_PANE:
        graphs->in_diagram = !graphs->in_diagram;
        return true;
    case ACTION_SAVE:
        ask(graphs, exploration, ASKED_SAVE, "store under the name:", "");
        return true;
    case ACTION_CLICK:
        return click(graphs, exploration, input, layout);
    case ACTION_DRAG:
    case ACTION_DROP:
        return graphs->in_diagram && drag(graphs, exploration, input, layout);
    case ACTION_BACK:
        return graphs->in_diagram && graphs->wiring != NO_BOX &&
               act_on_line(graphs, exploration, ACTION_BACK);
    default:
        return graphs->in_diagram ? act_on_diagram(graphs, exploration, input->action)
                                  : act_on_list(graphs, exploration, input, layout);
    }
}

static bool update(void *view, struct exploration *exploration, const struct view_input *input)
{
    struct graphs *graphs = view;
    bool used = input->action == ACTION_REFRESH;
    graphs_load_list(graphs, exploration);
    if (!graphs->shown || strcmp(graphs->shown, exploration_wanted_filter(exploration)) != 0)
        graphs_load_boxes(graphs, exploration);
    struct graphs_layout layout = graphs_areas(graphs, input->width, input->height);
    if (!used)
        used = act(graphs, exploration, input, &layout);
    graphs_load_list(graphs, exploration);
    if (!input->more)
        graphs_load_boxes(graphs, exploration);
    layout = graphs_areas(graphs, input->width, input->height);
    const struct table_source source = graphs_list_source(graphs);
    graphs->table.blurred = graphs->in_diagram;
    if (layout.list.height > 0)
        table_settle(&graphs->table, &source, &layout.list);
    return used;
}

/* ---- text ------------------------------------------------------------------------------- */

static bool copy(void *view, struct exploration *exploration, FILE *out)
{
    const struct graphs *graphs = view;
    const struct session_graph *graph = graphs_selected(graphs);
    if (graphs->in_diagram || !graph)
        fprintf(out, "%s\n", exploration->filter[0] ? exploration->filter : "all");
    else
        fprintf(out, "%s\n", graph->whole);
    return true;
}

static bool write_table(void *view, struct exploration *exploration, FILE *out,
                        enum table_format format)
{
    const struct graphs *graphs = view;
    const struct table_source source = graphs_list_source(graphs);
    (void)exploration;
    if (graphs->list)
        table_write(&source, out, format);
    return graphs->list != NULL;
}

static const struct key_binding keys[] = {
    {.keys = {KEYCODE_ENTER},
     .action = ACTION_FOLLOW,
     .footer = "use, edit",
     .description = "in the list: make the graph the active filter; in the diagram: edit the box"},
    {.keys = {KEYCODE_TAB},
     .action = ACTION_NEXT_PANE,
     .footer = "boxes",
     .description = "to the diagram, and back to the list"},
    {.keys = {KEYCODE_LEFT}, .action = ACTION_LEFT, .description = "to a box's first input"},
    {.keys = {KEYCODE_RIGHT}, .action = ACTION_RIGHT, .description = "to the next box"},
    {.keys = {'A'},
     .action = ACTION_ADD,
     .footer = "add",
     .description = "add a step after the box, or join a set to it by + - &"},
    {.keys = {'D', KEYCODE_DELETE},
     .action = ACTION_REMOVE,
     .footer = "delete",
     .description = "delete the box; in the list: the stored graph"},
    {.keys = {'J'},
     .action = ACTION_WIRE,
     .footer = "join",
     .description = "draw a line from the box: then go to another box, Enter joins, I takes its "
                    "other input, Esc gives up; the mouse drags lines"},
    {.keys = {'o'},
     .action = ACTION_OPEN,
     .description = "open a box that uses a graph by its name into the boxes of that graph"},
    {.keys = {'O'},
     .action = ACTION_DISABLE,
     .footer = "on/off",
     .description = "switch a step off, or on again"},
    {.keys = {'I'}, .action = ACTION_SWAP, .description = "the inputs of + - & change places"},
    {.keys = {'c'},
     .action = ACTION_PAINT,
     .description = "colour what flows out of the box: red, or by type"},
    {.keys = {'W'},
     .action = ACTION_SAVE,
     .footer = "save",
     .description = "store the active filter under a name"},
};

const struct view_ops graphs_view = {
    .name = "graphs",
    .title = "Graphs",
    .help = "Stored graphs, and the active filter as boxes: what flows from left to right are "
            "allocations. Each box shows how many of them leave it, and their bytes. u and U undo "
            "and redo changes.",
    .keys = KEY_TABLE(keys),
    .create = create,
    .destroy = destroy,
    .update = update,
    .render = graphs_render,
    .copy = copy,
    .table = write_table,
};
