/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the sums by time (schemas/slots.md) of one kind of key. Times here are numbers of slots of
 * the finest level: SLOT_FINEST of them make the session.
 */
#ifndef MPROF_SESSION_SUMMARY_SLOTS_H
#define MPROF_SESSION_SUMMARY_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "schemas/slot_codec.h"
#include "session/session.h"

struct slots;

/* Returns the length of a slot of the finest level. 0: the session has no sums by time. */
uint64_t slots_length_ns(const struct session *session);

/*
 * Opens the sums for questions about [0, to), of which [from, to) is asked in detail. Keys are
 * below `keys`. Returns NULL with `error` set. If the session has none for this kind, slots_width()
 * is 0.
 */
struct slots *slots_open(struct session *session, enum slot_key key, uint64_t keys, uint64_t from,
                         uint64_t to, struct session_error *error);
void slots_close(struct slots *slots);

/* Returns how many slots of SLOT_FINEST the shortest of this kind has: 1, 16 or 256. 0: none. */
uint64_t slots_width(const struct slots *slots);

/*
 * Calls `visit` for the cells of [from, to), multiples of slots_width(), in the order of time: by
 * slots that are as long as possible. Returns false with `error` set.
 */
typedef void slots_visitor(void *context, const struct slot_cell *cell);
bool slots_each(struct slots *slots, uint64_t from, uint64_t to, slots_visitor *visit,
                void *context, struct session_error *error);

#endif
