/* SPDX-License-Identifier: BSD-2-Clause */
/* Names pipelines by what they select: what was found for a name need not be found again. */
#ifndef MPROF_SESSION_RUN_PIPELINE_TEXT_H
#define MPROF_SESSION_RUN_PIPELINE_TEXT_H

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

#endif
