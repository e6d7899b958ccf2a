/* SPDX-License-Identifier: BSD-2-Clause */
/* Selections over time: times as text, what was allocated when, what grew, and single events.
 *
 * The rules of session.h hold: these functions block, one thread at a time uses a session, and sums
 * are estimates if the session is sampled. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/* ---- times and durations as the filter language writes them ---- */

/* Stores the time that `text` means in this session, in ns since the trace began: "2.5s", "peak",
 * "end - 10ms", or the name of a mark (schemas/filter-language.md). Returns false with `error` set
 * and its column, from 1: not a time, no such mark, or a time before the start. */
bool session_moment(const struct session *session, const char *text, uint64_t *ns,
                    struct session_error *error);
/* Stores the length of time that `text` means in this session, in ns: "2.5s", "10%" of the run,
 * "end - peak", or sums of these. Returns false with `error` set and its column, from 1: not a
 * duration, no such mark, or one below 0. */
bool session_duration(const struct session *session, const char *text, uint64_t *ns,
                      struct session_error *error);

/* ---- the blocks that were allocated over time ---- */

/* Splits [from, to) into `count` equal slots, as selection_timeline() does, and stores the number
 * of allocations of each, by legend position. Takes a pass. Returns false with `error` set. */
bool selection_births(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                      enum session_color_by by, uint64_t (*births)[SESSION_COLORS],
                      struct session_error *error);

/* ---- growth ---- */

/* The growth between two moments A and B: the blocks of a selection that were live at A, live at B,
 * allocated after A and up to B, freed after A and up to B (those allocated since A among them). So
 * for each row, and in all: after - before = allocated - freed. */

/* The subject of the rows, and so the meaning of their `id`. */
enum session_growth_by {
    SESSION_GROWTH_TYPE, /* the first type of those with the same name */
    /* The function of the call site, and that of the user's own code (user_code.h); 0: none. The
     * first one of those with the same name that have rows. */
    SESSION_GROWTH_FUNCTION,
    SESSION_GROWTH_USER,
    SESSION_GROWTH_STACK,
    SESSION_GROWTH_SIZE, /* sizes above 2^(id - 1) and up to 2^id; SESSION_SMALLEST_SIZE: all up to
                            it */
};

/* The exponent of the smallest sizes: 16 bytes. */
#define SESSION_SMALLEST_SIZE 4u

struct session_growth_sum {
    uint64_t bytes, count;
};

struct session_growth {
    uint32_t id;
    struct session_growth_sum before, after; /* live at A, live at B */
    struct session_growth_sum allocated, freed;
    struct session_growth_sum born; /* live at B, not at A */
};

/* Stores the rows in which anything was live or happened, the largest net growth first and the
 * largest loss last; equal ones by id. The caller frees them. `total` is their sum, its id 0; it
 * may be NULL. `from_ns` (A) is at most `to_ns` (B); if they are equal, the rows tell what was live
 * then. Returns false with `error` set. */
bool selection_growth(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                      enum session_growth_by by, struct session_growth **rows, size_t *count,
                      struct session_growth *total, struct session_error *error);

/* Returns by how much the bytes of a row grew, below 0 if they became less. Differences beyond the
 * range of the type are cut. */
int64_t session_growth_net(const struct session_growth *row);

/* ---- events ---- */

/* Replays a selection: its allocations and frees in the order of time. For formats that want events
 * instead of sums. The rules of session.h hold. */

enum session_event_kind { SESSION_EVENT_ALLOC, SESSION_EVENT_FREE };

struct session_event {
    uint64_t ns; /* since the trace began */
    enum session_event_kind kind;
    const struct session_allocation *allocation; /* valid until the visitor returns */
};

/* Calls `visit` for each allocation and each free of the selected blocks, as recorded: in a sampled
 * session, too, each block counts once. In one nanosecond the frees of older blocks come first,
 * then the allocations, then the frees of blocks that were allocated in it; equal ones by id.
 * Memory is bounded (about 70 MiB), however many events there are and however they lie.
 *
 * If `visit` returns false, the replay ends and returns false; `error` stays as it is, so the
 * visitor keeps its own error. Also returns false with `error` set: a damaged chunk, no memory,
 * cancelled. The visitor must ask nothing that reads rows of the session's allocations; names and
 * frames are allowed. */
bool selection_events(struct selection *selection,
                      bool (*visit)(void *context, const struct session_event *event),
                      void *context, struct session_error *error);
/* Does the same for the events of [from_ns, to_ns): for views that show single events. */
bool selection_events_between(struct selection *selection, uint64_t from_ns, uint64_t to_ns,
                              bool (*visit)(void *context, const struct session_event *event),
                              void *context, struct session_error *error);
