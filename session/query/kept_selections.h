/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps the last selections of a session with all that was found for them: who undoes a change of
 * the filter sees the screen of before at once. Private to session/query.
 */
#ifndef MPROF_SESSION_QUERY_KEPT_SELECTIONS_H
#define MPROF_SESSION_QUERY_KEPT_SELECTIONS_H

#include "session/query/selection_state.h"
#include "session/run/pipeline_text.h"

/* The rows of the kept selections take at most so many bytes. Tests make it small; 0: none is kept.
 */
extern size_t kept_selections_bytes_most;

/* Writes the text under which a graph's selection is kept. */
void kept_selections_text(const struct session *session, const struct filter_pipeline *pipeline,
                          struct pipeline_text *text);
/* Returns the selection of a text, for selection_free(), or NULL. */
struct selection *kept_selections_find(const struct session *session,
                                       const struct pipeline_text *text);
/* Keeps a selection in place of the one that was made first. */
void kept_selections_add(struct session *session, const struct pipeline_text *text,
                         struct selection *selection);
void kept_selections_free(struct session *session);

#endif
