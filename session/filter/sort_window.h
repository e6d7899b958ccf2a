/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds a few rows in the middle of a sorted set without sorting the set.
 *
 * A pass counts the rows by equal parts of the range of keys, which tells in which part the wanted
 * rows lie; the next pass divides that part (a selection by digits: Knuth, TAOCP 3, 5.3.3, and
 * 5.2.5). When few rows are left, they are collected and sorted. Rows with equal keys are in the
 * order of ids: for a long run of them a pass counts its rows by chunk. So the number of passes
 * depends on the range of the keys and not on the number of rows, and memory is bounded.
 */
#ifndef MPROF_SESSION_FILTER_SORT_WINDOW_H
#define MPROF_SESSION_FILTER_SORT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter/program.h"
#include "session/scan/row_set.h"
#include "session/session.h"

/*
 * Stores the rows (id - 1) at the places from `first` on, in the set's order: `capacity` of them or
 * as many as there are. Returns false with `error` set.
 */
bool sort_window_rows(struct session *session, const struct row_set *set,
                      const struct filter_colors *colors, uint64_t first, size_t capacity,
                      uint64_t *rows, size_t *count, struct session_error *error);

/* Stores how many rows of the set come before `row` in the set's order. Returns false with `error`
 * set. */
bool sort_window_place(struct session *session, const struct row_set *set,
                       const struct filter_colors *colors, uint64_t row, uint64_t *place,
                       struct session_error *error);

#endif
