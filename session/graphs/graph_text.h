/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and texts of stored graphs: what may be one, and the parts of a text. */
#ifndef MPROF_SESSION_GRAPHS_GRAPH_TEXT_H
#define MPROF_SESSION_GRAPHS_GRAPH_TEXT_H

#include <stdbool.h>

#include "session/session.h"

/* Returns true if all of the text is printable UTF-8, space, tabs and line ends
 * (a carriage return only before a line feed). */
bool graph_text_is_plain(const char *text);

/* Checks a text that is to be stored, without its syntax. Returns false with `error` set. */
bool graph_text_check(const char *text, struct session_error *error);

/* Returns the place after the lines at the beginning that begin with `#`. */
const char *graph_text_body(const char *text);

/* Returns the first of these lines without its `#`, "" if there is none; free() it. NULL: memory is
 * exhausted. */
char *graph_text_about(const char *text);

#endif
