/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the stacks of a session that suppressions name (schemas/code/suppressions.h), as
 * mprof-ingest does for the stacks of a trace.
 */
#ifndef MPROF_SESSION_TABLES_SUPPRESSED_H
#define MPROF_SESSION_TABLES_SUPPRESSED_H

#include "schemas/code/suppressions.h"
#include "session/session.h"

struct suppressed;

/* Looks at all names once. The frames of all stacks are loaded (stacks_frames()). Both arguments
 * must outlive the result. NULL with `error` set. Free it by suppressed_free(). */
struct suppressed *suppressed_new(struct session *session, const struct suppressions *suppressions,
                                  struct session_error *error);
void suppressed_free(struct suppressed *suppressed);
/* Returns the pattern that LeakSanitizer would choose for the stack, NULL if none matches. */
const char *suppressed_by(const struct suppressed *suppressed, uint32_t stack);

#endif
