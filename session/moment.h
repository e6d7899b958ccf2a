/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a time or a duration as the filter language writes it: for options, keys and limits. */
#ifndef MPROF_SESSION_MOMENT_H
#define MPROF_SESSION_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/*
 * Stores the time that `text` means in this session, in ns since the trace began: "2.5s", "peak",
 * "end - 10ms", or the name of a mark (schemas/filter-language.md). Returns false with `error` set
 * and its column, from 1: not a time, no such mark, or a time before the start.
 */
bool session_moment(const struct session *session, const char *text, uint64_t *ns,
                    struct session_error *error);
/*
 * Stores the length of time that `text` means in this session, in ns: "2.5s", "10%" of the run,
 * "end - peak", or sums of these. Returns false with `error` set and its column, from 1: not a
 * duration, no such mark, or one below 0.
 */
bool session_duration(const struct session *session, const char *text, uint64_t *ns,
                      struct session_error *error);

#endif
