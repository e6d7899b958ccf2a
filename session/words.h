/* SPDX-License-Identifier: BSD-2-Clause */
/* The words that fit at a place of a filter, for completion. */
#pragma once

#include <stdbool.h>

#include "session/session.h"

/* Gets one word. `name`: it is a name of the session, which a filter may have to write in quotes.
 * Returns false to end the visit. */
typedef bool session_visit_word(void *context, const char *word, bool name);

/* Visits the words that can follow `text`, a filter cut before the word in question: sets, steps,
 * fields, colours, saved filters, marks; after a field and its operator the names that the session
 * has for it. Words may come twice. There are none where a number, a sign or anything else must
 * follow, and none after an error. */
void session_filter_words(const struct session *session, const char *text,
                          session_visit_word *visit, void *context);
/* Visits the names that the session has for a text field: "function", "type", "thread", "module",
 * "file", "arena", "kind" or "process". A field of other values has none. */
void session_field_names(const struct session *session, const char *field,
                         session_visit_word *visit, void *context);
/* Visits the moments that have a name: start, peak, end, and marks. */
void session_moment_names(const struct session *session, session_visit_word *visit, void *context);
