/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps of a filter graph that make groups and work on them. A set of groups begins with a
 * join or a fold, which take over a set of rows. Each step changes it; group_ungroup() leads back
 * to rows, group_scalar() to one number. session/groups.h has the getters.
 *
 * The keys of rows are equal if their values are: equal texts, equal numbers, both null. Stack,
 * free_stack, thread, process and arena are compared by id, so that two threads of one name are two
 * groups. */
#pragma once

#include "session/filter/program.h"
#include "session/filter/tree.h"
#include "session/groups.h"
#include "session/session.h"
#include "session/store/row_set.h"

/* A set of groups has at most this many: its memory stays below some 500 MiB. */
#define GROUPS_MAX ((size_t)1 << 22)

struct sums_query;

/* Make groups of the rows. They take over `set`, which is empty afterwards, in failure too.
 * `colors` are the colour steps met so far. `also` asks for parts of the sums that the same pass
 * finds, or is NULL. The caller frees the groups with session_groups_free(). Return NULL with
 * `error` set: a damaged chunk, no memory, cancelled, too many groups. */
struct session_group_set *group_join(struct session *session, struct row_set *set,
                                     const struct filter_colors *colors,
                                     const struct filter_field_use *keys, size_t key_count,
                                     const struct sums_query *also, struct session_error *error);
/* Does the same without an order: the set then has no rows, only groups with their keys and sums.
 * To put millions of them in order costs more than all else. */
struct session_group_set *group_join_plain(struct session *session, struct row_set *set,
                                           const struct filter_colors *colors,
                                           const struct filter_field_use *keys, size_t key_count,
                                           const struct sums_query *also,
                                           struct session_error *error);
/* Makes the groups of a fold. Each block lies in a tree at the path of its functions, from the root
 * inwards to its call site. From the leaves up, a node whose blocks have less than `bytes` together
 * gives them to its parent. The nodes that keep blocks are the groups; what reaches the root is one
 * group, with an empty path. */
struct session_group_set *group_fold(struct session *session, struct row_set *set,
                                     const struct filter_colors *colors, uint64_t bytes,
                                     struct session_error *error);

/* Keeps the groups for which the predicate holds. Returns false with `error` set. */
bool group_where(struct session_group_set *set, const struct filter_predicate *predicate,
                 const struct filter_colors *colors, struct session_error *error);
/* Gives those for which the predicate holds (NULL: all) the colour of the step with that number in
 * `colors`. Returns false with `error` set. */
bool group_color(struct session_group_set *set, const struct filter_predicate *predicate,
                 const struct filter_colors *colors, uint8_t step_number,
                 struct session_error *error);
/* Sorts by the field of the step, a key or a measure. Returns false with `error` set. */
bool group_sort(struct session_group_set *set, const struct filter_step *step,
                struct session_error *error);
/* Gives the groups of `rows`, which count in the present order, the colour steps from 1 on, and all
 * others that are left the one after these. At most 254 rows. Returns false with `error` set. */
bool group_paint(struct session_group_set *set, const size_t *rows, size_t count,
                 struct session_error *error);
/* Keeps the first groups. */
void group_top(struct session_group_set *set, uint64_t limit);

/* Makes the set of the rows of the groups that are left, by id. A row has the colour of its group,
 * or else its own. Returns false with `error` set; otherwise the caller row_set_free()s `rows`. */
bool group_ungroup(struct session_group_set *set, struct row_set *rows,
                   struct session_error *error);
/* The same for one group, from 0 in the present order. */
bool group_ungroup_one(struct session_group_set *set, size_t row, struct row_set *rows,
                       struct session_error *error);

/* Computes a step count, sum, avg, min or max over the groups. Fills all of *measure but its name.
 * Returns false with `error` set. */
bool group_scalar(struct session_group_set *set, const struct filter_step *step,
                  struct session_measure *measure, struct session_error *error);

/* Returns the colour steps that the groups and their rows know. */
const struct filter_colors *group_colors(const struct session_group_set *set);
struct session *group_session(const struct session_group_set *set);
