/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of a budget: a value of the measure's unit, or a change against the base. */
#ifndef MPROF_REPORT_BUDGET_LIMIT_H
#define MPROF_REPORT_BUDGET_LIMIT_H

#include "report/budget/budget_file.h"
#include "session/groups.h"

struct limit {
    bool relative;   /* a percentage of the base */
    __int128 value;  /* in the unit of the measure */
    __int128 change; /* of the base, in millionths */
};

/* Parses the text of a limit. Returns false with `error` set to what was expected. */
bool limit_parse(const char *text, const struct session *session, enum session_unit unit,
                 struct limit *limit, struct session_error *error);

/* Returns true if the text is a percentage with a sign. */
bool limit_is_relative(const char *text);

/*
 * Returns true if the measure passes. `base` is needed if the limit is relative. Stores the limit
 * as a value, rounded towards 0. A measure without a value never passes. Against a base of 0 only 0
 * passes.
 */
bool limit_passes(const struct limit *limit, enum budget_relation relation,
                  const struct session_measure *measure, const struct session_measure *base,
                  __int128 *shown);

#endif
