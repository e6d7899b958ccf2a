/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists the blocks that were live at one time, by address. It takes one scan over the allocations;
 * then every question of the grid is a binary search. The session keeps the last list and makes the
 * next one from it, so a step through time sorts only the new blocks. Millions of blocks may be
 * live, so a block takes 16 bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "session/filter/sort_order.h"
#include "session/session.h"
#include "session/store/mapped.h"

struct live_block {
    uint64_t start, end; /* a block of size 0 still holds one byte */
    uint64_t size, id;
};

struct live_list {
    uint64_t ns;
    size_t count, large_count;
    struct sort_entry *entries; /* by address, the key: id and size share the other number */
    struct sort_entry *large;   /* by id, the key: sizes that find no room there */
    uint64_t *reach; /* by block: largest end up to here; NULL: that is its own end everywhere */
    struct mapped_limits mapped;
    uint64_t *words; /* bitmap of the rows in it, as in a row_set */
};

/* Returns the session's list at `ns`, valid until the next call, or NULL with `error` set. */
const struct live_list *live_list_at(struct session *session, uint64_t ns,
                                     struct session_error *error);
/* Returns another such list, valid until its own next call: a walk through many times does not
 * disturb the first one. */
const struct live_list *live_list_passing(struct session *session, uint64_t ns,
                                          struct session_error *error);
/* Gives the memory of that one back. */
void live_list_passed(struct session *session);

/* Returns the block at a position. */
struct live_block live_list_block(const struct live_list *list, size_t i);
/* Returns its row in the columns. */
uint64_t live_list_row(const struct live_list *list, size_t i);
/* Returns the largest end of the blocks up to a position: blocks of arenas lie within others. */
uint64_t live_list_reach(const struct live_list *list, size_t i);

/* Returns the position of the first block that ends above `address`: no earlier block does. */
size_t live_list_find(const struct live_list *list, uint64_t address);
