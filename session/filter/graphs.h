/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and texts of saved filters: what may be one, and the parts of a text. */
#pragma once

#include <stdbool.h>

#include "session/filter/tree.h"
#include "session/graphs.h"
#include "session/session.h"
#include "session/store/user.h"

/* ---- looks up saved filters for the parser (struct filter_names) ---- */

/* Makes the lookup of a session's graphs, those of the folder and those that ship, in this order.
 * The session must outlive it. NULL: memory is exhausted. */
struct filter_names *graph_names_new(struct session *session);
void graph_names_free(struct filter_names *names);

/* ---- stores changes in the session, or says that the user's folder must take them ---- */

enum storing_result {
    STORING_DONE,   /* in the session */
    STORING_FOLDER, /* the folder is to be used; a note may say why */
    STORING_EXISTS,
};

/* Puts a row into the session if `storing` asks for that. */
enum storing_result storing_put(struct session *session, const struct user_change *change,
                                struct session_storing *storing);

/* Returns true if all of the text is printable UTF-8, space, tabs and line ends
 * (a carriage return only before a line feed). */
bool graph_text_is_plain(const char *text);
