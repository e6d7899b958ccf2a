/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steps that the user switches off and on again. A step is off if it is remembered after a box and
 * the diagram does not have it there: so undo and redo, which only change the diagram, switch it,
 * too.
 */
#include <stdlib.h>
#include <string.h>

#include "tui/view/graphs/graphs.h"

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
    free(graphs->disabled[at].before);
    free(graphs->disabled[at].text);
    graphs->disabled_count--;
    memmove(graphs->disabled + at, graphs->disabled + at + 1,
            (graphs->disabled_count - at) * sizeof(graphs->disabled[0]));
}

void graphs_forget_off(struct graphs *graphs, size_t box)
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
        free(off.before);
        free(off.text);
        return false;
    }
    graphs_forget_off(graphs, box);
    if (graphs->disabled_count == DISABLED_MOST)
        forget(graphs, 0);
    graphs->disabled[graphs->disabled_count++] = off;
    return true;
}

char *graphs_switch(struct graphs *graphs, struct exploration *exploration, bool *off)
{
    const size_t box = graphs->box;
    const struct session_box *step = &graphs->diagram.boxes[box];
    size_t at = 0;
    const char *again = graphs_next_off(graphs, box, &at);
    *off = false;
    if (again)
        return session_diagram_inserted(&graphs->diagram, box, again);
    if (step->kind != SESSION_BOX_STEP) {
        exploration_complain(exploration, "only a step can be switched off");
        return NULL;
    }
    *off = remember(graphs, box);
    char *text = *off ? session_diagram_removed(&graphs->diagram, box) : NULL;
    if (!text)
        exploration_complain(exploration, SESSION_OUT_OF_MEMORY);
    return text;
}

void graphs_clear_off(struct graphs *graphs)
{
    while (graphs->disabled_count > 0)
        forget(graphs, graphs->disabled_count - 1);
}
