/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks that were allocated over time, by colour.
 *
 * The rules of session.h hold: this function blocks.
 */
#ifndef MPROF_SESSION_BIRTHS_H
#define MPROF_SESSION_BIRTHS_H

#include "session/session.h"

/*
 * Splits [from, to) into `count` equal slots, as selection_timeline() does, and stores the number
 * of allocations of each, by legend position. Takes a pass over the rows. Returns false with
 * `error` set.
 */
bool selection_births(struct selection *selection, uint64_t from_ns, uint64_t to_ns, size_t count,
                      enum session_color_by by, uint64_t (*births)[SESSION_COLORS],
                      struct session_error *error);

#endif
