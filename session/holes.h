/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory between live blocks at one moment. A gap lies between the end of a live block and the
 * start of the next one above it, whether a selection has these blocks or not. By their size, gaps
 * are the allocator's own bytes (up to SESSION_OVERHEAD_MOST), small gaps, or holes (from `least`
 * bytes on). A gap of 16 MiB or more is not a gap but the space between two regions
 * (session_regions()). A block of size 0 holds one byte. If the trace was sampled, the gaps lie
 * between the recorded blocks and are larger than those of the program.
 *
 * A gap of `least` bytes or more is not a hole, but not known, if a block beside it may have a
 * mapping of its own, or if two heaps of an arena may meet in it (session/store/mapped.h).
 *
 * The rules of session.h hold: these functions block, and one thread at a time uses a session. */
#pragma once

#include "session/session.h"

/* The largest gap that is counted as the allocator's own. */
#define SESSION_OVERHEAD_MOST 32
/* The smallest hole of all faces. */
#define SESSION_HOLE_LEAST 1024

/* The use of the addresses [from, to) at one moment. */
struct session_use {
    uint64_t selected_bytes, selected_count; /* live blocks of the selection that begin there */
    uint64_t filtered_bytes, filtered_count; /* other live blocks */
    uint64_t overhead_bytes;                 /* gaps up to SESSION_OVERHEAD_MOST */
    uint64_t small_bytes;                    /* larger gaps below `least` */
    uint64_t hole_bytes, hole_count;
    uint64_t unknown_bytes, unknown_count; /* gaps from `least` on: not known, as said above */
    uint64_t largest, largest_at; /* the largest hole and its first address; 0: there is none */
};

/* Sums up the use of the regions in [from, to) at `ns`. A gap counts if it begins there. Returns
 * false with `error` set. */
bool selection_use(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                   uint64_t least, struct session_use *use, struct session_error *error);
/* Does the same without touching what the session keeps about the moment of the grid. Questions
 * about many moments that follow each other in time are quick: each starts from the one before. */
bool selection_use_over_time(struct selection *selection, uint64_t ns, uint64_t from, uint64_t to,
                             uint64_t least, struct session_use *use, struct session_error *error);
/* Gives back the memory that is kept for such questions. */
void selection_use_over_time_end(struct selection *selection);

/* Returns true if the gap that `address` lies in at `ns` counts as not known. */
bool session_gap_is_unknown(struct session *session, uint64_t ns, uint64_t address);

#define SESSION_NEVER UINT64_MAX

struct session_hole {
    uint64_t start, end;
    uint64_t below, above; /* ids of the blocks that pin it on both sides */
    /* The last free of a block that reached into it, or SESSION_NEVER. Since then it is unused. */
    uint64_t since_ns;
};

/* Stores the holes of `least` bytes and more at `ns` that begin in [from, to), the largest first,
 * equal ones by address. The caller frees them. `since`: find since_ns, too, by a pass over all
 * allocations; otherwise it is SESSION_NEVER. Returns false with `error` set. */
bool session_holes(struct session *session, uint64_t ns, uint64_t from, uint64_t to, uint64_t least,
                   bool since, struct session_hole **holes, size_t *count,
                   struct session_error *error);
