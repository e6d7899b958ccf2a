/* SPDX-License-Identifier: BSD-2-Clause */
/* The view of graphs: saved filters, and an editor of the active filter as boxes. */
#include <stdlib.h>
#include <string.h>

#include "schemas/array.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/graphs/graphs.h"
#include "tui/view/view.h"

/* Chooses the input of a box that has just been selected. */
static void wire_select(struct graphs *graphs)
{
    graphs->pin = graphs->diagram.boxes[graphs->box].kind == SESSION_BOX_COMBINE ? 1 : 0;
}

/* Lines that the user draws, and boxes that are opened. The texts of changed graphs are
 * malloc()ed; NULL: there is none, and the user was told why. */
static void wire_begin(struct graphs *graphs, struct browse *browse)
{
    graphs->wiring = graphs->box;
    graphs->pin = 0;
    browse_say(browse, "a line: go to a box, Enter joins, I takes its other input, Esc gives up");
}

/* Ends the line at the selected box. `*asks`: it needs an operator first. */
static char *wire_end(struct graphs *graphs, struct browse *browse, bool *asks)
{
    const struct session_diagram *diagram = &graphs->diagram;
    const size_t from = graphs->wiring, to = graphs->box;
    const struct session_box *end = &diagram->boxes[to];
    *asks = false;
    if (from == to) {
        browse_complain(browse, "a line goes to another box");
        return NULL;
    }
    if (end->kind == SESSION_BOX_SET) {
        *asks = true; /* it has no input: an operator joins both */
        return NULL;
    }
    if (session_diagram_circles(diagram, from, to)) {
        browse_complain(browse, "that line would close a circle: %.60s feeds %.60s", end->text,
                        diagram->boxes[from].text);
        return NULL;
    }
    graphs->wiring = NO_BOX;
    return session_diagram_wired(diagram, from, to, graphs->pin);
}

static char *wire_joined(struct graphs *graphs, struct browse *browse, const char *text)
{
    const size_t from = graphs->wiring;
    graphs->wiring = NO_BOX;
    if (from >= graphs->diagram.count)
        return NULL;
    if (strlen(text) != 1 || !strchr("+-&", *text)) {
        browse_complain(browse, "expected + (both), - (the first without the second) or & "
                                "(what both have)");
        return NULL;
    }
    return session_diagram_joined(&graphs->diagram, from, graphs->box, *text);
}

static char *graphs_open_box(struct graphs *graphs, struct browse *browse)
{
    const struct session_diagram *diagram = &graphs->diagram;
    struct session_graph graph = {.name = NULL};
    struct session_error error = {.message = ""};
    char name[SESSION_GRAPH_NAME_MAX + 1];
    if (!session_diagram_name(diagram, graphs->box, name, sizeof(name))) {
        browse_complain(browse, "only a graph that is used by its name opens");
        return NULL;
    }
    const bool own = session_diagram_defines(diagram, name);
    if (!own && !session_graph_find(browse->session, name, &graph, &error)) {
        browse_complain(browse, "%s", error.message);
        return NULL;
    }
    char *text = session_diagram_opened(diagram, graphs->box, own ? NULL : graph.text, &error);
    if (!own)
        session_graph_clear(&graph);
    if (!text)
        browse_complain(browse, "\"%s\" does not open: %s", name, error.message);
    return text;
}

/* Returns true if a step follows the box in the diagram. */
static bool is_on(const struct graphs *graphs, size_t box, const char *step)
{
    for (size_t i = 0; i < graphs->diagram.count; i++) {
        const struct session_box *other = &graphs->diagram.boxes[i];
        if (other->kind == SESSION_BOX_STEP && other->input[0] == box &&
            strcmp(other->text, step) == 0)
            return true;
    }
    return false;
}

const char *graphs_next_off(const struct graphs *graphs, size_t box, size_t *at)
{
    char *here = *at < graphs->disabled_count ? session_diagram_text(&graphs->diagram, box) : NULL;
    const char *found = NULL;
    while (here && !found && *at < graphs->disabled_count) {
        const struct disabled_box *off = &graphs->disabled[(*at)++];
        if (strcmp(off->before, here) == 0 && !is_on(graphs, box, off->text))
            found = off->text;
    }
    free(here);
    return found;
}

static void forget(struct graphs *graphs, size_t at)
{
    FREE_ALL(graphs->disabled[at].before, graphs->disabled[at].text);
    graphs->disabled_count--;
    memmove(graphs->disabled + at, graphs->disabled + at + 1,
            (graphs->disabled_count - at) * sizeof(graphs->disabled[0]));
}

/* Forgets that a step was ever off: the user deletes it. */
static void forget_off(struct graphs *graphs, size_t box)
{
    const struct session_box *step = &graphs->diagram.boxes[box];
    char *before = step->kind == SESSION_BOX_STEP
                       ? session_diagram_text(&graphs->diagram, step->input[0])
                       : NULL;
    for (size_t i = graphs->disabled_count; before && i > 0; i--)
        if (strcmp(graphs->disabled[i - 1].before, before) == 0 &&
            strcmp(graphs->disabled[i - 1].text, step->text) == 0)
            forget(graphs, i - 1);
    free(before);
}

/* Remembers a step as the last one. Returns false if memory is exhausted. */
static bool remember(struct graphs *graphs, size_t box)
{
    const struct session_box *step = &graphs->diagram.boxes[box];
    struct disabled_box off = {session_diagram_text(&graphs->diagram, step->input[0]),
                               strdup(step->text)};
    if (!off.before || !off.text) {
        FREE_ALL(off.before, off.text);
        return false;
    }
    forget_off(graphs, box);
    if (graphs->disabled_count == DISABLED_MOST)
        forget(graphs, 0);
    graphs->disabled[graphs->disabled_count++] = off;
    return true;
}

/* Switches the first of them on or, if there is none, the selected step off, and stores which of
 * both. Returns the changed graph's text, for free(), or NULL after a message. */
static char *graphs_switch(struct graphs *graphs, struct browse *browse, bool *off)
{
    const size_t box = graphs->box;
    const struct session_box *step = &graphs->diagram.boxes[box];
    size_t at = 0;
    const char *again = graphs_next_off(graphs, box, &at);
    *off = false;
    if (again)
        return session_diagram_inserted(&graphs->diagram, box, again);
    if (step->kind != SESSION_BOX_STEP) {
        browse_complain(browse, "only a step can be switched off");
        return NULL;
    }
    *off = remember(graphs, box);
    char *text = *off ? session_diagram_removed(&graphs->diagram, box) : NULL;
    if (!text)
        browse_complain(browse, SESSION_OUT_OF_MEMORY);
    return text;
}

void graphs_clear_off(struct graphs *graphs)
{
    while (graphs->disabled_count > 0)
        forget(graphs, graphs->disabled_count - 1);
}

struct graph_list_data {
    uint64_t request[2]; /* renewals, stores */
    struct session_graph *graphs;
    size_t count;
    char problem[200];
};

static bool run_list(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct graph_list_data *list = data;
    struct session_error problem = {.message = ""};
    if (!session_graphs(session, &list->graphs, &list->count, &problem)) {
        *error = problem;
        return false;
    }
    snprintf(list->problem, sizeof(list->problem), "%.190s", problem.message);
    return true;
}

static void clear_list(void *data)
{
    struct graph_list_data *list = data;
    session_graphs_free(list->graphs, list->count);
}

/* The saved filters. */
static void load_list(struct graphs *graphs, struct browse *browse)
{
    static const struct load_kind kind = LOAD_KIND(graph_list_data, run_list, clear_list);
    const uint64_t request[2] = {browse->renewals, graphs->stores};
    struct graph_list_data *list = browse_get(browse, &graphs->list_load, &kind, request);
    graphs->list = list ? list->graphs : NULL;
    graphs->list_count = list ? list->count : 0;
    if (list && list->problem[0]) {
        browse_complain(browse, "%s", list->problem);
        list->problem[0] = 0;
    }
}

static const struct table_column columns[] = {
    {"graph", 16, .text = true, .keep = true, .unsorted = true},
    {"stored in", 11, 50, .text = true, .unsorted = true, .file = "stored_in"},
    {"what it selects", .text = true, .keep = true, .unsorted = true, .file = "description"},
};

static void cell(void *context, size_t row, size_t column, struct table_cell *cell)
{
    const struct graphs *graphs = context;
    const struct session_graph *graph = &graphs->list[row];
    if (column == 1)
        snprintf(cell->text, sizeof(cell->text), "%s",
                 graph->place == SESSION_PLACE_SHIPPED ? "mprof"
                                                       : session_place_name(graph->place));
    else if (column == 2)
        cell->name = graph->about[0] ? graph->about : graph->text;
    else
        cell->name = graph->name;
    cell->styled = graph->hidden;
    cell->style = theme_style(THEME_FAINT);
}

static uint64_t key(void *context, size_t row)
{
    const struct graphs *graphs = context;
    uint64_t hash = (uint64_t)graphs->list[row].place + 1;
    for (const char *at = graphs->list[row].name; *at; at++)
        hash = hash * 31 + (unsigned char)*at;
    return hash;
}

struct table_source graphs_list_source(const struct graphs *graphs)
{
    return (struct table_source){.context = (void *)graphs,
                                 .columns = columns,
                                 .column_count = sizeof(columns) / sizeof(columns[0]),
                                 .rows = graphs->list_count,
                                 .cell = cell,
                                 .key = key};
}

static const struct session_graph *graphs_selected(const struct graphs *graphs)
{
    return graphs->table.selected < graphs->list_count ? &graphs->list[graphs->table.selected]
                                                       : NULL;
}

/* Writes "NAME(A, B)" if the graph has parameters, otherwise "NAME". Returns whether it has. */
static bool graphs_use(const struct session_graph *graph, char *out, size_t size)
{
    const size_t length = strlen(graph->name);
    snprintf(out, size, "%s", graph->name);
    /* The definition with the graph's own name is the last one. */
    for (const char *at = graph->text; (at = strstr(at, graph->name)); at += length) {
        const char *after = at + length;
        const char *close = *after == '(' ? strchr(after, ')') : NULL;
        if (!close || close[1 + strspn(close + 1, " \n\t")] != '=')
            continue;
        snprintf(out, size, "%.*s", (int)(close + 1 - at), at);
        return true;
    }
    return false;
}

static void *create(void)
{
    struct graphs *graphs = calloc(1, sizeof(*graphs));
    if (graphs)
        graphs->wiring = NO_BOX;
    return graphs;
}

static void destroy(void *view, struct browse *browse)
{
    struct graphs *graphs = view;
    load_clear(&browse->loader, &graphs->list_load);
    graphs_clear_boxes(graphs, browse);
    free(graphs);
}

/* ---- changes ---------------------------------------------------------------------------- */

/* Makes a text the active filter if it parses; frees it. `answer`: what the user typed for it.
 * Returns false if it does not parse. */
static bool apply(struct graphs *graphs, struct browse *browse, char *text, const char *answer)
{
    struct session_error error = {.message = ""};
    const bool good = text && session_filter_check(browse->session, text, &error);
    graphs->rejected[0] = 0;
    if (!text) {
        browse_complain(browse, SESSION_OUT_OF_MEMORY);
    } else if (!good) {
        browse_complain(browse, "%s", error.message);
        if (answer)
            snprintf(graphs->rejected, sizeof(graphs->rejected), "%s", answer);
    } else {
        browse_replace(browse, text);
    }
    free(text);
    return good;
}

static bool has_boxes(struct graphs *graphs, struct browse *browse)
{
    if (graphs->diagram.count == 0)
        browse_complain(browse, "%s", graphs->problem);
    return graphs->diagram.count > 0;
}

static void ask(struct graphs *graphs, struct browse *browse, enum graphs_question question,
                const char *prompt, const char *text)
{
    static const char *const before[] = {
        [ASKED_ADD] = "all | ", [ASKED_EDIT] = "all | ", [ASKED_PAINT] = "all | color ",
        [ASKED_JOIN] = "all ",  [ASKED_USE] = "",        [ASKED_SAVE] = NULL};
    const bool again = graphs->rejected[0] && graphs->asked == question;
    const bool set =
        question == ASKED_EDIT && graphs->diagram.boxes[graphs->box].kind == SESSION_BOX_SET;
    graphs->asked = question;
    browse_ask(browse, prompt, set ? "" : before[question], again ? graphs->rejected : text);
}

/* Switches a step off, or the one on that was switched off after the selected box. */
static void switch_box(struct graphs *graphs, struct browse *browse)
{
    const size_t box = graphs->box;
    const struct session_box *step = &graphs->diagram.boxes[box];
    bool off;
    char *text = graphs_switch(graphs, browse, &off);
    const bool good = text && apply(graphs, browse, text, NULL);
    if (good && off) {
        browse_say(browse, "off: %s; O switches it on again", step->text);
        graphs->box = step->input[0];
    } else if (good) {
        graphs->added = true;
    } else if (off) {
        forget_off(graphs, box);
    }
}

static void save(struct graphs *graphs, struct browse *browse, const char *name)
{
    struct session_storing storing = {.place = SESSION_PLACE_SESSION};
    struct session_error error = {.message = ""};
    const char *text = graphs->shown && graphs->shown[0] ? graphs->shown : "all";
    if (!session_graph_store(browse->session, name, text, &storing, &error)) {
        browse_complain(browse, "%s", error.message);
        snprintf(graphs->rejected, sizeof(graphs->rejected), "%s", name);
        return;
    }
    graphs->stores++;
    graphs->rejected[0] = 0;
    browse_say(browse, "\"%s\" is stored in %s%s%s", name,
               storing.stored == SESSION_PLACE_SESSION ? "the session" : "your folder",
               storing.note[0] ? ": " : "", storing.note);
}

static void take_answer(struct graphs *graphs, struct browse *browse, const char *text)
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
        changed = wire_joined(graphs, browse, text);
        if (!changed)
            return;
        break;
    case ASKED_USE:
        changed = strdup(text);
        break;
    case ASKED_SAVE:
        save(graphs, browse, text);
        return;
    }
    apply(graphs, browse, changed, text);
    graphs->added =
        (graphs->asked == ASKED_ADD || graphs->asked == ASKED_PAINT) && !graphs->rejected[0];
}

/* ---- keys ------------------------------------------------------------------------------- */

static void use_selected(struct graphs *graphs, struct browse *browse)
{
    const struct session_graph *graph = graphs_selected(graphs);
    char use[SESSION_GRAPH_NAME_MAX + 300];
    if (!graph)
        return;
    graphs->in_diagram = true;
    if (graphs_use(graph, use, sizeof(use)))
        ask(graphs, browse, ASKED_USE, "with these values:", use);
    else
        browse_replace(browse, graph->name);
}

static void remove_stored(struct graphs *graphs, struct browse *browse)
{
    const struct session_graph *graph = graphs_selected(graphs);
    struct session_error error = {.message = ""};
    if (!graph)
        return;
    if (!session_graph_delete(browse->session, graph->place, graph->name, &error)) {
        browse_complain(browse, "%s", error.message);
        return;
    }
    browse_say(browse, "\"%s\" is deleted", graph->name);
    graphs->stores++;
}

static bool act_on_list(struct graphs *graphs, struct browse *browse,
                        const struct view_input *input, const struct graphs_layout *layout)
{
    const struct table_source source = graphs_list_source(graphs);
    if (input->action == ACTION_REMOVE) {
        remove_stored(graphs, browse);
        return true;
    }
    if (input->action != ACTION_FOLLOW) {
        const enum table_answer answer =
            list_update_table(browse, &graphs->table, &source, input, &layout->list);
        if (answer != TABLE_FOLLOW)
            return answer != TABLE_IGNORED;
    }
    use_selected(graphs, browse);
    return true;
}

static void end_line(struct graphs *graphs, struct browse *browse)
{
    bool asks;
    char *text = wire_end(graphs, browse, &asks);
    if (asks)
        ask(graphs, browse, ASKED_JOIN, "join by + - or &:", "");
    else if (text)
        apply(graphs, browse, text, NULL);
}

/* Does an action while a line is drawn. Returns false if it is none of these. */
static bool act_on_line(struct graphs *graphs, struct browse *browse, enum action action)
{
    const struct session_box *box = &graphs->diagram.boxes[graphs->box];
    switch (action) {
    case ACTION_FOLLOW:
    case ACTION_WIRE:
        end_line(graphs, browse);
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

static void open_box(struct graphs *graphs, struct browse *browse)
{
    char *text = graphs_open_box(graphs, browse);
    if (text)
        apply(graphs, browse, text, NULL);
}

static bool act_on_diagram(struct graphs *graphs, struct browse *browse, enum action action)
{
    if (!has_boxes(graphs, browse))
        return action != ACTION_BACK;
    if (graphs->wiring != NO_BOX && act_on_line(graphs, browse, action))
        return true;
    const struct session_box *box = &graphs->diagram.boxes[graphs->box];
    switch (action) {
    case ACTION_LEFT:
    case ACTION_RIGHT:
    case ACTION_UP:
    case ACTION_DOWN:
        graphs->box = graphs_neighbour(graphs, action);
        wire_select(graphs);
        return true;
    case ACTION_HOME:
        graphs->box = 0;
        return true;
    case ACTION_END:
        graphs->box = graphs->diagram.count - 1;
        return true;
    case ACTION_FOLLOW:
        ask(graphs, browse, ASKED_EDIT, "box:", box->text);
        return true;
    case ACTION_ADD:
        ask(graphs, browse, ASKED_ADD, "step, or + - & and a set:", "");
        return true;
    case ACTION_PAINT:
        ask(graphs, browse, ASKED_PAINT, "color:", "");
        return true;
    case ACTION_REMOVE:
        if (box->kind == SESSION_BOX_SET && strcmp(box->text, "all") == 0) {
            browse_complain(browse, "a set that is deleted becomes all: this one is");
            return true;
        }
        forget_off(graphs, graphs->box);
        apply(graphs, browse, session_diagram_removed(&graphs->diagram, graphs->box), NULL);
        if (session_box_inputs(box) > 0)
            graphs->box = box->input[0];
        return true;
    case ACTION_SWAP:
        if (box->kind == SESSION_BOX_COMBINE)
            apply(graphs, browse, session_diagram_swapped(&graphs->diagram, graphs->box), NULL);
        else
            browse_complain(browse, "only + - and & have two inputs");
        return true;
    case ACTION_WIRE:
        wire_begin(graphs, browse);
        return true;
    case ACTION_OPEN:
        open_box(graphs, browse);
        return true;
    case ACTION_DISABLE:
        switch_box(graphs, browse);
        return true;
    default:
        return false;
    }
}

static bool click(struct graphs *graphs, struct browse *browse, const struct view_input *input,
                  const struct graphs_layout *layout)
{
    const size_t box = graphs_box_at(graphs, &layout->diagram, input->x, input->y);
    graphs->in_diagram = input->y >= layout->diagram.y && layout->diagram.height > 0;
    if (!graphs->in_diagram)
        return act_on_list(graphs, browse, input, layout);
    if (box == SIZE_MAX)
        return true;
    graphs->box = box;
    return !input->twice || act_on_diagram(graphs, browse, ACTION_FOLLOW);
}

/* Draws a line with the mouse: from the box where the button went down to the one where it goes up,
 * to the input in that row. */
static bool drag(struct graphs *graphs, struct browse *browse, const struct view_input *input,
                 const struct graphs_layout *layout)
{
    const size_t box = graphs_box_at(graphs, &layout->diagram, input->x, input->y);
    if (input->action == ACTION_DRAG && !graphs->dragging && graphs->diagram.count > 0) {
        graphs->dragging = true;
        wire_begin(graphs, browse);
    }
    if (!graphs->dragging)
        return false;
    if (box != NO_BOX && box != graphs->box) {
        graphs->box = box;
        wire_select(graphs);
    }
    if (box != NO_BOX && session_box_inputs(&graphs->diagram.boxes[box]) > 1)
        graphs->pin = graphs_pin_at(graphs, &layout->diagram, box, input->y);
    if (input->action != ACTION_DROP)
        return true;
    graphs->dragging = false;
    if (box != NO_BOX && graphs->wiring != NO_BOX && box != graphs->wiring)
        end_line(graphs, browse);
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

static bool act(struct graphs *graphs, struct browse *browse, const struct view_input *input,
                const struct graphs_layout *layout)
{
    if (is_about_boxes(input->action))
        graphs->in_diagram = true;
    switch (input->action) {
    case ACTION_ANSWER:
        take_answer(graphs, browse, input->text);
        return true;
    case ACTION_NEXT_PANE:
    case ACTION_PREVIOUS_PANE:
        graphs->in_diagram = !graphs->in_diagram;
        return true;
    case ACTION_SAVE:
        ask(graphs, browse, ASKED_SAVE, "store under the name:", "");
        return true;
    case ACTION_CLICK:
        return click(graphs, browse, input, layout);
    case ACTION_DRAG:
    case ACTION_DROP:
        return graphs->in_diagram && drag(graphs, browse, input, layout);
    case ACTION_BACK:
        return graphs->in_diagram && graphs->wiring != NO_BOX &&
               act_on_line(graphs, browse, ACTION_BACK);
    default:
        return graphs->in_diagram ? act_on_diagram(graphs, browse, input->action)
                                  : act_on_list(graphs, browse, input, layout);
    }
}

static bool update(void *view, struct browse *browse, const struct view_input *input)
{
    struct graphs *graphs = view;
    bool used = input->action == ACTION_REFRESH;
    load_list(graphs, browse);
    if (!graphs->shown || strcmp(graphs->shown, browse_wanted_filter(browse)) != 0)
        graphs_load_boxes(graphs, browse);
    struct graphs_layout layout = graphs_areas(graphs, input->width, input->height);
    if (!used)
        used = act(graphs, browse, input, &layout);
    load_list(graphs, browse);
    if (!input->more)
        graphs_load_boxes(graphs, browse);
    layout = graphs_areas(graphs, input->width, input->height);
    const struct table_source source = graphs_list_source(graphs);
    graphs->table.blurred = graphs->in_diagram;
    if (layout.list.height > 0)
        table_settle(&graphs->table, &source, &layout.list);
    return used;
}

/* ---- text ------------------------------------------------------------------------------- */

static bool copy(void *view, struct browse *browse, FILE *out)
{
    const struct graphs *graphs = view;
    const struct session_graph *graph = graphs_selected(graphs);
    if (graphs->in_diagram || !graph)
        fprintf(out, "%s\n", browse->filter[0] ? browse->filter : "all");
    else
        fprintf(out, "%s\n", graph->whole);
    return true;
}

static bool write_table(void *view, struct browse *browse, FILE *out, enum table_format format)
{
    const struct graphs *graphs = view;
    const struct table_source source = graphs_list_source(graphs);
    if (graphs->list)
        table_write(&source, out, format);
    return graphs->list != NULL;
}

static const struct key_binding keys[] = {
    {ACTION_FOLLOW, "in the list: make the graph the active filter; in the diagram: edit the box",
     .keys = {KEYCODE_ENTER}, .footer = "use, edit"},
    {ACTION_NEXT_PANE, "to the diagram, and back to the list", .keys = {KEYCODE_TAB},
     .footer = "boxes"},
    {ACTION_LEFT, "to a box's first input", .keys = {KEYCODE_LEFT}},
    {ACTION_RIGHT, "to the next box", .keys = {KEYCODE_RIGHT}},
    {ACTION_ADD, "add a step after the box, or join a set to it by + - &", .keys = {'A'},
     .footer = "add"},
    {ACTION_REMOVE, "delete the box; in the list: the saved filter", .keys = {'D', KEYCODE_DELETE},
     .footer = "delete"},
    {ACTION_WIRE,
     "draw a line from the box: then go to another box, Enter joins, I takes its "
     "other input, Esc gives up; the mouse drags lines",
     .keys = {'J'}, .footer = "join"},
    {ACTION_OPEN, "open a box that uses a graph by its name into the boxes of that graph",
     .keys = {'o'}},
    {ACTION_DISABLE, "switch a step off, or on again", .keys = {'O'}, .footer = "on/off"},
    {ACTION_SWAP, "the inputs of + - & change places", .keys = {'I'}},
    {ACTION_PAINT, "colour what flows out of the box: red, or by type", .keys = {'c'}},
    {ACTION_SAVE, "store the active filter under a name", .keys = {'W'}, .footer = "save"},
};

const struct view_ops graphs_view = {
    .name = "graphs",
    .title = "Graphs",
    .help = "Saved filters, and the active filter as boxes: what flows from left to right are "
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
