/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A filter graph as a diagram: boxes, each with one output, and lines from outputs to inputs. A box
 * is a set ("live at peak"), a step ("where size > 1K") or an operator that joins two sets ("-").
 * Text and diagram are two forms of one graph: reading a text and writing it again gives a graph of
 * the same result. A graph's name that a text defines is a set there, and the definitions stay as
 * text.
 *
 * The output of a box goes to one input or to several. In the text it is then there several times:
 * parts of it that are the same are one box, except sets. A box comes after its inputs, and the
 * last one is the result.
 */
#ifndef MPROF_SESSION_DIAGRAM_H
#define MPROF_SESSION_DIAGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "session/session.h"

enum session_box_kind {
    SESSION_BOX_SET,
    SESSION_BOX_STEP,    /* has one input */
    SESSION_BOX_COMBINE, /* "+", "-" or "&": has two */
};

struct session_box {
    enum session_box_kind kind;
    char *text;      /* its own part of the graph, without '|' */
    size_t input[2]; /* the first 0, 1 or 2 are boxes */
};

#define SESSION_BOXES_MAX 200

struct session_diagram {
    struct session_box *boxes;
    size_t count;
    char *definitions; /* the text before the graph, with its last ';'; "" if there is none */
};

/* Reads a text that parses (session_filter_check()). session_diagram_clear() the diagram. Returns
 * false with `error` set: more than SESSION_BOXES_MAX boxes, no memory, a text that does not parse.
 */
bool session_diagram_read(struct session_diagram *diagram, const char *text,
                          struct session_error *error);
void session_diagram_clear(struct session_diagram *diagram);

/* Returns the number of inputs of a box. */
size_t session_box_inputs(const struct session_box *box);
/* Returns the text of the graph that ends at a box, with the definitions: malloc()ed, NULL if there
 * is no memory. */
char *session_diagram_text(const struct session_diagram *diagram, size_t box);

/*
 * Finds the name of the graph that a box uses: "grown" of "grown(1s, 2s)". Returns false if the box
 * is no such set.
 */
bool session_diagram_name(const struct session_diagram *diagram, size_t box, char *out,
                          size_t size);
/* Returns true if the diagram's own definitions give the name its meaning. */
bool session_diagram_defines(const struct session_diagram *diagram, const char *name);

/*
 * Returns the text of the whole graph in which the boxes of a graph take the place of the box that
 * uses it by its name, malloc()ed. `stored` is the text of that graph; it counts unless the
 * diagram's own definitions have the name. Returns NULL with `error` set if the use has other
 * parameters, a name that the graph defines means something else in the diagram, or there is no
 * memory. The caller checks the text.
 */
char *session_diagram_opened(const struct session_diagram *diagram, size_t box, const char *stored,
                             struct session_error *error);

/* Returns true if a line from the output of `from` to an input of `to` would close a circle: `to`
 * feeds `from`, or is it. */
bool session_diagram_circles(const struct session_diagram *diagram, size_t from, size_t to);

/*
 * Returns the text of the whole graph in which an operator joins the output of `to`, first, and
 * that of `from`, malloc()ed; NULL if there is no memory.
 */
char *session_diagram_joined(const struct session_diagram *diagram, size_t from, size_t to,
                             char operator_);

/*
 * Return the text of the whole graph after a change, malloc()ed, NULL if there is no memory. The
 * diagram stays as it is. The caller checks the text.
 * - replaced: the box has another text;
 * - inserted: a step, or an operator and a set ("- live at end"), works on the box's output;
 * - removed: a step gives way to its input, an operator to its first input; a set becomes `all`;
 * - swapped: the inputs of an operator change places;
 * - wired: the output of the box `from` goes to an input of `to`, in place of what went there. The
 *   caller has ruled out a circle.
 */
char *session_diagram_replaced(const struct session_diagram *diagram, size_t box, const char *text);
char *session_diagram_inserted(const struct session_diagram *diagram, size_t box, const char *text);
char *session_diagram_removed(const struct session_diagram *diagram, size_t box);
char *session_diagram_swapped(const struct session_diagram *diagram, size_t box);
char *session_diagram_wired(const struct session_diagram *diagram, size_t from, size_t to,
                            size_t input);

#endif
