/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Places the boxes of a graph. A pipeline runs from left to right. An operator lies to the right
 * of both its inputs, in the row of the first one; the second lies below the first. A box whose
 * output goes to several inputs is placed by the first of them; then a row below each row of boxes
 * is left for its further lines.
 */
#include <stdlib.h>

#include "tui/screen/cells.h"
#include "tui/view/graphs/graphs.h"

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

void graphs_lay_out(struct graphs *graphs)
{
    graphs->width = graphs->height = 0;
    for (size_t i = 0; i < graphs->diagram.count; i++)
        graphs->places[i].width = 0;
    if (graphs->diagram.count > 0)
        place(graphs, graphs->diagram.count - 1, 0,
              BOX_HEIGHT + (has_shared_box(&graphs->diagram) ? 1 : 0));
}

size_t graphs_consumer(const struct graphs *graphs, size_t box)
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
        return graphs_consumer(graphs, graphs->box);
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
