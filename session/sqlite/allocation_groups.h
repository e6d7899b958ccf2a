/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts the rows of v_allocation with equal values of some columns together: counts the rows of each
 * group, then gathers those of as many groups as the caller has room for. Each is one pass over the
 * chunks, on all cores.
 */
#ifndef MPROF_SESSION_SQLITE_ALLOCATION_GROUPS_H
#define MPROF_SESSION_SQLITE_ALLOCATION_GROUPS_H

#include "session/scan/kernels.h"
#include "session/sqlite/allocation_columns.h"

struct allocation_chunk;
struct allocation_filter;
struct allocation_groups;
struct allocation_order;

/* A number for each row of a batch. */
struct allocation_array {
    void *values;   /* uint32_t or uint64_t */
    unsigned width; /* 4 or 8; 0: there is no array */
};
/* One for each column of chunks, and one for the ids. */
enum { ALLOCATION_IDS = COLUMN_TOTAL, ALLOCATION_ARRAYS };

/*
 * Counts the rows that pass `filter` by the columns of `order`, which are in use. `used` has a bit
 * for each column that is read. `columns` and `filter` outlive the groups. NULL with `error` set.
 */
struct allocation_groups *allocation_groups_new(struct session *session,
                                                const struct allocation_columns *columns,
                                                const struct allocation_filter *filter,
                                                uint64_t used, const struct allocation_order *order,
                                                struct session_error *error);
void allocation_groups_free(struct allocation_groups *groups);

/* Returns the number of groups, which are in order, and how many rows all and one of them have. A
 * group may have none. */
size_t allocation_groups_count(const struct allocation_groups *groups);
uint64_t allocation_groups_all_rows(const struct allocation_groups *groups);
uint64_t allocation_groups_rows(const struct allocation_groups *groups, size_t group);

/* Returns the columns of chunks, a bit for each, of which one id stands for all of a group: no
 * column that is read tells them apart. */
unsigned allocation_groups_same(const struct allocation_groups *groups);
/* Stores these ids by column. */
void allocation_groups_ids(const struct allocation_groups *groups, size_t group,
                           uint64_t ids[COLUMN_TOTAL]);

/* Returns the columns of chunks that tell the group of a row. */
unsigned allocation_groups_needs(const struct allocation_groups *groups);
/* Keeps the rows of a batch that are of one group. The chunk has these columns. */
void allocation_groups_keep(const struct allocation_groups *groups,
                            const struct allocation_chunk *chunk, size_t group,
                            struct kernel_rows *batch);

/*
 * Stores what the arrays are for of the rows of the groups from `first` to the one before `behind`,
 * group by group, in the order of ids in each. The arrays have room. Returns false with `error`
 * set.
 */
bool allocation_groups_gather(struct allocation_groups *groups, size_t first, size_t behind,
                              const struct allocation_array arrays[ALLOCATION_ARRAYS],
                              struct session_error *error);

/* Groups of several columns up to which each possible one has a number. Tests make it small. */
extern size_t allocation_groups_dense_max;

#endif
