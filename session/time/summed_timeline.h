/* SPDX-License-Identifier: BSD-2-Clause */
/* Timelines of all allocations, from the sums that ingest has made (summary/slots.h). */
#pragma once

#include "session/table/selection_state.h"

/* Fills the timeline if the sums can: the selection holds all allocations, the colouring is one
 * that ingest sums up, and the slots are not too short. Slots then begin at the nearest borders of
 * ingest's slots, and their peaks are exact. *done is false if the rows must be read. Returns false
 * with `error` set. */
bool summed_timeline(struct selection *selection, const struct color_map *map, uint64_t from_ns,
                     uint64_t to_ns, size_t count, struct session_slot *slots, bool *done,
                     struct session_error *error);

/* The live blocks just before a moment. */
struct timeline_start {
    uint64_t ns; /* 0: nothing is live yet */
    uint64_t live_bytes, live_count, live_colors[SESSION_COLORS];
};
/* Finds a moment at or before `from_ns` from which the rows must be read: as near as the sums tell,
 * or 0. Returns false with `error` set. */
bool summed_start(struct selection *selection, const struct color_map *map, uint64_t from_ns,
                  struct timeline_start *start, struct session_error *error);
