/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replays a selection: its allocations and frees in the order of time. For formats that want events
 * instead of sums. The rules of session.h hold: one thread at a time uses a session; the call
 * blocks.
 */
#ifndef MPROF_SESSION_EVENTS_H
#define MPROF_SESSION_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

enum session_event_kind { SESSION_EVENT_ALLOC, SESSION_EVENT_FREE };

struct session_event {
    uint64_t ns; /* since the trace began */
    enum session_event_kind kind;
    const struct session_allocation *allocation; /* valid until the visitor returns */
};

/*
 * Calls `visit` for each allocation and each free of the selected blocks, as recorded: in a sampled
 * session, too, each block counts once. In one nanosecond the frees of older blocks come first,
 * then the allocations, then the frees of blocks that were allocated in it; equal ones by id.
 * Memory is bounded (about 70 MiB), however many events there are and however they lie.
 *
 * If `visit` returns false, the replay ends and returns false; `error` stays as it is, so the
 * visitor keeps its own error. Also returns false with `error` set: a damaged chunk, no memory,
 * cancelled. The visitor must ask nothing that reads rows of the session's allocations; names and
 * frames are allowed.
 */
bool selection_events(struct selection *selection,
                      bool (*visit)(void *context, const struct session_event *event),
                      void *context, struct session_error *error);
/* Does the same for the events of [from_ns, to_ns): for views that show single events. */
bool selection_events_between(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                              bool (*visit)(void *context, const struct session_event *event),
                              void *context, struct session_error *error);

#endif
