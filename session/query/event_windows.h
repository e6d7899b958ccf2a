/* SPDX-License-Identifier: BSD-2-Clause */
/* The replay of selection_events() with windows of another length; for tests. */
#ifndef MPROF_SESSION_QUERY_EVENT_WINDOWS_H
#define MPROF_SESSION_QUERY_EVENT_WINDOWS_H

#include <stddef.h>

#include "session/events.h"

typedef bool event_visitor(void *context, const struct session_event *event);

/* Does the same as selection_events(), with at most `at_once` events (at least 1) in memory. */
bool event_windows_visit(struct selection *selection, size_t at_once, event_visitor *visit,
                         void *context, struct session_error *error);

#endif
