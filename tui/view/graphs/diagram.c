/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws the graphs view: the list, the boxes and their lines, the text. */
#include <stdlib.h>
#include <string.h>

#include "tui/screen/cells.h"
#include "tui/screen/format.h"
#include "tui/screen/theme.h"
#include "tui/view/common/list.h"
#include "tui/view/graphs/graphs.h"

static void lay_out(struct graphs *graphs);

static bool take_result(struct flow_data *flow, struct graph_result *result,
                        struct session_error *error)
{
    flow->kind = graph_result_kind(result);
    if (flow->kind == RESULT_MEASURE) {
        flow->measure = *graph_result_measure(result);
        flow->measure.name = NULL; /* it lives only as long as the result */
        for (size_t i = 0; i < flow->measure.part_count; i++)
            flow->measure.part[i].name = NULL;
        return true;
    }
    if (flow->kind == RESULT_GROUPS) {
        struct session_group_set *groups = graph_result_groups(result);
        flow->count = session_groups_count(groups);
        return session_groups_sum(groups, MEASURE_BYTES, &flow->bytes, error);
    }
    const struct selection *selection = graph_result_selection(result);
    flow->count = selection_allocations(selection);
    flow->bytes = selection_bytes(selection);
    return true;
}

static bool run_flow(struct session *session, struct selection *selection, void *data,
                     struct session_error *error)
{
    struct flow_data *flow = data;
    struct session_error problem = {.message = ""};
    flow->estimated = session_sampled(session);
    struct graph_result *result = graph_run(session, flow->request.text, &problem);
    if (!result || !take_result(flow, result, &problem))
        snprintf(flow->problem, sizeof(flow->problem), "%.100s", problem.message);
    graph_result_free(result);
    return true;
}

static void ask_flow(struct graphs *graphs, struct browse *browse, size_t box)
{
    static const struct load_kind kind = LOAD_KIND(flow_data, run_flow, NULL);
    struct flow_data *asked = calloc(1, sizeof(*asked));
    char *text = session_diagram_text(&graphs->diagram, box);
    graphs->flows[box] = NULL;
    if (asked && text && strlen(text) < FLOW_TEXT) {
        asked->request.renewals = browse->renewals;
        snprintf(asked->request.text, FLOW_TEXT, "%s", text);
        graphs->flows[box] = browse_get(browse, &graphs->flow_loads[box], &kind, &asked->request);
    }
    free(text);
    free(asked);
}

static void forget_diagram(struct graphs *graphs)
{
    session_diagram_clear(&graphs->diagram);
    free(graphs->shown);
    graphs->shown = NULL;
}

/* Makes the diagram of a text, and selects the box that the user last worked on. */
static void draw(struct graphs *graphs, const char *text)
{
    struct session_error error = {.message = ""};
    const size_t before = graphs->diagram.count, box = graphs->box;
    forget_diagram(graphs);
    graphs->problem[0] = 0;
    graphs->wiring = NO_BOX;
    graphs->shown = strdup(text);
    if (!graphs->shown || !session_diagram_read(&graphs->diagram, text, &error)) {
        snprintf(graphs->problem, sizeof(graphs->problem), "%.190s",
                 graphs->shown ? error.message : SESSION_OUT_OF_MEMORY);
        graphs->box = 0;
        return;
    }
    lay_out(graphs);
    const size_t count = graphs->diagram.count;
    graphs->box = before == 0 || box >= count || count > before + 1 ? count - 1 : box;
    for (size_t i = 0; graphs->added && count == before + 1 && i < count; i++)
        if (session_box_inputs(&graphs->diagram.boxes[i]) > 0 &&
            graphs->diagram.boxes[i].input[0] == box)
            graphs->box = i;
    graphs->added = false;
}

void graphs_load_boxes(struct graphs *graphs, struct browse *browse)
{
    const char *text = browse_wanted_filter(browse);
    if (!graphs->shown || strcmp(graphs->shown, text) != 0) {
        for (size_t i = 0; i < graphs->diagram.count; i++)
            graphs->flows[i] = NULL;
        draw(graphs, text);
    }
    /* The result first, then from left to right. */
    for (size_t i = graphs->diagram.count; i > 0; i--)
        ask_flow(graphs, browse, (i + graphs->diagram.count - 1) % graphs->diagram.count);
}

void graphs_clear_boxes(struct graphs *graphs, struct browse *browse)
{
    for (size_t i = 0; i < SESSION_BOXES_MAX; i++) {
        load_clear(&browse->loader, &graphs->flow_loads[i]);
        graphs->flows[i] = NULL;
    }
    forget_diagram(graphs);
    graphs_clear_off(graphs);
}

enum { WIDTH_LEAST = 18, WIDTH_MOST = 30 };

static int box_width(const struct session_box *box)
{
    const int width = text_width(box->text) + 4;
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

/* Returns true if the output of a box goes to several inputs. */
static bool has_shared_box(const struct session_diagram *diagram)
{
    size_t lines = 0;
    for (size_t i = 0; i < diagram->count; i++)
        lines += session_box_inputs(&diagram->boxes[i]);
    return lines >= diagram->count; /* in a tree each box but the result has one */
}

/* Places a box and those of its inputs that have no place yet from row `y` on. `rows`: those of a
 * box with the space below it. Returns the row below them. */
static int place(struct graphs *graphs, size_t at, int y, int rows)
{
    const struct session_box *box = &graphs->diagram.boxes[at];
    struct box_place *own = &graphs->places[at];
    if (own->width > 0)
        return y;
    *own = (struct box_place){.x = 0, .y = y, .width = box_width(box)};
    int below = y + rows;
    for (size_t i = 0; i < session_box_inputs(box); i++) {
        const struct box_place *input = &graphs->places[box->input[i]];
        const int end = place(graphs, box->input[i], i == 0 ? y : below, rows);
        below = end > below ? end : below;
        if (input->x + input->width + BOX_GAP > own->x)
            own->x = input->x + input->width + BOX_GAP;
    }
    if (own->x + own->width > graphs->width)
        graphs->width = own->x + own->width;
    if (below > graphs->height)
        graphs->height = below;
    return below;
}

static void lay_out(struct graphs *graphs)
{
    graphs->width = graphs->height = 0;
    for (size_t i = 0; i < graphs->diagram.count; i++)
        graphs->places[i].width = 0;
    if (graphs->diagram.count > 0)
        place(graphs, graphs->diagram.count - 1, 0,
              BOX_HEIGHT + (has_shared_box(&graphs->diagram) ? 1 : 0));
}

/* Returns the first box that takes the output of another, the same one for the result. */
static size_t consumer(const struct graphs *graphs, size_t box)
{
    for (size_t i = box + 1; i < graphs->diagram.count; i++)
        for (size_t k = 0; k < session_box_inputs(&graphs->diagram.boxes[i]); k++)
            if (graphs->diagram.boxes[i].input[k] == box)
                return i;
    return box;
}

size_t graphs_neighbour(const struct graphs *graphs, enum action direction)
{
    const struct session_diagram *diagram = &graphs->diagram;
    const struct session_box *box = &diagram->boxes[graphs->box];
    if (direction == ACTION_LEFT)
        return session_box_inputs(box) > 0 ? box->input[0] : graphs->box;
    if (direction == ACTION_RIGHT)
        return consumer(graphs, graphs->box);
    const struct box_place *own = &graphs->places[graphs->box];
    size_t best = graphs->box;
    int best_distance = INT32_MAX;
    for (size_t i = 0; i < diagram->count; i++) {
        const struct box_place *other = &graphs->places[i];
        const int rows = direction == ACTION_UP ? own->y - other->y : other->y - own->y;
        const int distance = rows * 100 + abs(own->x - other->x);
        if (rows > 0 && distance < best_distance) {
            best_distance = distance;
            best = i;
        }
    }
    return best;
}

/* The rows below the diagram: a line, the selected box's text, the whole text. */
#define TEXT_ROWS 3

struct graphs_layout graphs_areas(const struct graphs *graphs, int width, int height)
{
    struct graphs_layout layout = {.list = {0, 0, width, height}, .diagram = {0, 0, width, height}};
    if (height < 14) {
        *(graphs->in_diagram ? &layout.list : &layout.diagram) = (struct table_place){0, 0, 0, 0};
        return layout;
    }
    const int rows = (int)graphs->list_count + 1, most = height / 3;
    layout.list.height = rows < most ? rows : most;
    layout.diagram.y = layout.list.height;
    layout.diagram.height = height - layout.list.height;
    return layout;
}

/* The cells left of and above the screen, so that the selected box is visible. */
static void scrolled(const struct graphs *graphs, int width, int height, int *left, int *above)
{
    const struct box_place *box = &graphs->places[graphs->box];
    *left = *above = 0;
    if (graphs->width + 2 > width && box->x + box->width + BOX_GAP > width)
        *left = box->x + box->width + BOX_GAP - width;
    if (box->x < *left)
        *left = box->x;
    if (graphs->height > height && box->y + BOX_HEIGHT > height)
        *above = box->y + BOX_HEIGHT - height;
}

/* Returns the part of the place that holds boxes: without the title and the texts. */
static struct table_place inner(const struct table_place *place)
{
    return (struct table_place){place->x + 1, place->y + 1, place->width - 2,
                                place->height - 1 - TEXT_ROWS};
}

size_t graphs_box_at(const struct graphs *graphs, const struct table_place *place, int x, int y)
{
    const struct table_place part = inner(place);
    int left, above;
    if (graphs->diagram.count == 0 || place->height == 0)
        return SIZE_MAX;
    scrolled(graphs, part.width, part.height, &left, &above);
    x += left - part.x;
    y += above - part.y;
    for (size_t i = 0; i < graphs->diagram.count; i++) {
        const struct box_place *box = &graphs->places[i];
        if (x >= box->x && x < box->x + box->width && y >= box->y && y < box->y + BOX_HEIGHT)
            return i;
    }
    return SIZE_MAX;
}

size_t graphs_pin_at(const struct graphs *graphs, const struct table_place *place, size_t box,
                     int y)
{
    const struct table_place part = inner(place);
    int left, above;
    scrolled(graphs, part.width, part.height, &left, &above);
    return y + above - part.y >= graphs->places[box].y + 2 ? 1 : 0;
}

/* ---- one box ---------------------------------------------------------------------------- */

static void write_measure(const struct session_measure *measure, char *out, size_t size)
{
    char number[FORMAT_SIZE];
    switch (measure->unit) {
    case UNIT_BYTES:
        format_size(number, measure->value);
        break;
    case UNIT_DURATION:
    case UNIT_MOMENT:
        format_duration(number, measure->value);
        break;
    default:
        format_count(number, measure->value);
        break;
    }
    snprintf(out, size, "%s%s", measure->negative ? "−" : "", measure->is_null ? "–" : number);
}

static void write_flow(const struct flow_data *flow, char *out, size_t size)
{
    char count[FORMAT_SIZE], bytes[FORMAT_SIZE];
    const char *about = flow && flow->estimated ? "~" : "";
    if (!flow)
        snprintf(out, size, "…");
    else if (flow->problem[0])
        snprintf(out, size, "no answer");
    else if (flow->kind == RESULT_MEASURE)
        write_measure(&flow->measure, out, size);
    else if (flow->kind == RESULT_GROUPS)
        snprintf(out, size, "%s group%s", format_count_short(count, flow->count),
                 flow->count == 1 ? "" : "s");
    else
        snprintf(out, size, "%s%s  %s%s", about, format_count_short(count, flow->count), about,
                 format_size_short(bytes, flow->bytes));
}

static void draw_frame(const struct area *area, int x, int y, int width, struct cell_style style)
{
    area_put(area, x, y, 0x250c, style);
    area_put(area, x + width - 1, y, 0x2510, style);
    area_put(area, x, y + BOX_HEIGHT - 1, 0x2514, style);
    area_put(area, x + width - 1, y + BOX_HEIGHT - 1, 0x2518, style);
    area_fill(area, x + 1, y, width - 2, 1, 0x2500, style);
    area_fill(area, x + 1, y + BOX_HEIGHT - 1, width - 2, 1, 0x2500, style);
    area_fill(area, x, y + 1, 1, BOX_HEIGHT - 2, 0x2502, style);
    area_fill(area, x + width - 1, y + 1, 1, BOX_HEIGHT - 2, 0x2502, style);
}

static void draw_box(const struct graphs *graphs, const struct area *area, size_t at, int left,
                     int above)
{
    const struct box_place *place = &graphs->places[at];
    const struct session_box *box = &graphs->diagram.boxes[at];
    const int x = place->x - left, y = place->y - above;
    const bool selected = at == graphs->box && graphs->in_diagram;
    char flow[80];
    write_flow(graphs->flows[at], flow, sizeof(flow));
    draw_frame(area, x, y, place->width, theme_style(selected ? THEME_STRONG : THEME_FAINT));
    area_field(area, x + 2, y + 1, place->width - 4,
               theme_style(selected ? THEME_CURSOR : THEME_STRONG), box->text);
    const bool wrong = graphs->flows[at] && graphs->flows[at]->problem[0];
    area_field(area, x + 2, y + 2, place->width - 4,
               theme_style(wrong ? THEME_WARNING : THEME_PLAIN), flow);
    /* The pins: where lines begin and end, and those of the line that is drawn. */
    area_put(area, x + place->width - 1, y + 1, 0x25cf,
             theme_style(graphs->wiring == at ? THEME_MATCH : THEME_PLAIN));
    for (size_t i = 0; i < session_box_inputs(box); i++) {
        const bool end = graphs->wiring != NO_BOX && at == graphs->box && i == graphs->pin;
        area_put(area, x, y + 1 + (int)i, 0x25cf, theme_style(end ? THEME_MATCH : THEME_PLAIN));
    }
}

/* Draws a vertical line with its corners, of which the first one comes from the left. */
static void draw_bend(const struct area *area, int x, int from_y, int to_y, struct cell_style style)
{
    const bool down = to_y > from_y;
    area_put(area, x, from_y, down ? 0x2510 : 0x2518, style);
    area_fill(area, x, (down ? from_y : to_y) + 1, 1, abs(from_y - to_y) - 1, 0x2502, style);
    area_put(area, x, to_y, down ? 0x2514 : 0x250c, style);
}

/* Draws a further line of a box that has several: below the boxes of its row, or above them. */
static void draw_detour(const struct area *area, int from_x, int from_y, int to_x, int to_y,
                        struct cell_style style)
{
    const int bend = to_x - 2, lane = to_y > from_y ? from_y + BOX_HEIGHT - 1 : from_y - 2;
    area_put(area, from_x, from_y, 0x2500, style);
    draw_bend(area, from_x + 1, from_y, lane, style);
    area_put(area, from_x + 1, from_y, to_y > from_y ? 0x252c : 0x2534, style);
    area_fill(area, from_x + 2, lane, bend - from_x - 2, 1, 0x2500, style);
    draw_bend(area, bend, lane, to_y, style);
    area_fill(area, bend + 1, to_y, to_x - bend - 1, 1, 0x2500, style);
}

static void draw_line(const struct graphs *graphs, const struct area *area, size_t to, size_t input,
                      int left, int above)
{
    const size_t from = graphs->diagram.boxes[to].input[input];
    const struct box_place *end = &graphs->places[to], *start = &graphs->places[from];
    const struct cell_style style = theme_style(THEME_FAINT);
    const int from_x = start->x + start->width - left, from_y = start->y + 1 - above;
    const int to_x = end->x - left, to_y = end->y + 1 + (int)input - above;
    const bool further = consumer(graphs, from) != to || start->y < end->y;
    if (from_y == to_y && !further) {
        area_fill(area, from_x, from_y, to_x - from_x, 1, 0x2500, style);
        return;
    }
    if (further) {
        draw_detour(area, from_x, from_y, to_x, to_y, style);
        return;
    }
    const int bend = to_x - 2;
    area_fill(area, from_x, from_y, bend - from_x, 1, 0x2500, style);
    draw_bend(area, bend, from_y, to_y, style);
    area_fill(area, bend + 1, to_y, to_x - bend - 1, 1, 0x2500, style);
}

static void draw_diagram(const struct graphs *graphs, const struct area *area)
{
    int left, above;
    scrolled(graphs, area->width, area->height, &left, &above);
    for (size_t i = 0; i < graphs->diagram.count; i++)
        for (size_t k = 0; k < session_box_inputs(&graphs->diagram.boxes[i]); k++)
            draw_line(graphs, area, i, k, left, above);
    for (size_t i = 0; i < graphs->diagram.count; i++)
        draw_box(graphs, area, i, left, above);
    /* The result goes to all views. */
    const struct box_place *last = &graphs->places[graphs->diagram.count - 1];
    area_text(area, last->x + last->width - left, last->y + 1 - above, theme_style(THEME_FAINT),
              "──▶");
}

/* ---- all of it -------------------------------------------------------------------------- */

/* Writes the text of the selected box, of what is switched off after it, and the whole text. */
static void draw_texts(const struct graphs *graphs, const struct area *area)
{
    const struct flow_data *flow = graphs->flows[graphs->box];
    const struct session_box *box = &graphs->diagram.boxes[graphs->box];
    char size[FORMAT_SIZE], count[FORMAT_SIZE];
    area_fill(area, 0, 0, area->width, 1, 0x2500, theme_style(THEME_FAINT));
    int x = 1 + area_text(area, 1, 1, theme_style(THEME_STRONG), box->text);
    if (flow && flow->problem[0])
        x += area_print(area, x + 2, 1, theme_style(THEME_WARNING), "%s", flow->problem);
    else if (flow && flow->kind != RESULT_MEASURE)
        x += area_print(area, x + 2, 1, theme_style(THEME_PLAIN), "%s%s %s%s, %s",
                        flow->estimated ? "~" : "", format_count(count, flow->count),
                        flow->kind == RESULT_GROUPS ? "group" : "allocation",
                        flow->count == 1 ? "" : "s", format_size(size, flow->bytes));
    size_t at = 0;
    for (const char *off; (off = graphs_next_off(graphs, graphs->box, &at));)
        x += 2 + area_print(area, x + 4, 1, theme_style(THEME_FAINT), "(off: %s)", off);
    x = 1 + area_text(area, 1, 2, theme_style(THEME_HEADING), "text ");
    area_field(area, x, 2, area->width - x - 1, theme_style(THEME_PLAIN),
               graphs->shown[0] ? graphs->shown : "all");
}

void graphs_render(const void *view, const struct browse *browse, const struct area *area)
{
    const struct graphs *graphs = view;
    const struct graphs_layout layout = graphs_areas(graphs, area->width, area->height);
    if (layout.list.height > 0) {
        const struct table_source source = graphs_list_source(graphs);
        const struct area list = table_area(area, &layout.list);
        if (graphs->list_count > 0)
            table_render(&graphs->table, &source, &list);
        else
            list_render_empty(browse, &list, 1, graphs->list != NULL);
    }
    if (layout.diagram.height <= TEXT_ROWS + 1)
        return;
    const struct area diagram = table_area(area, &layout.diagram);
    area_fill(&diagram, 0, 0, diagram.width, 1, 0x2500, theme_style(THEME_FAINT));
    area_text(&diagram, 1, 0, theme_style(graphs->in_diagram ? THEME_STRONG : THEME_FAINT),
              " the active filter ");
    if (graphs->problem[0] || graphs->diagram.count == 0) {
        area_text(&diagram, 2, 2, theme_style(THEME_WARNING), graphs->problem);
        return;
    }
    const struct table_place part =
        inner(&(struct table_place){0, 0, diagram.width, diagram.height});
    const struct area boxes = area_part(&diagram, part.x, part.y, part.width, part.height);
    draw_diagram(graphs, &boxes);
    const struct area texts =
        area_part(&diagram, 0, diagram.height - TEXT_ROWS, diagram.width, TEXT_ROWS);
    draw_texts(graphs, &texts);
}
