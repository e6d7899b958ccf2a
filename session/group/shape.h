/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shape of a group over time: when its blocks came and went, if its live bytes rise, if its
 * sizes climb. Private to session/group.
 *
 * Live bytes are taken at the middles of ten equal parts of the run: a program that frees all at
 * its exit has not fallen yet at the last of these.
 */
#ifndef MPROF_SESSION_GROUP_SHAPE_H
#define MPROF_SESSION_GROUP_SHAPE_H

#include "session/group/group_state.h"

#define SHAPE_POINTS 10u

struct group_shape {
    uint64_t first_alloc, last_alloc;
    uint64_t first_end, last_end; /* of lives: a block that was not freed ends with the run */
    uint64_t rows, climbs;        /* recorded blocks; those that climb from the one before */
    uint64_t sizes, replaced;     /* bytes of recorded blocks; of those from which one climbs */
    uint64_t came[SHAPE_POINTS];  /* bytes since the point before, less those that went */
};

/* Find a part of the shapes of the groups that are left: the times, `came`, or the other sums. Each
 * is a pass of its own: few questions need two. Return false with `error` set. */
bool group_find_times(struct session_group_set *set, struct session_error *error);
bool group_find_rises(struct session_group_set *set, struct session_error *error);
bool group_find_steps(struct session_group_set *set, struct session_error *error);
/* Finds the padding of the objects of all groups. Returns false with `error` set. */
bool group_find_padding(struct session_group_set *set, struct session_error *error);

/* Returns how many points have more live bytes than the one before. */
uint64_t group_shape_rises(const struct group_shape *shape);

#endif
