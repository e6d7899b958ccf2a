/* SPDX-License-Identifier: BSD-2-Clause */
/* New files: drafts of any, and sessions of some allocations. */
#pragma once

#include <stdbool.h>

#include "session/session.h"
#include "session/store/row_set.h"

/* A new file that has its name only when it is complete: until then it is a draft beside it. It
 * never replaces a file. Both names are the draft's own. */
struct draft {
    char *path, *name; /* of the file, and of the draft */
    bool made;
};

/* Makes an empty draft, and returns a descriptor that writes it, which the caller closes; -1 with
 * `error` set. In any case draft_end() follows. */
int draft_begin(struct draft *draft, const char *path, struct session_error *error);
/* Gives the complete draft its name, or with `keep` false removes it. Returns false with `error`
 * set if there is no such file now, unless `keep` is false. */
bool draft_end(struct draft *draft, bool keep, struct session_error *error);

/* Writes the rows of the set to a new session `path`, with tables as those of their session and
 * sums of their own. `graph` is the text that selected them. Returns false with `error` set; then
 * there is no new file. */
bool part_write(struct session *session, const struct row_set *set, const char *graph,
                const char *path, struct session_error *error);
