/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaks that the user does not want to hear of, in the form of LeakSanitizer's suppression files:
 * a line `leak:PATTERN` names the stacks of which a frame's function, source file or module
 * matches. In a pattern `*` matches anything, `^` at its beginning and `$` at its end are the
 * beginning and the end of the name; without them it matches anywhere in it.
 *
 * Order of calls: suppressions_read() once; of each trace suppressor_new(), suppressor_of() of its
 * stacks, suppressor_free().
 */
#ifndef MPROF_INGEST_SUPPRESSIONS_H
#define MPROF_INGEST_SUPPRESSIONS_H

#include <stdio.h>

#include "ingest/stacks.h"
#include "ingest/status.h"

struct suppressions;

/*
 * Reads a file. Lines of other kinds than `leak:`, which other sanitizers take, are left out and
 * named on `notes`, each with its line. NULL with `status` set: the file cannot be read, or a line
 * is none of these. Free it by suppressions_free().
 */
struct suppressions *suppressions_read(const char *path, FILE *notes, struct ingest_status *status);
/* Copies the patterns; NULL has none. NULL where memory is exhausted. */
struct suppressions *suppressions_copy(const struct suppressions *suppressions);

/*
 * Adds the pattern of a line, which need not end in a zero byte. *is_suppression is false where it
 * is neither one of leaks nor empty nor a comment. False: memory is exhausted.
 */
bool suppressions_add_line(struct suppressions *suppressions, const char *line, size_t length,
                           bool *is_suppression);

size_t suppressions_count(const struct suppressions *suppressions);
void suppressions_free(struct suppressions *suppressions);

/* Tells whether `pattern` matches `text`. An empty text matches nothing. */
bool suppression_matches(const char *pattern, const char *text);

struct suppressor;

/* Looks at the names of the stacks once. Keeps both. NULL where memory is exhausted. */
struct suppressor *suppressor_new(const struct suppressions *suppressions,
                                  const struct stacks *stacks);
void suppressor_free(struct suppressor *suppressor);

/*
 * Returns the first pattern, in the order of the file, that matches the innermost frame that any
 * matches, as LeakSanitizer chooses it; NULL: none. It belongs to the suppressions.
 */
const char *suppressor_of(const struct suppressor *suppressor, size_t stack);

#endif
