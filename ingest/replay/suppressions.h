/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Suppressions: the leaks that the user does not want to see, in the form of LeakSanitizer's
 * suppression files. A line `leak:PATTERN` names the stacks with a frame whose function, source
 * file or module matches. In a pattern `*` matches anything. `^` at its beginning and `$` at its
 * end are the beginning and the end of the name. Without them it matches anywhere in the name.
 *
 * Order of calls: suppressions_read() once; for each trace suppressor_new(), suppressor_of() for
 * its stacks, suppressor_free().
 */
#ifndef MPROF_INGEST_REPLAY_SUPPRESSIONS_H
#define MPROF_INGEST_REPLAY_SUPPRESSIONS_H

#include <stdio.h>

#include "ingest/base/status.h"
#include "ingest/replay/stacks.h"

struct suppressions;

/*
 * Reads a file. Lines of other sanitizers, with another kind than `leak:`, are left out, and a note
 * about each, with its line, is printed on `notes`. NULL with `status` set if the file cannot be
 * read or a line is of no kind. Free it by suppressions_free().
 */
struct suppressions *suppressions_read(const char *path, FILE *notes, struct ingest_status *status);
/* Copies the patterns. `suppressions` NULL has none. NULL if memory is exhausted. */
struct suppressions *suppressions_copy(const struct suppressions *suppressions);

/*
 * Adds the pattern of a line, which need not end in a zero byte. *is_suppression is false if the
 * line is not a suppression of leaks, not empty and not a comment. False if memory is exhausted.
 */
bool suppressions_add_line(struct suppressions *suppressions, const char *line, size_t length,
                           bool *is_suppression);

size_t suppressions_count(const struct suppressions *suppressions);
void suppressions_free(struct suppressions *suppressions);

/* Tells whether `pattern` matches `text`. An empty text matches nothing. */
bool suppression_matches(const char *pattern, const char *text);

struct suppressor;

/* Looks at the names of the stacks once. Both arguments must outlive the result. NULL if memory is
 * exhausted. */
struct suppressor *suppressor_new(const struct suppressions *suppressions,
                                  const struct stacks *stacks);
void suppressor_free(struct suppressor *suppressor);

/*
 * Returns the pattern that LeakSanitizer would choose, or NULL if none matches: the first one, in
 * the order of the file, that matches the innermost frame with a match. The suppressions own it.
 */
const char *suppressor_of(const struct suppressor *suppressor, size_t stack);

#endif
