/* SPDX-License-Identifier: BSD-2-Clause */
/* The use of the memory that the arenas of a program hold at one moment. The memory of an arena is
 * that of its hosts: live blocks of the heap, or of the arena's parent, in which live blocks of the
 * arena lie. A host without any live block of an arena cannot be told from another block: it counts
 * for none. Memory that did not come from a recorded allocation (mmap) has no host.
 *
 * The rules of session.h hold. In a sampled session the blocks are the recorded ones. */
#pragma once

#include "session/session.h"

struct session_arena_use {
    uint64_t live_count, live_bytes; /* blocks of the arena */
    uint64_t host_count, host_bytes;
    uint64_t housed_bytes;           /* of the blocks that lie in a host */
    uint64_t hole_count, hole_bytes; /* bytes of the hosts in which no block lies; neighbouring ones
                                        are one hole */
    uint64_t largest;                /* hole */
};

/* Stores the use of each arena at `ns`, by arena id, `*count` of them (the largest id + 1): the
 * caller frees them. Blocks of all processes count, whatever is selected. Takes one pass, and
 * memory for each block that is live then. Returns false with `error` set. */
bool session_arena_uses(struct session *session, uint64_t ns, struct session_arena_use **uses,
                        size_t *count, struct session_error *error);
