/* SPDX-License-Identifier: BSD-2-Clause */
/* Remembers which rows pipelines gave, so that the same question is answered once: a report asks a
 * filter again for each of its tables, and the browser for each finding. A session keeps the sets
 * that were used last, in bounded memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "session/filter/tree.h"

/* All that decides which rows a pipeline selects: its steps, and the state of the session. */
struct pipeline_text {
    size_t length;
    bool usable; /* false: the text is too long, or the rows are not all that the pipeline makes */
    char bytes[4096];
};

/* Write the text of a pipeline without steps, and append that of its next step. `scope` widens or
 * narrows the sets. */
void pipeline_text_begin(struct pipeline_text *text, const struct session *session, unsigned scope,
                         const struct filter_set *set);
void pipeline_text_add(struct pipeline_text *text, const struct filter_step *step);

/* A session's sets take at most about so many bytes. Tests make it small; 0: it keeps none. */
extern size_t recall_bytes_most;

/* Returns how many sets the session remembers. */
size_t recall_count(const struct session *session);
void recall_free(struct session *session);
