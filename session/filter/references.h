/* SPDX-License-Identifier: BSD-2-Clause */
/* Snapshots of the references between blocks in filters: the fields `reachability`, `retained`,
 * `references` and `dominator`, and the steps `held by`, `holds` and `retained by`
 * (schemas/filter-language.md, "References"). The snapshot that counts is the one of each process
 * that is nearest to a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/filter/pins.h"
#include "session/filter/program.h"
#include "session/session.h"
#include "session/store/row_set.h"

/* The values of the field `reachability`. */
enum reachability {
    REACHABILITY_UNKNOWN, /* words or blocks are missing */
    REACHABILITY_REACHABLE,
    REACHABILITY_POSSIBLY,
    REACHABILITY_UNREACHABLE,
    REACHABILITY_ROOT, /* reachable, and a root refers to it without doubt */
    REACHABILITY_WORDS
};
extern const char *const reachability_words[REACHABILITY_WORDS];

/* Returns the word's rank in groups and sorts, where what a root refers to is reachable. */
uint64_t reachability_rank(enum reachability reachability);

/* Returns true if the selected process, or any if none is selected, has a snapshot. Otherwise sets
 * `error` at `column`; `what` names what needs one. */
bool references_known(struct session *session, const char *what, int column,
                      struct session_error *error);

/* Returns true if the selected process, or each that allocated if none is selected, has a snapshot
 * of its end that lacks no word. */
bool references_at_end(struct session *session);

/* Adds the values of a field of snapshots to `pins`, which are empty: 16 bytes for each block that
 * was live then. Returns false with `error` set. */
bool references_values(struct session *session, enum filter_field field, int column,
                       const struct filter_live *live, struct pins *pins,
                       struct session_error *error);

/* Returns for each row of the session its reachability plus 1, 0 for null; free() it. NULL with
 * `error` set, as references_values() does. */
uint8_t *references_by_row(struct session *session, int column, const struct filter_live *live,
                           struct session_error *error);

/* Keeps the rows of `set` that the blocks of `of` hold (STEP_HELD), that hold one of these
 * (STEP_HOLDS), or that these retain, themselves included (STEP_RETAINED). Returns false with
 * `error` set. */
bool references_keep(struct session *session, enum filter_step_kind way,
                     const struct filter_live *live, const struct row_set *of, struct row_set *set,
                     struct session_error *error);
