/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything that was live at one time, by address: one scan over the allocations, then every
 * question of the grid is a binary search. The session keeps the list of the time asked for
 * last; the next time's list is made from it, so that stepping through time sorts only what
 * came.
 */
#ifndef MPROF_SESSION_LIVE_LIST_H
#define MPROF_SESSION_LIVE_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct live_block {
    uint64_t start, end; /* what has no size still holds one byte */
    uint64_t reach;      /* largest end up to here: blocks of arenas lie within others */
    uint64_t size, id;
};

struct live_list {
    uint64_t ns;
    size_t count;
    struct live_block *blocks;
    uint64_t *words; /* which rows are in it, as in a row_set */
};

/* The list at `ns`, owned by the session and valid until the next call; NULL with `error`. */
const struct live_list *live_list_at(struct session *session, uint64_t ns,
                                     struct session_error *error);
void live_list_free(struct live_list *list);

/* Position of the first block that ends above `address` or has one before it that does. */
size_t live_list_find(const struct live_list *list, uint64_t address);

#endif
