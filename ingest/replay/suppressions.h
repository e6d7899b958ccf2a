/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads files of suppressions (schemas/code/suppressions.h) and finds the stacks that they name.
 *
 * Order of calls: suppressions_read() once; for each trace suppressor_new(), suppressor_of() for
 * its stacks, suppressor_free().
 */
#ifndef MPROF_INGEST_REPLAY_SUPPRESSIONS_H
#define MPROF_INGEST_REPLAY_SUPPRESSIONS_H

#include <stdio.h>

#include "ingest/base/status.h"
#include "ingest/replay/stacks.h"
#include "schemas/code/suppressions.h"

/*
 * Reads a file. Lines of other sanitizers, with another kind than `leak:`, are left out, and a note
 * about each, with its line, is printed on `notes`. NULL with `status` set if the file cannot be
 * read or a line is of no kind. Free it by suppressions_free().
 */
struct suppressions *suppressions_read(const char *path, FILE *notes, struct ingest_status *status);

struct suppressor;

/* Looks at the names of the stacks once. Both arguments must outlive the result. NULL if memory is
 * exhausted. */
struct suppressor *suppressor_new(const struct suppressions *suppressions,
                                  const struct stacks *stacks);
void suppressor_free(struct suppressor *suppressor);

/* Returns the pattern that LeakSanitizer would choose, or NULL if none matches. The suppressions
 * own it. */
const char *suppressor_of(const struct suppressor *suppressor, size_t stack);

#endif
