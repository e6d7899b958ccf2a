/* SPDX-License-Identifier: BSD-2-Clause */
/* Warnings beside a result: a name in a filter that no allocation of the session has. */
#ifndef MPROF_SESSION_FILTER_WARNING_H
#define MPROF_SESSION_FILTER_WARNING_H

#include <stddef.h>

#include "session/filter/program.h"
#include "session/session.h"

/* The first ones are kept. */
#define FILTER_WARNINGS_MAX 8

struct filter_warnings {
    size_t count;
    struct session_warning list[FILTER_WARNINGS_MAX];
};

/* Adds a warning, unless there is the same at this column. */
void filter_warn(struct filter_warnings *warnings, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a warning for each name in the program that no allocation has, with the name that is most
 * like it. */
void filter_warn_of_names(struct session *session, const struct filter_program *program,
                          struct filter_warnings *warnings);

/* Moves the warnings from number `from` on out of a stored graph, as filter_place_error() moves
 * errors. */
void filter_place_warnings(const struct filter_origin *origin, size_t from,
                           struct filter_warnings *warnings);

#endif
